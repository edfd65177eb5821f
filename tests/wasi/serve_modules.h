// For tests that run thousands of small modules: one process for all of them.
//
// A request is a module: its length (u32, little-endian), then its bytes; its stdin is empty and at its end. The
// answer is three texts, each with its length before it: how it ended ("exited 0", "trapped <why>", "refused <why>"),
// what the guest told, and what it wrote to stdout and stderr. A guest tells by two imports that answer 0: a number, as
// 4 bytes, by test.answer(number), and bytes of its memory by test.memory(pointer, length). The trees are opened anew for
// each module.
#pragma once

#include "base/result.h"
#include "module_run.h"

namespace subako::testing {

// Until end of file on stdin.
[[nodiscard]] Result<void> serve_modules(const World& world);

}  // namespace subako::testing
