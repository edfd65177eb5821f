// A tar as entries (spec: B1, B3): v7, ustar, GNU (long names, base-256 sizes) and pax. It must end with its
// end mark (a block of zeros) and nothing but zeros after it: an archive cut off between two entries would
// else pass for a whole one.
#pragma once

#include <cstdint>
#include <string>

#include "bundle/archive.h"
#include "bundle/bytes.h"
#include "bundle/tar_header.h"

namespace subako::bundle {

class TarArchive final : public Archive {
 public:
  // `source` must outlive this; `first` is what has been read of it already to see that it is a tar.
  TarArchive(ByteSource& source, const TarBlock& first) : source_(source), block_(first), have_block_(true) {}
  [[nodiscard]] Step<std::optional<Entry>> next() override;
  [[nodiscard]] Step<size_t> read(std::span<char> out) override;

 private:
  struct Overrides {  // by the special entries that come before the one they are about
    std::optional<std::string> path;
    std::optional<uint64_t> size;
    bool sparse = false;
  };

  [[nodiscard]] Step<TarHeader> header();
  [[nodiscard]] Step<bool> take_special(const TarHeader& header, Overrides& overrides);
  [[nodiscard]] Step<void> take_pax(std::string_view body, char type, Overrides& overrides);
  [[nodiscard]] Entry entry_of(const TarHeader& header, Overrides overrides);
  [[nodiscard]] Step<void> pass_over();
  [[nodiscard]] Step<void> next_block();
  [[nodiscard]] Step<void> pass_over_sparse_map();
  [[nodiscard]] Step<std::string> special_body(uint64_t size);
  [[nodiscard]] Step<void> expect_only_zeros();
  void begin_data(uint64_t size);

  ByteSource& source_;
  TarBlock block_;
  bool have_block_;
  std::string path_;        // of the last entry, for messages
  uint64_t remaining_ = 0;  // of its data
  uint64_t padding_ = 0;    // after its data
};

}  // namespace subako::bundle
