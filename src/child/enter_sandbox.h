// A child shuts itself in, before it reads a byte of anybody's (design: what keeps a guest in). docs/security.md has what each step
// stops.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "child/tier.h"

namespace subako::child {

// Of a child in namespaces: a worker has six, a builder about as many.
inline constexpr unsigned kMostThreads = 64;

enum class Role : uint8_t { kWorker, kBuilder };

// What core tells a child of it.
struct Cell {
  Tier tier = Tier::kNone;
  std::optional<uid_t> id;  // kNamespaces: the user and group to become, where core is real root
};
[[nodiscard]] std::vector<std::string> arguments_of(const Cell& cell);
// Of `count` words; none where they are no cell's.
[[nodiscard]] std::optional<Cell> cell_of(const char* const* words, int count);

// While there is one thread, with the socket to core on `socket`. After an Error the process is half shut in and must end. What its tier
// leaves to be done once it is known what the child may see: child/confine.h.
[[nodiscard]] Result<void> enter_sandbox(Role role, const Cell& cell, int socket);

}  // namespace subako::child
