// What the programs that write a corpus share: an input piece by piece, and the file that it goes into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>

namespace subako::fuzz {

inline std::string number(uint64_t value, size_t bytes) {
  std::string out;
  for (size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xffU);
  return out;
}

class SeedFolder {
 public:
  explicit SeedFolder(std::string folder) : folder_(std::move(folder)) {}
  void save(const std::string& name, std::string_view bytes) const {
    std::ofstream file(folder_ + "/" + name, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) std::perror(name.c_str());
  }

 private:
  std::string folder_;
};

}  // namespace subako::fuzz
