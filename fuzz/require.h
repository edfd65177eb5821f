// What a fuzzer says when a property doesn't hold: one line, and the end that libFuzzer keeps the input of.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace subako::fuzz {

inline void require(bool held, std::string_view what) {
  if (held) return;
  std::fprintf(stderr, "not so: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

inline void require(bool held, std::string_view what, std::string_view with) {
  if (!held) require(false, std::string(what) + ": " + std::string(with));
}

}  // namespace subako::fuzz
