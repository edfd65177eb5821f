#include "bundle/sniff.h"

#include <algorithm>
#include <array>

#include "base/quote.h"
#include "bundle/tar_header.h"

namespace subako::bundle {

namespace {

struct Known {
  std::string_view magic;
  std::string_view what;
  std::string_view hint;
};

constexpr std::string_view kPackAgain =
    "pack subako-package.json, module.wasm and assets/ into a .tar.gz, .tar or .zip";
constexpr std::string_view kWrapModule = "put it into a bundle as module.wasm, beside subako-package.json";

// The longer magic of two with the same beginning comes first.
constexpr std::array<Known, 14> kKnown = {{
    {std::string_view("\0asm\x01\0\0\0", 8), "begins with \\0asm: it is a bare module", kWrapModule},
    {std::string_view("\0asm", 4), "begins with \\0asm: it is a bare WebAssembly component", kWrapModule},
    {"(module", "begins with (module: it is a module as text",
     "assemble it and put it into a bundle as module.wasm"},
    {"\x1f\x8b", "is a gzip file itself", kPackAgain},
    {"PK", "is a zip", kPackAgain},
    {"BZh", "is compressed with bzip2", kPackAgain},
    {std::string_view("\xfd"
                      "7zXZ\0",
                      6),
     "is compressed with xz", kPackAgain},
    {"\x28\xb5\x2f\xfd", "is compressed with Zstandard", kPackAgain},
    {"7z\xbc\xaf\x27\x1c", "is a 7z archive", kPackAgain},
    {"Rar!", "is a RAR archive", kPackAgain},
    {"!<arch>\n", "is an ar archive", kPackAgain},
    {"0707", "is a cpio archive", kPackAgain},
    {"\x7f"
     "ELF",
     "is a native program for Linux (ELF)", "build it for wasm32-wasip1 and pack it as module.wasm"},
    {"{", "begins with {: it may be the manifest alone", kPackAgain},
}};

bool is_tar(std::string_view head) {
  TarBlock block{};
  if (head.size() < block.size()) return false;
  std::ranges::copy(head.substr(0, block.size()), block.begin());
  return is_zero(block) || has_tar_checksum(block);
}

}  // namespace

Format format_of(std::string_view head) {
  if (head.starts_with("\x1f\x8b")) return Format::kGzip;
  for (const std::string_view magic : {"PK\x03\x04", "PK\x05\x06", "PK\x07\x08", "PK00"}) {
    if (head.starts_with(magic)) return Format::kZip;
  }
  return is_tar(head) ? Format::kTar : Format::kOther;
}

Refusal not_an_archive(std::string_view head, std::string_view holder) {
  const std::string who(holder);
  if (head.empty()) return {"B1", "", who + " is empty", std::string(kPackAgain)};
  for (const Known& known : kKnown) {
    if (head.starts_with(known.magic))
      return {"B1", "", who + " " + std::string(known.what), std::string(known.hint)};
  }
  constexpr size_t kShown = 16;
  return {"B1", "",
          who + " is no archive: it begins with \"" + one_line(head.substr(0, kShown)) + "\"",
          std::string(kPackAgain)};
}

}  // namespace subako::bundle
