#include "bundle/archive.h"

#include "base/quote.h"

#include <utility>

#include "bundle/path_rules.h"

namespace subako::bundle {

Refusal damaged(std::string_view path, std::string what) {
  return {"B1", shortened(path), std::move(what), "pack it again, or copy it here once more"};
}

}  // namespace subako::bundle
