// WebAssembly bytes to native code (spec: M6). In a builder only: hostile modules make compilers slow, large and sometimes wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/limits.h"
#include "base/result.h"
#include "engine/engine.h"

namespace subako::engine {

// Compiles a module that check_module() has accepted and writes what load_module() reads to `fd`. Returns the bytes
// written. kInvalid: Wasmtime refuses the module, saying why; kTooLarge: it becomes more than `most` bytes, of which none is
// written. Both must be told to the author.
[[nodiscard]] Result<uint64_t> compile(const Engine& engine, std::span<const std::byte> wasm, int fd,
                                       uint64_t most = limits::kCompiledBytes);

}  // namespace subako::engine
