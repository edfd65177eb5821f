// What this room's tests share: a scratch folder, asset sinks, and archives made by hand, byte for byte, so
// that they can be as wrong as an attacker likes. Only for tests.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "bundle/reader.h"

namespace subako::bundle::testing {

inline constexpr std::string_view kManifest = R"({"abi":1,"name":"greet"})";
inline const std::string kModule("\0asm\x01\0\0\0", 8);

// A folder that goes with its contents.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "bundle-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  void write(const std::string& name, std::string_view bytes) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << bytes;
  }
  void write_bundle() const {
    write("subako-package.json", kManifest);
    write("module.wasm", kModule);
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream in(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  [[nodiscard]] Fd open() const { return Fd(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)); }

 private:
  std::filesystem::path path_;
};

// Assets as a map; folders end with a slash.
class Assets final : public AssetSink {
 public:
  Result<void> module(std::string_view bytes) override {
    module_bytes += bytes;
    return {};
  }
  Result<void> folder(const std::string& path) override {
    files[path + "/"] = "";
    return {};
  }
  Result<void> open(const std::string& path) override {
    EXPECT_FALSE(files.contains(path)) << path;
    file_ = &files[path];
    return {};
  }
  Result<void> write(std::string_view bytes) override {
    *file_ += bytes;
    return {};
  }
  Result<void> close() override {
    file_ = nullptr;
    return {};
  }
  std::map<std::string, std::string> files;
  std::string module_bytes;

 private:
  std::string* file_ = nullptr;
};

inline Fd file_of(std::string_view bytes) {
  Fd fd(::memfd_create("bundle", MFD_CLOEXEC));
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd.get(), bytes.data(), bytes.size());
    if (n <= 0) std::abort();
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return fd;
}

