#include "bundle/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

namespace subako::bundle {

struct Inflate::Stream {
  z_stream z{};
};

void Inflate::Ender::operator()(Stream* stream) const {
  inflateEnd(&stream->z);
  delete stream;
}

Result<Inflate> Inflate::make(Format format) {
  std::unique_ptr<Stream, Ender> stream(new Stream);
  const int window_bits = format == Format::kGzip ? MAX_WBITS + 16 : -MAX_WBITS;
  if (inflateInit2(&stream->z, window_bits) != Z_OK)
    return fail(Code::kUnavailable, "no memory for decompressing");
  return Inflate(std::move(stream));
}

Result<Inflate::Progress> Inflate::step(std::string_view in, std::span<char> out) {
  constexpr size_t kMost = std::numeric_limits<uInt>::max();
  z_stream& z = stream_->z;
  const auto offered = static_cast<uInt>(std::min(in.size(), kMost));
  const auto room = static_cast<uInt>(std::min(out.size(), kMost));
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));  // zlib doesn't write to it
  z.avail_in = offered;
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = room;
  const int code = ::inflate(&z, Z_NO_FLUSH);
  Progress progress{offered - z.avail_in, room - z.avail_out, State::kGoing, {}};
  switch (code) {
    case Z_OK:
    case Z_BUF_ERROR:
      return progress;
    case Z_STREAM_END:
      progress.state = State::kEnd;
      return progress;
    case Z_MEM_ERROR:
      return fail(Code::kUnavailable, "no memory for decompressing");
    default:
      progress.state = State::kDamaged;
      progress.why = z.msg != nullptr ? z.msg : "unknown";
      return progress;
  }
}

void Inflate::restart() {
  inflateReset(&stream_->z);
}

}  // namespace subako::bundle
