// Randomness of the system's CSPRNG, and the opaque ids made of it (spec: C4).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace subako {

// Fills `out` from getrandom(2). Ends the process where the kernel can't give any: nothing is safe without.
void fill_random(std::span<std::byte> out);

// "<prefix>-" and 32 hexadecimal digits: fresh for every request of every run.
[[nodiscard]] std::string random_id(std::string_view prefix);

}  // namespace subako
