// PNG by libpng: every kind becomes 8-bit RGBA. Interlaced ones are held whole, others come row by row.
#include <png.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>

#include "picture/png_chunks.h"
#include "picture/source.h"

namespace subako::picture {

namespace {

constexpr size_t kProfileBytes = 64 * limits::kKiB;
constexpr size_t kRestBytes = 64 * limits::kKiB;
constexpr png_uint_32 kAnySide = 0x7fffffff;  // refused_size() judges, in its words

class PngSource final : public Source {
 public:
  explicit PngSource(std::span<const std::byte> bytes) : bytes_(bytes) {}
  ~PngSource() override { png_destroy_read_struct(&png_, &png_info_, nullptr); }

  [[nodiscard]] bool row(std::span<uint8_t> rgba) override {
    if (interlaced_ && next_row_ == 0 && !read_interlaced()) return false;
    const uint32_t y = next_row_++;
    if (!interlaced_) return read_row(rgba.data());
    std::ranges::copy(whole_.row(y), rgba.begin());
    return true;
  }
  [[nodiscard]] bool end() override {
    const char* damage = png_damage(bytes_);
    if (damage != nullptr) std::snprintf(why_.data(), why_.size(), "%s", damage);
    return damage == nullptr;
  }
  [[nodiscard]] Unshowable why() const override {
    return out_of_memory_ ? no_memory() : damaged(why_.data());
  }

  // The steps of opening. The first comes before anything else and is free of the picture's size.
  [[nodiscard]] bool read_header();
  [[nodiscard]] bool start_rows();
  void note_chunks();

 private:
  [[nodiscard]] bool read_row(uint8_t* rgba);
  [[nodiscard]] bool read_interlaced();
  [[nodiscard]] bool read_passes();

  static void on_error(png_structp png, png_const_charp message) {
    auto* self = static_cast<PngSource*>(png_get_error_ptr(png));
    std::snprintf(self->why_.data(), self->why_.size(), "%s", message != nullptr ? message : "");
    png_longjmp(png, 1);
  }
  static void on_warning(png_structp, png_const_charp) {}
  static void on_read(png_structp png, png_bytep to, size_t size) {
    auto* self = static_cast<PngSource*>(png_get_io_ptr(png));
    if (size > self->bytes_.size() - self->at_) png_error(png, "it ends too early");
    if (self->at_ + size > self->read_end_) png_error(png, "its data go on after the picture");
    std::memcpy(to, self->bytes_.data() + self->at_, size);
    self->at_ += size;
  }

  // Before the last row: libpng then unpacks what is left of the image data, up to a thousand times their
  // size. A row is stored in at most 8 bytes a pixel and hardly grows by being packed.
  void expect_end() { read_end_ = at_ + kRestBytes + size_t{info_.width} * 32; }

  std::span<const std::byte> bytes_;
  size_t at_ = 0;
  size_t read_end_ = std::numeric_limits<size_t>::max();
  png_structp png_ = nullptr;
  png_infop png_info_ = nullptr;
  bool interlaced_ = false;
  bool out_of_memory_ = false;
  uint32_t next_row_ = 0;
  Pixels whole_;  // where interlaced
  std::array<char, 128> why_{};
};

bool PngSource::read_header() {
  png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
  if (png_ == nullptr) return false;
  if (setjmp(png_jmpbuf(png_)) != 0) return false;
  png_info_ = png_create_info_struct(png_);
  if (png_info_ == nullptr) return false;
  png_set_read_fn(png_, this, on_read);
  png_set_user_limits(png_, kAnySide, kAnySide);
  // No chunk is longer than the file it is in. The ones we have no use for aren't unpacked.
  png_set_chunk_malloc_max(png_, std::max<size_t>(bytes_.size(), limits::kMiB));
  static constexpr char kNotLookedAt[] =
      "bKGD\0cHRM\0eXIf\0gAMA\0hIST\0iCCP\0iTXt\0oFFs\0pCAL\0pHYs\0sBIT\0sCAL\0sPLT\0sRGB\0tEXt\0tIME\0zTXt";
  static_assert(sizeof(kNotLookedAt) % 5 == 0);
  png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, reinterpret_cast<png_const_bytep>(kNotLookedAt),
                              sizeof(kNotLookedAt) / 5);
  png_read_info(png_, png_info_);
  info_.width = png_get_image_width(png_, png_info_);
  info_.height = png_get_image_height(png_, png_info_);
  const int type = png_get_color_type(png_, png_info_);
  info_.grey = (type & PNG_COLOR_MASK_COLOR) == 0;
  interlaced_ = png_get_interlace_type(png_, png_info_) != PNG_INTERLACE_NONE;
  return true;
}

bool PngSource::start_rows() {
  if (setjmp(png_jmpbuf(png_)) != 0) return false;
  png_set_expand(png_);  // palettes, less than 8 bits, tRNS
  png_set_scale_16(png_);
  png_set_gray_to_rgb(png_);
  png_set_add_alpha(png_, 0xff, PNG_FILLER_AFTER);
  if (interlaced_) (void)png_set_interlace_handling(png_);
  png_read_update_info(png_, png_info_);
  return png_get_rowbytes(png_, png_info_) == size_t{info_.width} * 4;
}

void PngSource::note_chunks() {
  const PngChunks chunks = png_chunks(bytes_);
  info_.animated = chunks.animated;
  info_.orientation = orientation_of(chunks.exif);
  if (chunks.colour_profile.size() <= kProfileBytes)
    info_.colour_profile.assign(chunks.colour_profile.begin(), chunks.colour_profile.end());
}

bool PngSource::read_row(uint8_t* rgba) {
  if (next_row_ == info_.height) expect_end();
  if (setjmp(png_jmpbuf(png_)) != 0) return false;
  png_read_row(png_, rgba, nullptr);
  return true;
}

bool PngSource::read_interlaced() {
  std::optional<Pixels> whole = Pixels::make(info_.width, info_.height);
  if (!whole) {
    out_of_memory_ = true;
    return false;
  }
  whole_ = *std::move(whole);
  return read_passes();
}

bool PngSource::read_passes() {
  if (setjmp(png_jmpbuf(png_)) != 0) return false;
  for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; ++pass)
    for (uint32_t y = 0; y < info_.height; ++y) {
      // The last pass has every other row; of one or two rows, it may have none.
      if (info_.height <= 2 || (pass == PNG_INTERLACE_ADAM7_PASSES - 1 && y + 2 >= info_.height))
        expect_end();
      png_read_row(png_, whole_.row(y).data(), nullptr);
    }
  return true;
}

}  // namespace

Opened open_png(std::span<const std::byte> bytes, uint64_t most_pixels) {
  auto source = std::make_unique<PngSource>(bytes);
  if (!source->read_header()) return std::unexpected(source->why());
  const SourceInfo& info = source->info();
  if (Unshowable refused = refused_size(info.width, info.height, most_pixels); !refused.reason.empty())
    return std::unexpected(std::move(refused));
  if (!source->start_rows()) return std::unexpected(source->why());
  source->note_chunks();
  return source;
}

}  // namespace subako::picture
