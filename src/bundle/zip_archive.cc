#include "bundle/zip_archive.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/limits.h"

namespace subako::bundle {

namespace {

constexpr std::string_view kLocalMagic = "PK\x03\x04";
constexpr size_t kLocalBytes = 30;
constexpr size_t kBufferBytes = 64 * limits::kKiB;
constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflated = 8;
constexpr uint16_t kEncrypted = 0x0001;
constexpr uint16_t kPatch = 0x0020;
constexpr uint16_t kMaskedHeaders = 0x2000;

std::string unreadable(const ZipEntry& entry) {
  if ((entry.flags & (kEncrypted | kMaskedHeaders)) != 0) return "the entry is encrypted";
  if ((entry.flags & kPatch) != 0) return "the entry is a patch";
  if (entry.method == kStored || entry.method == kDeflated) return "";
  const char* name = "an unknown method";
  switch (entry.method) {
    case 9:
      name = "deflate64";
      break;
    case 12:
      name = "bzip2";
      break;
    case 14:
      name = "LZMA";
      break;
    case 93:
      name = "Zstandard";
      break;
    case 95:
      name = "xz";
      break;
    case 98:
      name = "PPMd";
      break;
    default:
      break;
  }
  return std::string("the entry is compressed with ") + name + " (zip method " +
         std::to_string(entry.method) + ")";
}

}  // namespace

ZipArchive::ZipArchive(const FileBytes& file, ZipDirectory directory, Inflate inflate)
    : file_(file), directory_(std::move(directory)), inflate_(std::move(inflate)), buffer_(kBufferBytes) {}

Step<ZipArchive> ZipArchive::open(const FileBytes& file) {
  TRY(ZipDirectory directory, read_zip_directory(file));
  TRY(Inflate inflate, Inflate::make(Inflate::Format::kRaw));
  return ZipArchive(file, std::move(directory), std::move(inflate));
}

// What is left of the last entry isn't unpacked to be passed over: the directory says where the next one
// lies.
Step<std::optional<Entry>> ZipArchive::next() {
  entry_ = nullptr;
  if (next_ == directory_.entries.size()) return std::nullopt;
  const ZipEntry& entry = directory_.entries[next_++];
  TRY_VOID(open_local(entry));
  Entry out{entry.path, entry.kind, unreadable(entry)};
  if (out.unreadable.empty()) entry_ = &entry;
  inflate_.restart();
  input_ = {};
  stream_ended_ = false;
  given_ = 0;
  crc_ = 0;
  return out;
}

Step<void> ZipArchive::open_local(const ZipEntry& entry) {
  std::array<char, kLocalBytes> local{};
  if (entry.header_at < free_from_) return stop(damaged(entry.path, "the entry overlaps with another one"));
  TRY(const size_t n, file_.read_at(entry.header_at, local));
  if (n < kLocalBytes || !std::string_view(local.data(), n).starts_with(kLocalMagic)) {
    return stop(damaged(entry.path, "the zip is damaged (the entry is not where its directory says)"));
  }
  const char* p = local.data();
  const size_t path_bytes = le16(p + 26);
  std::string path(std::min(path_bytes, entry.path.size()), '\0');
  TRY([[maybe_unused]] const size_t have, file_.read_at(entry.header_at + kLocalBytes, path));
  if (path_bytes != entry.path_bytes || path != entry.path || le16(p + 8) != entry.method ||
      ((le16(p + 6) ^ entry.flags) & kEncrypted) != 0) {
    return stop(damaged(entry.path, "the zip is damaged (the entry's own header contradicts the directory)"));
  }
  packed_at_ = entry.header_at + kLocalBytes + path_bytes + le16(p + 28);
  packed_left_ = entry.packed_bytes;
  if (packed_at_ > directory_.begins_at || packed_left_ > directory_.begins_at - packed_at_) {
    return stop(damaged(entry.path, "the entry overlaps with the zip's directory"));
  }
  free_from_ = packed_at_ + packed_left_;
  return {};
}

Step<size_t> ZipArchive::read(std::span<char> out) {
  if (entry_ == nullptr) return size_t{0};
  TRY(const size_t n, entry_->method == kStored ? read_stored(out) : read_deflated(out));
  given_ += n;
  crc_ = static_cast<uint32_t>(::crc32_z(crc_, reinterpret_cast<const Bytef*>(out.data()), n));
  if (given_ > entry_->bytes) return stop(damaged(entry_->path, "the entry is larger than the zip says"));
  if (n == 0) TRY_VOID(check_end());
  return n;
}

Step<size_t> ZipArchive::read_stored(std::span<char> out) {
  TRY_VOID(refill());
  const size_t n = std::min(out.size(), input_.size());
  std::ranges::copy(input_.substr(0, n), out.begin());
  input_.remove_prefix(n);
  return n;
}

Step<size_t> ZipArchive::read_deflated(std::span<char> out) {
  while (!stream_ended_) {
    TRY_VOID(refill());
    TRY(const Inflate::Progress progress, inflate_.step(input_, out));
    input_.remove_prefix(progress.taken);
    if (progress.state == Inflate::State::kDamaged) {
      return stop(damaged(entry_->path, "the entry's data is damaged (" + progress.why + ")"));
    }
    stream_ended_ = progress.state == Inflate::State::kEnd;
    if (progress.given > 0) return progress.given;
    if (progress.taken == 0 && !stream_ended_)
      return stop(damaged(entry_->path, "the entry's data ends early"));
  }
  return size_t{0};
}

Step<void> ZipArchive::refill() {
  if (!input_.empty() || packed_left_ == 0) return {};
  const auto wanted = static_cast<size_t>(std::min<uint64_t>(buffer_.size(), packed_left_));
  TRY(const size_t n, file_.read_at(packed_at_, std::span(buffer_).first(wanted)));
  if (n == 0) return stop(damaged(entry_->path, "the zip is cut off within this entry"));
  packed_at_ += n;
  packed_left_ -= n;
  input_ = std::string_view(buffer_.data(), n);
  return {};
}

Step<void> ZipArchive::check_end() {
  const ZipEntry& entry = *std::exchange(entry_, nullptr);
  if (given_ != entry.bytes) return stop(damaged(entry.path, "the entry is smaller than the zip says"));
  if (packed_left_ != 0 || !input_.empty()) {
    return stop(damaged(entry.path, "the entry's data is followed by something else"));
  }
  if (crc_ != entry.crc) return stop(damaged(entry.path, "the entry's checksum is wrong"));
  return {};
}

}  // namespace subako::bundle
