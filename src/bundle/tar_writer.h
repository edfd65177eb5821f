// A reproducible .tar.gz: the same calls give the same bytes on any machine, with this build's zlib. Owner 0,
// time 0, mode 0644 (folders 0755); ustar, with a pax header only where a path is too long for it or not
// ASCII. The descriptor stays the caller's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace subako::bundle {

class TarGzWriter {
 public:
  [[nodiscard]] static Result<TarGzWriter> make(int out_fd);

  [[nodiscard]] Result<void> file(const std::string& path, std::string_view bytes);
  [[nodiscard]] Result<void> folder(const std::string& path);  // without a slash at its end
  [[nodiscard]] Result<void> finish();
  [[nodiscard]] uint64_t written() const { return written_; }  // bytes of the .tar.gz

 private:
  struct Stream;
  struct Ender {
    void operator()(Stream* stream) const;
  };
  TarGzWriter(int out_fd, std::unique_ptr<Stream, Ender> stream) : out_(out_fd), stream_(std::move(stream)) {}
  [[nodiscard]] Result<void> header(const std::string& path, char type, uint64_t size);
  [[nodiscard]] Result<void> padded(std::string_view bytes);
  [[nodiscard]] Result<void> deflate(std::string_view bytes, int flush);

  int out_;
  std::unique_ptr<Stream, Ender> stream_;
  uint64_t written_ = 0;
};

}  // namespace subako::bundle
