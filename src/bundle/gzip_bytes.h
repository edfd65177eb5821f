// What a gzip file holds, as a stream (spec: B1, B3): all its members one after another, each with its
// checksum checked, at most limits::kBundleArchiveBytes in all. A file cut off anywhere, or followed by
// anything but zeros, is refused.
#pragma once

#include <cstdint>
#include <vector>

#include "bundle/bytes.h"
#include "bundle/inflate.h"

namespace subako::bundle {

class GzipBytes final : public ByteSource {
 public:
  // `file` must outlive this.
  [[nodiscard]] static Result<GzipBytes> open(ByteSource& file);
  [[nodiscard]] Step<size_t> read(std::span<char> out) override;

 private:
  GzipBytes(ByteSource& file, Inflate inflate);
  [[nodiscard]] Step<bool> refill();  // false at the end of the file
  [[nodiscard]] Step<void> after_member();
  [[nodiscard]] Step<void> expect_zeros();

  ByteSource& file_;
  Inflate inflate_;
  std::vector<char> buffer_;
  std::string_view input_;  // the part of buffer_ that isn't used up
  uint64_t given_ = 0;
  bool ended_ = false;
};

}  // namespace subako::bundle
