// A zip as entries (spec: B1, B3), in the order in which they lie in the file; stored or deflated, zip64 and
// data descriptors too. Sizes and CRC are those of the central directory and are checked; entries that
// overlap, or that their local header calls otherwise, are damage: two readers would see two archives.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bundle/archive.h"
#include "bundle/bytes.h"
#include "bundle/inflate.h"
#include "bundle/zip_directory.h"

namespace subako::bundle {

class ZipArchive final : public Archive {
 public:
  // `file` must outlive this.
  [[nodiscard]] static Step<ZipArchive> open(const FileBytes& file);
  [[nodiscard]] Step<std::optional<Entry>> next() override;
  [[nodiscard]] Step<size_t> read(std::span<char> out) override;

 private:
  ZipArchive(const FileBytes& file, ZipDirectory directory, Inflate inflate);
  [[nodiscard]] Step<void> open_local(const ZipEntry& entry);
  [[nodiscard]] Step<size_t> read_stored(std::span<char> out);
  [[nodiscard]] Step<size_t> read_deflated(std::span<char> out);
  [[nodiscard]] Step<void> refill();
  [[nodiscard]] Step<void> check_end();

  const FileBytes& file_;
  ZipDirectory directory_;
  Inflate inflate_;
  std::vector<char> buffer_;
  size_t next_ = 0;                  // into the directory
  uint64_t free_from_ = 0;           // where the last entry's data ended: nobody else's may begin before
  const ZipEntry* entry_ = nullptr;  // being read; none once its end was checked
  uint64_t packed_at_ = 0;
  uint64_t packed_left_ = 0;
  std::string_view input_;  // the part of buffer_ that isn't used up
  bool stream_ended_ = false;
  uint64_t given_ = 0;
  uint32_t crc_ = 0;
};

}  // namespace subako::bundle
