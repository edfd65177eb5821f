#include "bundle/archive.h"

#include <utility>

#include "bundle/path_rules.h"

namespace subako::bundle {

Refusal damaged(std::string_view path, std::string what) {
  return {"B1", shown(path), std::move(what), "Pack it again, or copy it here once more."};
}

}  // namespace subako::bundle
