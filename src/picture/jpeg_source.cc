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
#include <string_view>
#include <vector>

#include "picture/jpeg_error.h"
#include "picture/source.h"

namespace subako::picture {

namespace {

using namespace std::string_view_literals;

constexpr int kExifMarker = JPEG_APP0 + 1;
constexpr int kProfileMarker = JPEG_APP0 + 2;
constexpr size_t kProfileBytes = 64 * limits::kKiB;
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
  void note_markers();

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
  jpeg_save_markers(&jpeg_, kExifMarker, 0xffff);
  jpeg_save_markers(&jpeg_, kProfileMarker, 0xffff);
  jpeg_mem_src(&jpeg_, reinterpret_cast<const unsigned char*>(bytes_.data()), bytes_.size());
  jpeg_read_header(&jpeg_, TRUE);
  info_.width = jpeg_.image_width;
  info_.height = jpeg_.image_height;
  info_.grey = jpeg_.num_components == 1;
  return true;
}

void JpegSource::note_markers() {
  constexpr std::string_view kExif = "Exif\0\0"sv;
  constexpr std::string_view kProfile = "ICC_PROFILE\0"sv;
  cmyk_ = jpeg_.jpeg_color_space == JCS_CMYK || jpeg_.jpeg_color_space == JCS_YCCK;
  for (const jpeg_marker_struct* marker = jpeg_.marker_list; marker != nullptr; marker = marker->next) {
    const std::string_view data(reinterpret_cast<const char*>(marker->data), marker->data_length);
    const auto bytes = std::as_bytes(std::span(marker->data, marker->data_length));
    if (marker->marker == kExifMarker && data.starts_with(kExif) &&
        info_.orientation == Orientation::kUpright)
      info_.orientation = orientation_of(bytes);
    // As it is stored, in the wrapping of its one marker; a larger profile is split over several and left
    // out.
    if (marker->marker == kProfileMarker && data.starts_with(kProfile) && !cmyk_ &&
        data.size() <= kProfileBytes && data.size() > kProfile.size() + 2 &&
        data.substr(kProfile.size(), 2) == "\1\1"sv)
      info_.colour_profile.assign(bytes.begin(), bytes.end());
  }
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
  source->note_markers();
  return source;
}

}  // namespace subako::picture