inline std::string bytes_of(const Fd& fd) {
  std::string bytes(static_cast<size_t>(::lseek(fd.get(), 0, SEEK_END)), '\0');
  if (::pread(fd.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) std::abort();
  return bytes;
}

inline Unpacking read_bytes(std::string_view archive, AssetSink& assets) {
  const Fd fd = file_of(archive);
  auto unpacking = read_archive(fd.get(), assets);
  EXPECT_TRUE(unpacking) << (unpacking ? "" : unpacking.error().message);
  return unpacking ? *std::move(unpacking) : Unpacking{std::unexpected(Refusals{}), {}};
}

// "rule where: message" of each refusal, one a line; "accepted" where there are none.
inline std::string told(const Unpacking& unpacking) {
  if (unpacking.bundle) return "accepted";
  std::string text;
  for (const Refusal& refusal : unpacking.bundle.error()) {
    EXPECT_FALSE(refusal.message.empty());
    text += refusal.rule + " " + refusal.where + ": " + refusal.message + "\n";
  }
  return text;
}
inline std::string told(std::string_view archive) {
  Assets assets;
  return told(read_bytes(archive, assets));
}

// ---- tar

struct TarEntry {
  std::string path;
  std::string bytes;
  char type = '0';
  std::string link = "";
  int64_t claimed_size = -1;  // in the header, where it is not bytes.size()
};

inline std::string tar_header(const TarEntry& entry) {
  std::string block(512, '\0');
  const auto put = [&](size_t at, std::string_view text) { block.replace(at, text.size(), text); };
  std::array<char, 32> size{};
  const auto value =
      entry.claimed_size >= 0 ? static_cast<unsigned long long>(entry.claimed_size) : entry.bytes.size();
  std::snprintf(size.data(), size.size(), "%011llo", value);
  put(0, std::string_view(entry.path).substr(0, 100));
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  put(124, size.data());
  put(136, "00000000000");
  put(148, "        ");
  block[156] = entry.type;
  put(157, std::string_view(entry.link).substr(0, 100));
  put(257, std::string_view("ustar\00000", 8));
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  std::array<char, 16> checksum{};
  std::snprintf(checksum.data(), checksum.size(), "%06o", sum);
  put(148, std::string_view(checksum.data(), 7));
  return block;
}

inline std::string tar_entry(const TarEntry& entry) {
  return tar_header(entry) + entry.bytes + std::string((512 - entry.bytes.size() % 512) % 512, '\0');
}

inline std::string tar(const std::vector<TarEntry>& entries) {
  std::string out;
  for (const TarEntry& entry : entries) out += tar_entry(entry);
  return out + std::string(1024, '\0');
}

// A whole bundle with `more` after it.
inline std::string tar_with(const std::vector<TarEntry>& more) {
  std::vector<TarEntry> all = {{"subako-package.json", std::string(kManifest)}, {"module.wasm", kModule}};
  all.insert(all.end(), more.begin(), more.end());
  return tar(all);
}

inline std::string pax_record(const std::string& key, const std::string& value) {
  const std::string rest = " " + key + "=" + value + "\n";
  size_t length = rest.size() + 1;
  while (std::to_string(length).size() + rest.size() != length) ++length;
  return std::to_string(length) + rest;
}

// ---- compression

inline std::string deflated(std::string_view bytes, int window_bits) {
  z_stream z{};
  deflateInit2(&z, 1, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, bytes.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}
inline std::string gzip(std::string_view bytes) {
  return deflated(bytes, MAX_WBITS + 16);
}

// ---- zip

inline std::string le(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
  return out;
}

struct ZipFile {
  std::string path;
  std::string bytes;
  uint16_t method = 8;
  uint16_t flags = 0;
  uint32_t mode = 0100644;
  int64_t claimed_size = -1;    // in both headers, where it is not bytes.size()
  std::string local_path = "";  // where the local header calls it otherwise
  std::string extra = "";
};

struct Zip {
  std::string local;
  std::string directory;
  uint64_t entries = 0;

  void add(const ZipFile& file) {
    const bool descriptor = (file.flags & 8U) != 0;
    const std::string packed = file.method == 8 ? deflated(file.bytes, -MAX_WBITS) : file.bytes;
    const auto crc = static_cast<uint32_t>(
        crc32_z(0, reinterpret_cast<const Bytef*>(file.bytes.data()), file.bytes.size()));
    const uint64_t size =
        file.claimed_size >= 0 ? static_cast<uint64_t>(file.claimed_size) : file.bytes.size();
    const std::string sums = le(crc, 4) + le(packed.size(), 4) + le(size, 4);
    const std::string common = le(20, 2) + le(file.flags, 2) + le(file.method, 2) + le(0, 4);
    const std::string& local_path = file.local_path.empty() ? file.path : file.local_path;
    const uint64_t at = local.size();
    local += "PK\x03\x04" + common + (descriptor ? std::string(12, '\0') : sums) + le(local_path.size(), 2) +
             le(0, 2) + local_path + packed;
    if (descriptor) local += "PK\x07\x08" + sums;
    list(file, common + sums, at);
  }
  // A directory entry alone, of a local header that is there already.
  void list(const ZipFile& file, const std::string& common_and_sums, uint64_t at) {
    directory += "PK\x01\x02" + le(0x031e, 2) + common_and_sums + le(file.path.size(), 2) +
                 le(file.extra.size(), 2) + le(0, 2) + le(0, 2) + le(0, 2) +
                 le(uint64_t{file.mode} << 16U, 4) + le(at, 4) + file.path + file.extra;
    ++entries;
  }
  [[nodiscard]] std::string done() const {
    return local + directory + "PK\x05\x06" + le(0, 4) + le(entries, 2) + le(entries, 2) +
           le(directory.size(), 4) + le(local.size(), 4) + le(0, 2);
  }
};

inline Zip whole_zip() {
  Zip zip;
  zip.add({"subako-package.json", std::string(kManifest)});
  zip.add({"module.wasm", kModule});
  return zip;
}
inline std::string zip_with(const std::vector<ZipFile>& more) {
  Zip zip = whole_zip();
  for (const ZipFile& file : more) zip.add(file);
  return zip.done();
}
// One whose last file's sizes and place, and the directory's, are told in 64 bits.
inline std::string zip64() {
  Zip zip = whole_zip();
  const uint64_t at = zip.local.size();
  const ZipFile file{"assets/x", "abc", 0};
  Zip alone;
  alone.add(file);
  zip.local += alone.local;
  const std::string head = le(45, 2) + le(0, 2) + le(0, 2) + le(0, 4) + alone.local.substr(14, 4);
  ZipFile listed = file;
  listed.extra = le(0x5455, 2) + le(1, 2) + "x" + le(1, 2) + le(24, 2) + le(3, 8) + le(3, 8) + le(at, 8);
  zip.list(listed, head + le(0xffffffff, 4) + le(0xffffffff, 4), 0xffffffff);
  const uint64_t end = zip.local.size() + zip.directory.size();
  return zip.local + zip.directory + "PK\x06\x06" + le(44, 8) + le(45, 2) + le(45, 2) + le(0, 4) + le(0, 4) +
         le(3, 8) + le(3, 8) + le(zip.directory.size(), 8) + le(zip.local.size(), 8) + "PK\x06\x07" +
         le(0, 4) + le(end, 8) + le(1, 4) + "PK\x05\x06" + le(0, 4) + le(0xffff, 2) + le(0xffff, 2) +
         le(0xffffffff, 4) + le(0xffffffff, 4) + le(0, 2);
}

}  // namespace subako::bundle::testing
