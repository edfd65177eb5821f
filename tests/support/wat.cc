#include "support/wat.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace subako::testing {

std::vector<std::byte> wat(std::string_view text, const std::string& options) {
  char folder[] = "/tmp/subako-wat-XXXXXX";
  if (mkdtemp(folder) == nullptr) std::abort();
  const std::string in = std::string(folder) + "/in.wat";
  const std::string out = std::string(folder) + "/out.wasm";
  std::ofstream(in) << text;
  if (std::system(("wat2wasm " + options + " " + in + " -o " + out).c_str()) != 0) {
    std::fprintf(stderr, "wat2wasm failed (package wabt) for:\n%.*s\n", static_cast<int>(text.size()), text.data());
    std::abort();
  }
  std::ifstream file(out, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  unlink(in.c_str());
  unlink(out.c_str());
  rmdir(folder);
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
  return {begin, begin + bytes.size()};
}

}  // namespace subako::testing
