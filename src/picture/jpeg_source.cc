// JPEG by libjpeg-turbo: baseline and progressive, grey, YCbCr, RGB, and CMYK as Adobe writes it.
#include <cstddef>
#include <cstdio>
// jpeglib.h needs both.
#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstring>
#include <vector>

#include "picture/jpeg_error.h"
#include "picture/jpeg_segments.h"
#include "picture/source.h"

namespace subako::picture {

namespace {

constexpr long kDecoderBytes =
    limits::kPictureMemoryBytes / 4 * 3;  // leaves room for the program and the scaler

class JpegSource final : public Source {
 public:
  explicit JpegSource(std::span<const std::byte> bytes) : bytes_(bytes) {}
  ~JpegSource() override { jpeg_destroy_decompress(&jpeg_); }

  [[nodiscard]] bool row(std::span<uint8_t> rgba) override {
    if (!started_ && !start()) return false;
    if (!cmyk_) return read_row(rgba.data());
    if (!read_row(cmyk_row_.data())) return false;
    for (size_t x = 0; x < info_.width; ++x) {
      // Inverted, as Adobe writes it and as everyone reads it, whether the file says "Adobe" or not.
      const uint8_t* from = &cmyk_row_[x * 4];
      uint8_t* to = &rgba[x * 4];
      for (size_t i = 0; i < 3; ++i) to[i] = static_cast<uint8_t>((from[i] * from[3] + 127) / 255);
      to[3] = 255;
    }
    return true;
  }
  [[nodiscard]] bool end() override;
  [[nodiscard]] Unshowable why() const override {
    return error_.out_of_memory() ? no_memory() : damaged(error_.message());
  }

  [[nodiscard]] bool read_header();
  [[nodiscard]] bool knows_colours() const { return jpeg_.jpeg_color_space != JCS_UNKNOWN; }
  void note_segments();

 private:
  [[nodiscard]] bool start();
  [[nodiscard]] bool read_row(uint8_t* to);

  // Each scan visits every block of the picture, however few bytes of the file it takes.
  static void on_progress(j_common_ptr common) {
    auto* jpeg = reinterpret_cast<j_decompress_ptr>(common);
    const auto scans = static_cast<uint64_t>(std::max(jpeg->input_scan_number, 0));
    const uint64_t pixels = uint64_t{jpeg->image_width} * jpeg->image_height;
    if (scans > limits::kPictureScans || scans * pixels > limits::kPictureScannedPixels)
      JpegError::of(common).stop("it has too many scans");
  }

  std::span<const std::byte> bytes_;
  jpeg_decompress_struct jpeg_{};
  jpeg_progress_mgr progress_{};
  JpegError error_;
  bool started_ = false;
  bool cmyk_ = false;
  std::vector<uint8_t> cmyk_row_;
};

bool JpegSource::read_header() {
  jpeg_.err = error_.handler();
  if (setjmp(error_.jump()) != 0) return false;
  jpeg_create_decompress(&jpeg_);
  jpeg_.mem->max_memory_to_use = kDecoderBytes;
  jpeg_mem_src(&jpeg_, reinterpret_cast<const unsigned char*>(bytes_.data()), bytes_.size());
  jpeg_read_header(&jpeg_, TRUE);
  info_.width = jpeg_.image_width;
  info_.height = jpeg_.image_height;
  info_.grey = jpeg_.num_components == 1;
  return true;
}

void JpegSource::note_segments() {
  cmyk_ = jpeg_.jpeg_color_space == JCS_CMYK || jpeg_.jpeg_color_space == JCS_YCCK;
  const JpegSegments segments = jpeg_segments(bytes_);
  info_.orientation = orientation_of(segments.exif);
  if (!cmyk_) info_.colour_profile.assign(segments.colour_profile.begin(), segments.colour_profile.end());
}

bool JpegSource::start() {
  started_ = true;
  if (cmyk_) cmyk_row_.resize(size_t{info_.width} * 4);
  if (setjmp(error_.jump()) != 0) return false;
  progress_.progress_monitor = on_progress;
  jpeg_.progress = &progress_;
  jpeg_.out_color_space = cmyk_ ? JCS_CMYK : JCS_EXT_RGBA;
  jpeg_start_decompress(&jpeg_);
  return true;
}

bool JpegSource::read_row(uint8_t* to) {
  if (setjmp(error_.jump()) != 0) return false;
  JSAMPROW rows[1] = {to};
  if (jpeg_read_scanlines(&jpeg_, rows, 1) == 1) return true;
  error_.note("a row is missing");
  return false;
}

bool JpegSource::end() {
  if (setjmp(error_.jump()) != 0) return false;
  jpeg_finish_decompress(&jpeg_);
  return true;
}

}  // namespace

Opened open_jpeg(std::span<const std::byte> bytes, uint64_t most_pixels) {
  auto source = std::make_unique<JpegSource>(bytes);
  if (!source->read_header()) return std::unexpected(source->why());
  const SourceInfo& info = source->info();
  if (Unshowable refused = refused_size(info.width, info.height, most_pixels); !refused.reason.empty())
    return std::unexpected(std::move(refused));
  if (!source->knows_colours()) return std::unexpected(damaged("its colours are of no known kind"));
  source->note_segments();
  return source;
}

}  // namespace subako::picture
