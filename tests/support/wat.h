// WebAssembly text to bytes for tests, by wabt's wat2wasm.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace subako::testing {

// `options` of wat2wasm: "--enable-all --no-check" lets through what our own check must refuse. Ends the test run where
// the text is wrong.
[[nodiscard]] std::vector<std::byte> wat(std::string_view text, const std::string& options = "");

}  // namespace subako::testing
