// What this machine allows, probed rather than read from its version.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/sandbox_option.h"

namespace subako::cli {

struct Finding {
  enum class State : uint8_t { kOk, kWarn, kMissing };  // kMissing: guests can't run without it
  std::string name;
  State state = State::kOk;
  std::string found;
  std::string meaning;  // what follows from it; empty where nothing does
};

[[nodiscard]] std::vector<Finding> examine_machine(const SandboxOption& sandbox);

}  // namespace subako::cli
