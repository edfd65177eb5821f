#include "cli/sandbox_option.h"

#include <cstdlib>
#include <optional>

#include "base/utf8.h"

namespace subako::cli {

Result<std::shared_ptr<child::Sandbox>> find_sandbox(const SandboxOption& option,
                                                     const std::string& executable,
                                                     const std::string& folder) {
  std::string name = option;
  std::string named_by = "--sandbox";
  if (const char* set = std::getenv("SUBAKO_SANDBOX"); name.empty() && set != nullptr) {
    name = set;
    named_by = "SUBAKO_SANDBOX";
  }
  std::optional<child::Tier> wanted;
  if (!name.empty() && name != "auto") {
    wanted = child::tier_named(name);
    if (!wanted) {
      return fail(Code::kInvalid, named_by + " is auto, namespaces, landlock or none, not \"" +
                                      utf8::escape_for_people(name) + "\"");
    }
  }
  return child::Sandbox::find(executable, wanted, folder);
}

}  // namespace subako::cli
