#include "bundle/tar_archive.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/limits.h"

namespace subako::bundle {

namespace {

constexpr uint64_t kSpecialBytes =
    1 * limits::kMiB;  // a long name or pax header; real ones have a few hundred bytes
constexpr int kSpecialsInARow = 16;

EntryKind kind_of(char type, bool trailing_slash) {
  switch (type) {
    case '\0':
    case '0':
      return trailing_slash ? EntryKind::kFolder : EntryKind::kFile;  // v7 had no other way to say it
    case '7':
      return EntryKind::kFile;
    case '1':
      return EntryKind::kHardLink;
    case '2':
      return EntryKind::kSymlink;
    case '3':
    case '4':
      return EntryKind::kDevice;
    case '5':
    case 'D':  // GNU's, with a listing as data
      return EntryKind::kFolder;
    case '6':
      return EntryKind::kFifo;
    case 'S':
      return EntryKind::kSparse;
    default:
      return EntryKind::kUnknown;
  }
}

// These never have data, whatever their size field says (it is the linked file's in old archives).
bool header_only(char type) {
  return type >= '1' && type <= '6';
}

}  // namespace

Step<std::optional<Entry>> TarArchive::next() {
  TRY_VOID(pass_over());
  Overrides overrides;
  for (int special = 0; special <= kSpecialsInARow; ++special) {
    TRY_VOID(next_block());
    if (is_zero(block_)) {
      if (special > 0) return stop(damaged(path_, "the archive ends where an entry should follow"));
      TRY_VOID(expect_only_zeros());
      return std::nullopt;
    }
    TRY(const TarHeader header, this->header());
    TRY(const bool was_special, take_special(header, overrides));
    if (was_special) continue;
    if (header.type == 'M') {
      return stop(damaged(header.path, "the archive is one volume of several"));
    }
    Entry entry = entry_of(header, std::move(overrides));
    if (header.type == 'S') TRY_VOID(pass_over_sparse_map());
    return entry;
  }
  return stop(damaged(path_, "the archive holds too many special headers in a row"));
}

Step<TarHeader> TarArchive::header() {
  auto header = parse_tar_header(block_);
  if (!header) return stop(damaged(path_, "the archive is damaged (" + header.error() + ")"));
  return *std::move(header);
}

// Whether `header` was one that only tells of the next entry, or of nothing.
Step<bool> TarArchive::take_special(const TarHeader& header, Overrides& overrides) {
  switch (header.type) {
    case 'x':
    case 'X':
    case 'g': {
      TRY(const std::string body, special_body(header.size));
      TRY_VOID(take_pax(body, header.type, overrides));
      return true;
    }
    case 'L': {
      TRY(std::string body, special_body(header.size));
      // A NUL ends the name; what is behind it would be another name to another reader.
      const size_t end = std::min(body.find_last_not_of('\0') + 1, body.size());
      body.resize(end);
      overrides.path = std::move(body);
      return true;
    }
    case 'K':    // a long link's target
    case 'V': {  // the volume's label
      TRY([[maybe_unused]] const std::string ignored, special_body(header.size));
      return true;
    }
    default:
      return false;
  }
}

Step<void> TarArchive::take_pax(std::string_view body, char type, Overrides& overrides) {
  auto records = parse_pax(body);
  if (!records) return stop(damaged(path_, "the archive is damaged (" + records.error() + ")"));
  if (type == 'g') {
    // One path or size for all entries makes no sense, but would hide what others see.
    if (records->path || records->size || records->sparse) {
      return stop(damaged(path_, "a global pax header sets a path or a size"));
    }
    return {};
  }
  if (records->path) overrides.path = std::move(records->path);
  if (records->size) overrides.size = records->size;
  overrides.sparse = overrides.sparse || records->sparse;
  return {};
}

Entry TarArchive::entry_of(const TarHeader& header, Overrides overrides) {
  Entry entry;
  entry.path = overrides.path ? *std::move(overrides.path) : header.path;
  entry.kind = kind_of(header.type, entry.path.ends_with('/'));
  if (overrides.sparse && entry.kind == EntryKind::kFile) entry.kind = EntryKind::kSparse;
  path_ = entry.path.substr(0, limits::kBundlePathBytes);
  begin_data(header_only(header.type) ? 0 : overrides.size.value_or(header.size));
  return entry;
}

void TarArchive::begin_data(uint64_t size) {
  remaining_ = size;
  padding_ = (kTarBlock - size % kTarBlock) % kTarBlock;
}

Step<size_t> TarArchive::read(std::span<char> out) {
  const auto wanted = static_cast<size_t>(std::min<uint64_t>(out.size(), remaining_));
  if (wanted == 0) return size_t{0};
  TRY(const size_t n, source_.read(out.first(wanted)));
  if (n == 0) return stop(damaged(path_, "the archive is cut off within this entry"));
  remaining_ -= n;
  return n;
}

Step<void> TarArchive::pass_over() {
  std::array<char, 4096> nowhere;
  for (;;) {
    TRY(const size_t n, read(nowhere));
    if (n == 0) break;
  }
  TRY(const size_t n, read_full(source_, std::span(nowhere).first(static_cast<size_t>(padding_))));
  if (n < padding_) return stop(damaged(path_, "the archive is cut off after this entry"));
  padding_ = 0;
  return {};
}

Step<void> TarArchive::next_block() {
  if (std::exchange(have_block_, false)) return {};
  TRY(const size_t n, read_full(source_, block_));
  if (n == 0) return stop(damaged(path_, "the archive is cut off after this entry (it has no end mark)"));
  if (n < kTarBlock) return stop(damaged(path_, "the archive is cut off after this entry"));
  return {};
}

// GNU's sparse header can go on in further blocks before the data.
Step<void> TarArchive::pass_over_sparse_map() {
  constexpr size_t kGoesOnInHeader = 482;
  constexpr size_t kGoesOnInBlock = 504;
  bool goes_on = block_[kGoesOnInHeader] != 0;
  while (goes_on) {
    TRY_VOID(next_block());
    goes_on = block_[kGoesOnInBlock] != 0;
  }
  return {};
}

Step<std::string> TarArchive::special_body(uint64_t size) {
  if (size > kSpecialBytes)
    return stop(damaged(path_, "the archive holds a special header of more than 1 MiB"));
  std::string body(static_cast<size_t>(size), '\0');
  begin_data(0);
  TRY(const size_t n, read_full(source_, body));
  if (n < body.size()) return stop(damaged(path_, "the archive is cut off after this entry"));
  padding_ = (kTarBlock - size % kTarBlock) % kTarBlock;
  TRY_VOID(pass_over());
  return body;
}

Step<void> TarArchive::expect_only_zeros() {
  std::vector<char> buffer(64 * limits::kKiB);
  for (;;) {
    TRY(const size_t n, source_.read(buffer));
    if (n == 0) return {};
    if (std::string_view(buffer.data(), n).find_first_not_of('\0') != std::string_view::npos) {
      return stop(damaged(path_, "after the end of the archive there is something else (a second archive?)"));
    }
  }
}

}  // namespace subako::bundle
