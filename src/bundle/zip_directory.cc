#include "bundle/zip_directory.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/limits.h"

namespace subako::bundle {

namespace {

constexpr std::string_view kEndMagic = "PK\x05\x06";
constexpr std::string_view kEnd64Magic = "PK\x06\x06";
constexpr std::string_view kLocator64Magic = "PK\x06\x07";
constexpr std::string_view kEntryMagic = "PK\x01\x02";
constexpr size_t kEndBytes = 22;
constexpr size_t kEnd64Bytes = 56;
constexpr size_t kLocator64Bytes = 20;
constexpr size_t kEntryBytes = 46;
constexpr size_t kCommentBytes = 0xffff;
constexpr uint16_t kIn64 = 0xffff;  // the real number is in the zip64 record
constexpr uint32_t kIn64Wide = 0xffffffff;
constexpr uint16_t kZip64Extra = 1;

struct End {
  uint64_t entries = 0;
  uint64_t begins_at = 0;
  uint64_t bytes = 0;
  uint64_t at = 0;  // of the end record itself: where the directory must end
};

Step<void> read_exactly(const FileBytes& file, uint64_t at, std::span<char> out) {
  TRY(const size_t n, file.read_at(at, out));
  if (n < out.size()) return stop(damaged("", "the zip is cut off"));
  return {};
}

// The end record is the last thing in the file but for its comment, whose length it names.
Step<uint64_t> find_end(const FileBytes& file) {
  const uint64_t tail_bytes = std::min<uint64_t>(file.size(), kEndBytes + kCommentBytes);
  const uint64_t tail_at = file.size() - tail_bytes;
  std::vector<char> tail(static_cast<size_t>(tail_bytes));
  TRY_VOID(read_exactly(file, tail_at, tail));
  const std::string_view text(tail.data(), tail.size());
  for (size_t at = text.rfind(kEndMagic); at != std::string_view::npos; at = text.rfind(kEndMagic, at - 1)) {
    if (text.size() - at >= kEndBytes && at + kEndBytes + le16(text.data() + at + 20) == text.size())
      return tail_at + at;
    if (at == 0) break;
  }
  return stop(
      damaged("", "the zip is cut off or followed by something else: it doesn't end with its directory"));
}

Step<void> read_end64(const FileBytes& file, End& end) {
  std::array<char, kLocator64Bytes> locator{};
  if (end.at < kLocator64Bytes) return stop(damaged("", "the zip is damaged (it has no zip64 record)"));
  TRY_VOID(read_exactly(file, end.at - kLocator64Bytes, locator));
  if (!std::string_view(locator.data(), locator.size()).starts_with(kLocator64Magic)) {
    return stop(damaged("", "the zip is damaged (it has no zip64 record)"));
  }
  std::array<char, kEnd64Bytes> record{};
  const uint64_t at = le64(locator.data() + 8);
  TRY_VOID(read_exactly(file, at, record));
  if (!std::string_view(record.data(), record.size()).starts_with(kEnd64Magic)) {
    return stop(damaged("", "the zip is damaged (its zip64 record is not where it should be)"));
  }
  end.entries = le64(record.data() + 32);
  end.bytes = le64(record.data() + 40);
  end.begins_at = le64(record.data() + 48);
  end.at = at;
  return {};
}

Step<End> read_end(const FileBytes& file) {
  TRY(const uint64_t at, find_end(file));
  std::array<char, kEndBytes> record{};
  TRY_VOID(read_exactly(file, at, record));
  const uint16_t disk = le16(record.data() + 4);
  const uint16_t directory_disk = le16(record.data() + 6);
  End end;
  end.entries = le16(record.data() + 10);
  end.bytes = le32(record.data() + 12);
  end.begins_at = le32(record.data() + 16);
  end.at = at;
  if ((disk != 0 && disk != kIn64) || (directory_disk != 0 && directory_disk != kIn64)) {
    return stop(Refusal{"B1", "", "the zip is one part of several", "pack the bundle into a single file"});
  }
  if (end.entries == kIn64 || end.bytes == kIn64Wide || end.begins_at == kIn64Wide) {
    TRY_VOID(read_end64(file, end));
  }
  if (end.bytes > end.at || end.begins_at != end.at - end.bytes) {
    return stop(damaged("", "the zip is damaged (its directory is not where its end record says)"));
  }
  if (end.entries > limits::kBundleEntries) {
    return stop(Refusal{"B3", "",
                        "there are more than " + std::to_string(limits::kBundleEntries) + " entries",
                        "pack fewer files and folders"});
  }
  return end;
}

// Sizes and offsets that don't fit in 32 bits, in this order, each only where its field is all ones.
bool take_zip64(ZipEntry& entry, std::string_view extra) {
  while (extra.size() >= 4) {
    const uint16_t id = le16(extra.data());
    const size_t length = le16(extra.data() + 2);
    extra.remove_prefix(4);
    if (length > extra.size()) return false;
    std::string_view body = extra.substr(0, length);
    extra.remove_prefix(length);
    if (id != kZip64Extra) continue;
    for (uint64_t* value : {&entry.bytes, &entry.packed_bytes, &entry.header_at}) {
      if (*value != kIn64Wide) continue;
      if (body.size() < 8) return false;
      *value = le64(body.data());
      body.remove_prefix(8);
    }
    return true;
  }
  return true;  // without one a size of all ones is that size, which no bundle has
}

EntryKind kind_of(uint16_t made_by, uint32_t attributes, std::string_view path) {
  constexpr uint8_t kUnix = 3;
  constexpr uint8_t kMac = 19;
  constexpr uint32_t kDosFolder = 0x10;
  if (path.ends_with('/')) return EntryKind::kFolder;
  const uint8_t system = static_cast<uint8_t>(made_by >> 8U);
  if (system != kUnix && system != kMac)
    return (attributes & kDosFolder) != 0 ? EntryKind::kFolder : EntryKind::kFile;
  switch ((attributes >> 16U) & S_IFMT) {
    case 0:  // tools that know of no modes
    case S_IFREG:
      return EntryKind::kFile;
    case S_IFDIR:
      return EntryKind::kFolder;
    case S_IFLNK:
      return EntryKind::kSymlink;
    case S_IFCHR:
    case S_IFBLK:
      return EntryKind::kDevice;
    case S_IFIFO:
      return EntryKind::kFifo;
    case S_IFSOCK:
      return EntryKind::kSocket;
    default:
      return EntryKind::kUnknown;
  }
}

// The entry at `at`, which is moved past it.
Step<ZipEntry> read_entry(const FileBytes& file, uint64_t& at, uint64_t directory_ends) {
  std::array<char, kEntryBytes> fixed{};
  if (directory_ends - at < kEntryBytes)
    return stop(damaged("", "the zip is damaged (its directory ends early)"));
  TRY_VOID(read_exactly(file, at, fixed));
  const char* p = fixed.data();
  if (!std::string_view(p, fixed.size()).starts_with(kEntryMagic)) {
    return stop(damaged("", "the zip is damaged (its directory has fewer entries than it says)"));
  }
  ZipEntry entry;
  entry.flags = le16(p + 8);
  entry.method = le16(p + 10);
  entry.crc = le32(p + 16);
  entry.packed_bytes = le32(p + 20);
  entry.bytes = le32(p + 24);
  entry.path_bytes = le16(p + 28);
  entry.header_at = le32(p + 42);
  const uint64_t extra_bytes = le16(p + 30);
  const uint64_t rest = entry.path_bytes + extra_bytes + le16(p + 32);
  at += kEntryBytes;
  if (directory_ends - at < rest) return stop(damaged("", "the zip is damaged (its directory ends early)"));
  std::string names(static_cast<size_t>(entry.path_bytes + extra_bytes), '\0');
  TRY_VOID(read_exactly(file, at, names));
  at += rest;
  const std::string_view path = std::string_view(names).substr(0, entry.path_bytes);
  entry.kind = kind_of(le16(p + 4), le32(p + 38), path);
  entry.path = std::string(path.substr(0, limits::kBundlePathBytes + 1));
  if (!take_zip64(entry, std::string_view(names).substr(entry.path_bytes))) {
    return stop(damaged(entry.path, "the zip is damaged (an extra field of this entry is malformed)"));
  }
  return entry;
}

}  // namespace

uint16_t le16(const char* bytes) {
  const auto at = [&](int i) { return static_cast<uint32_t>(static_cast<uint8_t>(bytes[i])); };
  return static_cast<uint16_t>(at(0) | (at(1) << 8U));
}
uint32_t le32(const char* bytes) {
  return le16(bytes) | (static_cast<uint32_t>(le16(bytes + 2)) << 16U);
}
uint64_t le64(const char* bytes) {
  return le32(bytes) | (static_cast<uint64_t>(le32(bytes + 4)) << 32U);
}

Step<ZipDirectory> read_zip_directory(const FileBytes& file) {
  TRY(const End end, read_end(file));
  ZipDirectory directory;
  directory.begins_at = end.begins_at;
  uint64_t at = end.begins_at;
  for (uint64_t i = 0; i < end.entries; ++i) {
    TRY(ZipEntry entry, read_entry(file, at, end.at));
    directory.entries.push_back(std::move(entry));
  }
  if (at != end.at)
    return stop(damaged("", "the zip is damaged (its directory has more entries than it says)"));
  std::ranges::stable_sort(directory.entries, {}, &ZipEntry::header_at);
  return directory;
}

}  // namespace subako::bundle
