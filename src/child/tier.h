// How well a child is kept in (docs/security.md), best first. What each name means is one table: the command line's, a
// child's, the environment's.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace subako::child {

enum class Tier : uint8_t {
  kNamespaces,  // namespaces of its own, an empty root, trees as mounts of their own, seccomp
  kLandlock,    // where namespaces are forbidden: Landlock and seccomp
  kNone,        // a process of its own, and nothing more
};

[[nodiscard]] constexpr std::string_view tier_name(Tier tier) {
  switch (tier) {
    case Tier::kNamespaces:
      return "namespaces";
    case Tier::kLandlock:
      return "landlock";
    case Tier::kNone:
      break;
  }
  return "none";
}

[[nodiscard]] constexpr std::optional<Tier> tier_named(std::string_view name) {
  for (const Tier tier : {Tier::kNamespaces, Tier::kLandlock, Tier::kNone}) {
    if (tier_name(tier) == name) return tier;
  }
  return std::nullopt;
}

}  // namespace subako::child
