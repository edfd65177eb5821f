// Wasmtime's errors and traps as our text. Private to this room.
#pragma once

#include <wasm.h>
#include <wasmtime.h>

#include <string>
#include <vector>

namespace subako::engine {

// The error's message in one line, without the backtrace that Wasmtime puts behind it. Deletes the error.
[[nodiscard]] std::string take_message(wasmtime_error_t* error);

// "wasm trap: out of bounds memory access", by code; the message where there is no code.
[[nodiscard]] std::string trap_message(const wasm_trap_t* trap);

// "greet (module.wasm byte 0x1f3a)", innermost first, bounded. Function names are the guest's: shortened and escaped.
[[nodiscard]] std::vector<std::string> backtrace(wasm_frame_vec_t* frames);

}  // namespace subako::engine
