#include "bundle/tar_writer.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <vector>

#include "base/limits.h"
#include "bundle/tar_header.h"

namespace subako::bundle {

namespace {

constexpr size_t kNameBytes = 100;
constexpr size_t kPrefixBytes = 155;
constexpr int kLevel = 9;
constexpr size_t kBufferBytes = 64 * limits::kKiB;

struct Names {
  std::string prefix;
  std::string name;
};

// How ustar holds `path`, if it can.
std::optional<Names> ustar_names(const std::string& path) {
  if (std::ranges::any_of(path, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }))
    return std::nullopt;
  if (path.size() <= kNameBytes) return Names{"", path};
  const size_t slash = path.find('/', path.size() - kNameBytes - 1);
  if (slash == std::string::npos || slash > kPrefixBytes || slash + 1 == path.size()) return std::nullopt;
  return Names{path.substr(0, slash), path.substr(slash + 1)};
}

// "<length> path=<path>\n", the length counting its own digits.
std::string pax_path(const std::string& path) {
  const std::string rest = " path=" + path + "\n";
  size_t length = rest.size() + 1;
  while (std::to_string(length).size() + rest.size() != length) ++length;
  return std::to_string(length) + rest;
}

void put(TarBlock& block, size_t at, std::string_view text) {
  std::ranges::copy(text, block.begin() + static_cast<ptrdiff_t>(at));
}

void put_octal(TarBlock& block, size_t at, int digits, uint64_t value) {
  std::array<char, 24> text{};
  const int n =
      std::snprintf(text.data(), text.size(), "%0*llo", digits, static_cast<unsigned long long>(value));
  put(block, at, std::string_view(text.data(), static_cast<size_t>(n)));
}

TarBlock ustar_block(const Names& names, char type, uint64_t size) {
  TarBlock block{};
  put(block, 0, names.name);
  put_octal(block, 100, 7, type == '5' ? 0755 : 0644);
  put_octal(block, 108, 7, 0);  // user
  put_octal(block, 116, 7, 0);  // group
  put_octal(block, 124, 11, size);
  put_octal(block, 136, 11, 0);  // time
  put(block, 148, "        ");
  block[156] = type;
  put(block, 257, std::string_view("ustar\00000", 8));
  put_octal(block, 329, 7, 0);
  put_octal(block, 337, 7, 0);
  put(block, 345, names.prefix);
  uint64_t sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  put_octal(block, 148, 6, sum);
  block[154] = '\0';
  return block;
}

}  // namespace

struct TarGzWriter::Stream {
  z_stream z{};
  gz_header header{};
};

void TarGzWriter::Ender::operator()(Stream* stream) const {
  deflateEnd(&stream->z);
  delete stream;
}

Result<TarGzWriter> TarGzWriter::make(int out_fd) {
  std::unique_ptr<Stream, Ender> stream(new Stream);
  constexpr int kMemoryLevel = 8;
  constexpr int kUnknownSystem = 255;
  if (deflateInit2(&stream->z, kLevel, Z_DEFLATED, MAX_WBITS + 16, kMemoryLevel, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    return fail(Code::kUnavailable, "no memory for compressing");
  }
  stream->header.os = kUnknownSystem;
  if (deflateSetHeader(&stream->z, &stream->header) != Z_OK)
    return fail(Code::kInternal, "zlib refused a gzip header");
  return TarGzWriter(out_fd, std::move(stream));
}

Result<void> TarGzWriter::file(const std::string& path, std::string_view bytes) {
  TRY_VOID(header(path, '0', bytes.size()));
  return padded(bytes);
}

Result<void> TarGzWriter::folder(const std::string& path) {
  return header(path + "/", '5', 0);
}

Result<void> TarGzWriter::header(const std::string& path, char type, uint64_t size) {
  std::optional<Names> names = ustar_names(path);
  if (!names) {
    const std::string record = pax_path(path);
    const TarBlock pax = ustar_block({"", "pax"}, 'x', record.size());
    TRY_VOID(deflate({pax.data(), pax.size()}, Z_NO_FLUSH));
    TRY_VOID(padded(record));
    names = Names{"", "see-pax-header"};
  }
  const TarBlock block = ustar_block(*names, type, size);
  return deflate({block.data(), block.size()}, Z_NO_FLUSH);
}

Result<void> TarGzWriter::padded(std::string_view bytes) {
  TRY_VOID(deflate(bytes, Z_NO_FLUSH));
  const std::string zeros((kTarBlock - bytes.size() % kTarBlock) % kTarBlock, '\0');
  return deflate(zeros, Z_NO_FLUSH);
}

Result<void> TarGzWriter::finish() {
  const std::string end_mark(2 * kTarBlock, '\0');
  return deflate(end_mark, Z_FINISH);
}

Result<void> TarGzWriter::deflate(std::string_view bytes, int flush) {
  z_stream& z = stream_->z;
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib doesn't write to it
  z.avail_in = static_cast<uInt>(bytes.size());                           // a bundle's part: far below 4 GiB
  std::vector<char> buffer(kBufferBytes);
  do {
    z.next_out = reinterpret_cast<Bytef*>(buffer.data());
    z.avail_out = static_cast<uInt>(buffer.size());
    if (::deflate(&z, flush) == Z_STREAM_ERROR) return fail(Code::kInternal, "zlib failed to compress");
    std::string_view ready(buffer.data(), buffer.size() - z.avail_out);
    while (!ready.empty()) {
      const ssize_t n = ::write(out_, ready.data(), ready.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return std::unexpected(system_error("writing the bundle", errno));
      written_ += static_cast<uint64_t>(n);
      ready.remove_prefix(static_cast<size_t>(n));
    }
  } while (z.avail_out == 0);
  return {};
}

}  // namespace subako::bundle
