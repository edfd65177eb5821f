// WebP by libwebp: lossy and lossless, with alpha, and the first frame of an animation on the canvas of the
// whole.
#include <webp/decode.h>
#include <webp/demux.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "picture/source.h"

namespace subako::picture {

namespace {

constexpr size_t kProfileBytes = 64 * limits::kKiB;
constexpr int kLossless = 2;  // of WebPBitstreamFeatures::format

const char* told(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_BITSTREAM_ERROR:
      return "its data make no sense";
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return "it uses a feature that isn't known";
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED:
      return "it ends too early";
    default:
      return "";
  }
}

class WebpSource final : public Source {
 public:
  explicit WebpSource(std::span<const std::byte> bytes) : bytes_(bytes) {}
  ~WebpSource() override {
    WebPDemuxReleaseIterator(&frame_);
    WebPDemuxDelete(demux_);
  }

  [[nodiscard]] bool read_header() {
    const WebPData data{reinterpret_cast<const uint8_t*>(bytes_.data()), bytes_.size()};
    demux_ = WebPDemux(&data);  // checks the file's chunks to the last one
    if (demux_ == nullptr) return failed("its chunks are not complete");
    info_.width = WebPDemuxGetI(demux_, WEBP_FF_CANVAS_WIDTH);
    info_.height = WebPDemuxGetI(demux_, WEBP_FF_CANVAS_HEIGHT);
    info_.animated = WebPDemuxGetI(demux_, WEBP_FF_FRAME_COUNT) > 1;
    if (WebPDemuxGetFrame(demux_, 1, &frame_) == 0) return failed("it has no frame");
    WebPBitstreamFeatures features;
    const VP8StatusCode status = WebPGetFeatures(frame_.fragment.bytes, frame_.fragment.size, &features);
    if (status != VP8_STATUS_OK) return failed(told(status));
    info_.lossless = features.format == kLossless;
    width_ = to_unsigned(features.width);
    height_ = to_unsigned(features.height);
    left_ = to_unsigned(frame_.x_offset);
    top_ = to_unsigned(frame_.y_offset);
    if (uint64_t{left_} + width_ > info_.width || uint64_t{top_} + height_ > info_.height)
      return failed("its frame lies outside its canvas");
    return true;
  }
  void note_chunks() {
    const auto chunk = [&](const char* name) {
      WebPChunkIterator found{};
      std::span<const std::byte> bytes;  // within bytes_
      if (WebPDemuxGetChunk(demux_, name, 1, &found) != 0)
        bytes = std::as_bytes(std::span(found.chunk.bytes, found.chunk.size));
      WebPDemuxReleaseChunkIterator(&found);
      return bytes;
    };
    info_.orientation = orientation_of(chunk("EXIF"));
    if (const auto profile = chunk("ICCP"); profile.size() <= kProfileBytes)
      info_.colour_profile.assign(profile.begin(), profile.end());
  }

  [[nodiscard]] bool row(std::span<uint8_t> rgba) override {
    if (next_row_ == 0 && !decode()) return false;
    const uint32_t y = next_row_++;
    std::ranges::fill(rgba, uint8_t{0});
    if (y >= top_ && y - top_ < height_) std::ranges::copy(whole_.row(y - top_), rgba.begin() + left_ * 4L);
    return true;
  }
  [[nodiscard]] bool end() override { return true; }
  [[nodiscard]] Unshowable why() const override { return out_of_memory_ ? no_memory() : damaged(why_); }

 private:
  static uint32_t to_unsigned(int value) { return static_cast<uint32_t>(std::max(value, 0)); }

  bool failed(const char* why) {
    why_ = why;
    return false;
  }

  [[nodiscard]] bool decode() {
    std::optional<Pixels> whole = Pixels::make(width_, height_);
    out_of_memory_ = !whole;
    if (!whole) return false;
    whole_ = *std::move(whole);
    WebPDecoderConfig config;
    if (WebPInitDecoderConfig(&config) == 0) return failed("libwebp is of another version");
    config.output.colorspace = MODE_RGBA;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = whole_.all().data();
    config.output.u.RGBA.stride = static_cast<int>(width_ * 4);
    config.output.u.RGBA.size = whole_.all().size();
    const VP8StatusCode status = WebPDecode(frame_.fragment.bytes, frame_.fragment.size, &config);
    out_of_memory_ = status == VP8_STATUS_OUT_OF_MEMORY;
    return status == VP8_STATUS_OK ? true : failed(told(status));
  }

  std::span<const std::byte> bytes_;
  WebPDemuxer* demux_ = nullptr;
  WebPIterator frame_{};
  uint32_t left_ = 0;  // of the frame, on the canvas
  uint32_t top_ = 0;
  uint32_t width_ = 0;
  uint32_t height_ = 0;
  Pixels whole_;  // of the frame
  uint32_t next_row_ = 0;
  bool out_of_memory_ = false;
  const char* why_ = "";
};

}  // namespace

Opened open_webp(std::span<const std::byte> bytes, uint64_t most_pixels) {
  auto source = std::make_unique<WebpSource>(bytes);
  if (!source->read_header()) return std::unexpected(source->why());
  const SourceInfo& info = source->info();
  if (Unshowable refused = refused_size(info.width, info.height, most_pixels); !refused.reason.empty())
    return std::unexpected(std::move(refused));
  source->note_chunks();
  return source;
}

}  // namespace subako::picture
