// Writes the corpus of frames_fuzz.cc.
#include <string>
#include <utility>

#include "seed_file.h"

using subako::fuzz::number;

namespace {

std::string frame(const std::string& body, uint32_t descriptors = 0) {
  return number(body.size(), 4) + number(descriptors, 4) + body;
}
std::string piece(const std::string& bytes, uint8_t descriptors = 0) {
  return number(descriptors, 1) + number(bytes.size(), 1) + bytes;
}
std::string written(uint8_t descriptors, uint16_t dots, const std::string& text) {
  return number(descriptors, 1) + number(dots, 2) + number(text.size(), 1) + text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const subako::fuzz::SeedFolder folder(argv[1]);
  for (const auto& [name, bytes] : std::initializer_list<std::pair<const char*, std::string>>{
           {"three", "r" + piece(frame("hello") + frame("") + frame("abc"))},
           {"cut", "r" + piece("\x05") + piece(std::string(3, '\0')) + piece(std::string(4, '\0') + "he") +
                       piece("llo")},
           {"descriptors",
            "r" + piece(frame("one", 1), 1) + piece(frame("none")) + piece(frame("two", 2), 2)},
           {"more_descriptors", "r" + piece(frame("one", 1), 2)},
           {"more_descriptors_waiting", "r" + piece(frame("one", 1).substr(0, 9), 2)},
           {"fewer_descriptors", "r" + piece(frame("two", 2), 1)},
           {"late_descriptors",
            "r" + piece(frame("one", 1).substr(0, 4)) + piece(frame("one", 1).substr(4), 1)},
           {"flood", "r" + piece("\x01", 253)},
           {"flood_in_pieces", "r" + piece("\x01", 40) + piece(std::string(1, '\0'), 40)},
           {"too_long", "r" + piece(number(8 * 1024 * 1024 + 1, 4) + number(0, 4))},
           {"too_many", "r" + piece(number(0, 4) + number(65, 4))},
           {"ends_within", "r" + piece(frame("hello").substr(0, 10))},
           {"ends_in_header", "r" + piece("\x01")},
           {"nothing", "r"},
           {"written",
            "w" + written(0, 0, "none") + written(1, 0, "one") + written(3, 10, "") + written(64, 0, "many")},
           {"written_large", "w" + written(1, 60'000, "a") + written(0, 60'000, "b") + written(2, 1, "c")},
           {"written_too_many", "w" + written(65, 0, "no") + written(0, 0, "yes")},
       }) {
    folder.save(name, bytes);
  }
}
