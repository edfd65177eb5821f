// Writes the corpus of cookies_fuzz.cc: bytes of steps, as its step() reads them.
#include <string>
#include <utility>

#include "seed_file.h"

using subako::fuzz::number;

namespace {

std::string next(uint8_t size, uint8_t fd = 0) {
  return number(fd, 1) + number(size, 1);
}
std::string add(uint8_t name) {
  return number(3, 1) + number(name, 1);
}
std::string removed(uint8_t name) {
  return number(4, 1) + number(name, 1);
}
std::string forged(uint64_t cookie, uint8_t size, bool virtually = false) {
  return number(virtually ? 0x85 : 5, 1) + number(cookie, 8) + number(size, 1);
}
std::string near(uint8_t by, uint8_t size) {
  return number(6, 1) + number(by, 1) + number(size, 1);
}
std::string virtually(uint8_t size) {
  return number(7, 1) + number(size, 1);
}

std::string times(size_t count, const std::string& step) {
  std::string all;
  for (; count > 0; --count) all += step;
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const subako::fuzz::SeedFolder folder(argv[1]);
  for (const auto& [file, steps] : std::initializer_list<std::pair<const char*, std::string>>{
           {"whole", next(207)},
           {"small_buffers", times(50, next(30))},
           {"tiny_buffers", next(0) + next(1) + next(8) + times(20, next(9))},
           {"two_descriptors", times(10, next(203, 0) + next(203, 1))},
           {"entries_come", next(203) + add(1) + add(7) + next(203) + add(2) + next(207)},
           {"entries_go",
            add(1) + add(2) + add(3) + next(203) + removed(1) + removed(3) + next(204) + next(207)},
           {"come_and_go",
            next(203) + add(1) + removed(1) + add(1) + next(203) + removed(1) + next(204) + next(204)},
           {"forged", next(203) + forged(1, 203) + forged(~uint64_t{0}, 203) +
                          forged(uint64_t{1} << 62U, 203) + forged(3, 204) + next(203)},
           {"forged_between",
            next(203) + near(128, 203) + next(203) + near(127, 203) + near(129, 50) + next(203) + near(0, 9)},
           {"virtual", virtually(9) + virtually(20) + virtually(100) + forged(2, 50, true) +
                           forged(~uint64_t{0}, 50, true)},
       }) {
    folder.save(file, steps);
  }
}
