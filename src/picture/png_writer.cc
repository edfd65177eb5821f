#include <png.h>
#include <zlib.h>

#include <array>
#include <csetjmp>
#include <cstdio>
#include <vector>

#include "picture/out_buffer.h"
#include "picture/write.h"

namespace subako::picture {

namespace {

struct Job {
  const Pixels& pixels;
  const SourceInfo& source;
  bool grey;
  bool alpha;
  OutBuffer out{};
  std::vector<uint8_t> row{};  // in the file's channels
  std::array<char, 128> why{};
};

void on_error(png_structp png, png_const_charp message) {
  auto* job = static_cast<Job*>(png_get_error_ptr(png));
  std::snprintf(job->why.data(), job->why.size(), "%s", message != nullptr ? message : "");
  png_longjmp(png, 1);
}
void on_warning(png_structp, png_const_charp) {}
void on_write(png_structp png, png_bytep bytes, size_t size) {
  static_cast<Job*>(png_get_io_ptr(png))->out.put(bytes, size);
}
void on_flush(png_structp) {}

// RGBA to what the file holds.
void pack(Job& job, uint32_t y) {
  uint8_t* to = job.row.data();
  const uint8_t* from = job.pixels.row(y).data();
  for (uint32_t x = 0; x < job.pixels.width(); ++x, from += 4) {
    *to++ = from[0];
    if (!job.grey) {
      *to++ = from[1];
      *to++ = from[2];
    }
    if (job.alpha) *to++ = from[3];
  }
}

bool write(png_structp png, png_infop info, Job& job, int level) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_write_fn(png, &job, on_write, on_flush);
  png_set_user_limits(png, 0x7fffffff, 0x7fffffff);
  png_set_compression_level(png, level);
  const int type = (job.grey ? 0 : PNG_COLOR_MASK_COLOR) | (job.alpha ? PNG_COLOR_MASK_ALPHA : 0);
  png_set_IHDR(png, info, job.pixels.width(), job.pixels.height(), 8, type, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info_before_PLTE(png, info);
  const std::vector<std::byte>& profile = job.source.colour_profile;
  if (!profile.empty())  // as it was stored: its kind fits, as grey stays grey and colour stays colour
    png_write_chunk(png, reinterpret_cast<png_const_bytep>("iCCP"),
                    reinterpret_cast<png_const_bytep>(profile.data()), profile.size());
  png_write_info(png, info);
  for (uint32_t y = 0; y < job.pixels.height(); ++y) {
    pack(job, y);
    png_write_row(png, job.row.data());
  }
  png_write_end(png, info);
  return true;
}

bool write(Job& job, int level) {
  job.out.clear();
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &job, on_error, on_warning);
  png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;
  const bool written = info != nullptr && write(png, info, job, level);
  png_destroy_write_struct(&png, &info);
  return written;
}

}  // namespace

Written write_png(const Pixels& pixels, const SourceInfo& source) {
  Job job{pixels, source, source.grey, !opaque(pixels)};
  job.row.resize(size_t{pixels.width()} * 4);
  if (!write(job, Z_DEFAULT_COMPRESSION)) return std::unexpected(not_written(job.why.data()));
  if (!job.out.fits() && !write(job, Z_BEST_COMPRESSION)) return std::unexpected(not_written(job.why.data()));
  if (!job.out.fits()) return std::unexpected(too_many_bytes(pixels, job.out.wanted()));
  return job.out.copy();
}

}  // namespace subako::picture
