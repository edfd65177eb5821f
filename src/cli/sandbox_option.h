// --sandbox, which every command has that starts children, and $SUBAKO_SANDBOX.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "child/sandbox.h"

namespace subako::cli {

// "auto" or a tier's name (child/tier.h); empty: the environment's, else auto.
using SandboxOption = std::string;

// What it asks for, found on this machine, or expected to be there (child/sandbox.h). `folder` lies where most trees will.
[[nodiscard]] Result<std::shared_ptr<child::Sandbox>> find_sandbox(const SandboxOption& option,
                                                                   const std::string& executable,
                                                                   const std::string& folder);
[[nodiscard]] Result<std::shared_ptr<child::Sandbox>> expect_sandbox(const SandboxOption& option,
                                                                     const std::string& executable,
                                                                     const std::string& folder);

}  // namespace subako::cli
