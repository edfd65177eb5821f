#include "cli/sandbox_option.h"

#include <cstdlib>
#include <optional>

#include "base/utf8.h"

namespace subako::cli {

namespace {

// None: the best.
Result<std::optional<child::Tier>> tier_of(const SandboxOption& option) {
  std::string name = option;
  std::string named_by = "--sandbox";
  if (const char* set = std::getenv("SUBAKO_SANDBOX"); name.empty() && set != nullptr) {
    name = set;
    named_by = "SUBAKO_SANDBOX";
  }
  if (name.empty() || name == "auto") return std::nullopt;
  const auto tier = child::tier_named(name);
  if (tier) return tier;
  return fail(Code::kInvalid, named_by + " is auto, namespaces, landlock or none, not \"" +
                                  utf8::escape_for_people(name) + "\"");
}

}  // namespace

Result<std::shared_ptr<child::Sandbox>> find_sandbox(const SandboxOption& option, const std::string& executable,
                                                     const std::string& folder) {
  TRY(const std::optional<child::Tier> wanted, tier_of(option));
  return child::Sandbox::find(executable, wanted, folder);
}

Result<std::shared_ptr<child::Sandbox>> expect_sandbox(const SandboxOption& option, const std::string& executable,
                                                       const std::string& folder) {
  TRY(const std::optional<child::Tier> wanted, tier_of(option));
  return child::Sandbox::expect(executable, wanted, folder);
}

}  // namespace subako::cli
