// Writes the corpus of iovecs_fuzz.cc: lists that are sound, and each way in which one isn't.
#include <array>
#include <utility>

#include "seed_file.h"

using subako::fuzz::number;

namespace {

struct Seed {
  uint8_t size = 12;  // of memory: 2 to that power
  uint8_t fill = 3;
  uint32_t most = 1 << 20;
  uint32_t at = 0;
  uint32_t count = 0;
  std::string content = {};
  uint8_t upper = 0;
};

std::string bytes_of(const Seed& seed) {
  return number(seed.size, 1) + number(seed.fill, 1) + number(seed.most, 1 + seed.fill % 4) +
         number(seed.at, 4) + number(seed.count, 4) + number(seed.upper, 1) + seed.content;
}

std::string iovec(uint32_t at, uint32_t length) {
  return number(at, 4) + number(length, 4);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const subako::fuzz::SeedFolder folder(argv[1]);
  const std::string two = iovec(100, 8) + iovec(200, 16);
  for (const auto& [name, seed] : std::initializer_list<std::pair<const char*, Seed>>{
           {"two", {.count = 2, .content = two}},
           {"two_over_the_most", {.most = 10, .count = 2, .content = two}},
           {"nothing_asked_for", {.most = 0, .count = 2, .content = two}},
           {"upper_half_set", {.count = 2, .content = two, .upper = 255}},
           {"none", {}},
           {"empty_ones_point_anywhere", {.count = 2, .content = iovec(0xfffffff0, 0) + iovec(5000, 0)}},
           {"to_the_end", {.count = 1, .content = iovec(4000, 96)}},
           {"a_byte_past_the_end", {.count = 1, .content = iovec(4000, 97)}},
           {"wrapping", {.count = 1, .content = iovec(0xfffffff0, 32)}},
           {"huge", {.count = 1, .content = iovec(0, 0xffffffff)}},
           {"over_the_list", {.fill = 2, .count = 3, .content = iovec(0, 24) + iovec(8, 8) + iovec(16, 8)}},
           {"the_list_becomes_huge",
            {.fill = 254, .count = 3, .content = iovec(0, 64) + iovec(8, 8) + iovec(16, 8)}},
           {"stops_early", {.fill = 15, .count = 3, .content = two + two}},
           {"misaligned", {.at = 2, .count = 1, .content = two}},
           {"outside", {.at = 4096, .count = 1}},
           {"list_past_the_end", {.at = 4088, .count = 2}},
           {"count_wraps", {.at = 8, .count = 0x20000000}},
           {"most_buffers", {.size = 13, .at = 0, .count = 1024}},
           {"too_many", {.size = 14, .at = 0, .count = 1025}},
           {"one_byte", {.size = 0, .count = 1}},
           {"at_the_end", {.at = 4096, .count = 0}},
           {"the_same_again",
            {.count = 4, .content = iovec(64, 4032) + iovec(64, 4032) + iovec(64, 4032) + iovec(64, 9)}},
       }) {
    folder.save(name, bytes_of(seed));
  }
}
