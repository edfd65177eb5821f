// What decides whether a compiled module may be kept, and loaded by another process later.
#pragma once

#include <string>

#include "engine/engine.h"

namespace subako::engine {

// This executable's build id (the linker's hash of all that is in it: Wasmtime, its settings, the host
// functions, the check by M and its limits), and what Wasmtime says of itself and of this CPU. Opaque; empty
// where the executable has no build id.
[[nodiscard]] std::string identity(const Engine& engine);

}  // namespace subako::engine
