// Any bytes as a bundle (spec: B1-B4). Reading it never fails; what comes out keeps the rules of paths and counts; what was
// accepted is accepted again when it is packed, with the same files and bytes; refusals are sentences for people.
//
// The first byte says how the rest is made an archive: 'f' it is one; 'g' it is what a gzip file holds; 't' it is a tar, and 'z' what
// a gzip file holds as one, whose checksums are put right: else nothing that was changed would be read.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/limits.h"
#include "bundle/asset_sink.h"
#include "bundle/packer.h"
#include "bundle/reader.h"
#include "input.h"
#include "protocol/names.h"
#include "require.h"
#include "texts.h"

using namespace subako;
using fuzz::require;

namespace {

constexpr size_t kBlock = 512;

// Assets in memory; folders end with a slash. Requires what an AssetSink may rely on.
class Assets final : public bundle::AssetSink {
 public:
  Result<void> module(std::string_view bytes) override {
    module_bytes += bytes;
    return {};
  }
  Result<void> folder(const std::string& path) override {
    check_path(path);
    require(files.emplace(path + "/", "").second, "a folder is told once", path);
    return {};
  }
  Result<void> open(const std::string& path) override {
    check_path(path);
    require(file_ == nullptr, "one file is open at a time");
    require(!files.contains(path) && !files.contains(path + "/"), "a file is told once", path);
    file_ = &files[path];
    return {};
  }
  Result<void> write(std::string_view bytes) override {
    require(file_ != nullptr, "bytes are a file's");
    *file_ += bytes;
    return {};
  }
  Result<void> close() override {
    require(file_ != nullptr, "what is closed was open");
    file_ = nullptr;
    return {};
  }

  std::map<std::string, std::string> files;
  std::string module_bytes;

 private:
  void check_path(std::string_view path) const {
    require(
        !path.empty() && path.size() <= limits::kBundlePathBytes && !path.contains('\0') && utf8::valid(path),
        "a path is text", path);
    const std::string within = "/" + std::string(path) + "/";
    for (const char* part : {"//", "/./", "/../"})
      require(!within.contains(part), "a path has names only", path);
    const size_t slash = path.rfind('/');
    if (slash != std::string_view::npos)
      require(files.contains(std::string(path.substr(0, slash + 1))), "folders come before what lies in them",
              path);
  }
  std::string* file_ = nullptr;
};

Fd file_of(std::string_view bytes) {
  Fd fd(::memfd_create("bundle", MFD_CLOEXEC));
  require(::write(fd.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
          "there is a file");
  return fd;
}

std::string gzip(std::string_view bytes) {  // stored, so that a change stays small
  z_stream z{};
  deflateInit2(&z, 0, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, bytes.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

std::string with_checksums(std::string_view bytes) {
  std::string tar(bytes);
  tar.resize((tar.size() + kBlock - 1) / kBlock * kBlock);
  for (size_t at = 0; at + kBlock <= tar.size();) {
    const std::span<char> block(&tar[at], kBlock);
    if (std::ranges::all_of(block, [](char c) { return c == '\0'; })) break;
    std::ranges::fill(block.subspan(148, 8), ' ');
    unsigned sum = 0;
    for (const char c : block) sum += static_cast<unsigned char>(c);
    std::snprintf(&block[148], 8, "%06o", sum);
    // Base-256 sizes are left to the reader: what comes after them is read as headers here.
    const size_t size = std::strtoull(std::string(&block[124], 12).c_str(), nullptr, 8);
    if (size > tar.size()) break;
    at += kBlock + (size + kBlock - 1) / kBlock * kBlock;
  }
  return tar + std::string(2 * kBlock, '\0');
}

bundle::Unpacking read(std::string_view archive, Assets& assets) {
  const Fd fd = file_of(archive);
  auto read = bundle::read_archive(fd.get(), assets);
  require(read.has_value(), "no bytes are a failure of ours", read ? "" : read.error().message);
  return *std::move(read);
}

void check_accepted(const bundle::Unpacked& unpacked, const Assets& assets) {
  require(!protocol::name_fault(unpacked.manifest.name), "a package has a name", unpacked.manifest.name);
  uint64_t bytes = 0;
  uint32_t files = 0;
  for (const auto& [path, content] : assets.files) {
    bytes += content.size();
    if (!path.ends_with('/')) ++files;
  }
  require(unpacked.asset_bytes == bytes && unpacked.asset_files == files, "assets are counted");
  require(unpacked.module_bytes == assets.module_bytes.size(), "the module is counted");
  require(bytes + unpacked.module_bytes + unpacked.manifest_text.size() <= limits::kBundleBytes,
          "a bundle has a most");
}

// A folder that holds nothing is not packed.
std::map<std::string, std::string> without_empty_folders(const Assets& assets) {
  std::map<std::string, std::string> files = assets.files;
  std::erase_if(files, [](const auto& file) { return file.first.ends_with('/'); });
  return files;
}

void check_packed(std::string_view archive, const bundle::Unpacked& unpacked, const Assets& assets) {
  const Fd from = file_of(archive);
  const Fd to = file_of("");
  const auto packed = bundle::pack_bundle(from.get(), to.get());
  require(packed && packed->bundle, "what was accepted is packed");
  std::string bytes(packed->bundle->bytes, '\0');
  require(::pread(to.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
          "it has the size that is told");
  Assets again;
  const auto unpacking = read(bytes, again);
  require(unpacking.bundle.has_value(), "what was packed is accepted",
          unpacking.bundle ? "" : unpacking.bundle.error().front().message);
  require(without_empty_folders(again) == without_empty_folders(assets), "and has the same files");
  require(
      again.module_bytes == assets.module_bytes && unpacking.bundle->manifest_text == unpacked.manifest_text,
      "and the same bytes");
}

void run(std::string_view archive) {
  Assets assets;
  const auto unpacking = read(archive, assets);
  fuzz::check_warnings(unpacking.warnings, limits::kRefusals + 1);
  if (!unpacking.bundle) {
    require(!unpacking.bundle.error().empty(), "a refusal says why");
    return fuzz::check_refusals(unpacking.bundle.error(), limits::kRefusals + 1);
  }
  check_accepted(*unpacking.bundle, assets);
  check_packed(archive, *unpacking.bundle, assets);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  switch (input.byte()) {
    case 'g':
      run(gzip(input.rest()));
      break;
    case 't':
      run(with_checksums(input.rest()));
      break;
    case 'z':
      run(gzip(with_checksums(input.rest())));
      break;
    default:
      run(input.rest());
  }
  return 0;
}
