// Why a bundle, a module or a tool list is not accepted, and what is odd but accepted (spec: B, M, U).
#pragma once

#include <string>
#include <vector>

namespace subako {

struct Refusal {
  std::string rule;     // of the specification: "B3", "M4", "U3"
  std::string where;    // the place: a path of the bundle, "module.wasm byte 1234", "tool \"greet\", page 2"; may be empty
  std::string message;  // one sentence: what was found
  std::string hint;     // one sentence: what to do about it; may be empty
};

struct Warning {
  std::string rule;
  std::string where;
  std::string message;
};

using Refusals = std::vector<Refusal>;
using Warnings = std::vector<Warning>;

}  // namespace subako
