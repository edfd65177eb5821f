#include "engine/messages.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include "base/limits.h"
#include "base/quote.h"

namespace subako::engine {

namespace {

std::string first_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.remove_suffix(1);
  // Debug output of an error: its message, then "\n\nCaused by:\n    <cause>". The cause says more.
  std::string_view line = text.substr(0, text.find('\n'));
  constexpr std::string_view kCause = "Caused by:\n";
  if (const size_t at = text.find(kCause); at != std::string_view::npos) {
    std::string_view cause = text.substr(at + kCause.size());
    cause = cause.substr(0, cause.find('\n'));
    while (!cause.empty() && (cause.front() == ' ' || cause.front() == '0' || cause.front() == ':')) cause.remove_prefix(1);
    return one_line(std::string(line) + ": " + std::string(cause));
  }
  return one_line(line);
}

}  // namespace

std::string take_message(wasmtime_error_t* error) {
  wasm_name_t message;
  wasmtime_error_message(error, &message);
  std::string text = first_line({message.data, message.size});
  wasm_byte_vec_delete(&message);
  wasmtime_error_delete(error);
  return text;
}

std::string trap_message(const wasm_trap_t* trap) {
  wasmtime_trap_code_t code = 0;
  if (wasmtime_trap_code(trap, &code)) {
    switch (code) {
      case WASMTIME_TRAP_CODE_STACK_OVERFLOW:
        return "it used up its call stack (" + std::to_string(limits::kGuestStackBytes / limits::kMiB) +
               " MiB): endless or very deep recursion";
      case WASMTIME_TRAP_CODE_MEMORY_OUT_OF_BOUNDS:
        return "it read or wrote outside its memory";
      case WASMTIME_TRAP_CODE_TABLE_OUT_OF_BOUNDS:
        return "it used a table entry that isn't there";
      case WASMTIME_TRAP_CODE_INDIRECT_CALL_TO_NULL:
        return "it called a null function pointer";
      case WASMTIME_TRAP_CODE_BAD_SIGNATURE:
        return "it called a function pointer of another type";
      case WASMTIME_TRAP_CODE_INTEGER_OVERFLOW:
        return "an integer operation overflowed";
      case WASMTIME_TRAP_CODE_INTEGER_DIVISION_BY_ZERO:
        return "it divided an integer by zero";
      case WASMTIME_TRAP_CODE_BAD_CONVERSION_TO_INTEGER:
        return "it converted a number to an integer that can't hold it";
      case WASMTIME_TRAP_CODE_UNREACHABLE_CODE_REACHED:
        return "it reached an `unreachable` instruction (a panic, an abort or a failed assertion)";
      default:
        break;
    }
  }
  wasm_message_t message;
  wasm_trap_message(trap, &message);
  std::string text = first_line({message.data, message.size});
  wasm_byte_vec_delete(&message);
  return text;
}

std::vector<std::string> backtrace(wasm_frame_vec_t* frames) {
  std::vector<std::string> lines;
  const size_t shown = std::min<size_t>(frames->size, limits::kBacktraceFrames);
  for (size_t i = 0; i < shown; ++i) {
    const wasm_frame_t* frame = frames->data[i];
    const wasm_name_t* name = wasmtime_frame_func_name(frame);
    std::array<char, 64> place{};  // stays empty where the offset isn't known
    if (const size_t offset = wasm_frame_module_offset(frame); offset != SIZE_MAX) {
      std::snprintf(place.data(), place.size(), " (module.wasm byte 0x%zx)", offset);
    }
    lines.push_back((name != nullptr ? shortened({name->data, name->size})
                                     : "function " + std::to_string(wasm_frame_func_index(frame))) +
                    place.data());
  }
  if (frames->size > shown) lines.push_back("and " + std::to_string(frames->size - shown) + " more");
  return lines;
}

}  // namespace subako::engine
