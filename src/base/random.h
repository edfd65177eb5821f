// Randomness of the system's CSPRNG, and the opaque ids made of it (spec: C4).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace subako {

// Fills `out` from getrandom(2). Ends the process where the kernel can't give any: nothing is safe without.
void fill_random(std::span<std::byte> out);

// Makes ids, each fresh and not to be guessed. Keeps some randomness in stock: asking the kernel costs as much as a good part of a
// short call. Not to be used on both sides of a fork.
class Ids {
 public:
  // "<prefix>-" and 32 hexadecimal digits.
  [[nodiscard]] std::string next(std::string_view prefix);

 private:
  std::array<std::byte, 1024> stock_{};
  size_t left_ = 0;  // of the stock, at its end
};

}  // namespace subako
