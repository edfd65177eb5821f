#include <array>
#include <csetjmp>
#include <vector>

#include "picture/jpeg_error.h"
#include "picture/out_buffer.h"
#include "picture/write.h"

namespace subako::picture {

namespace {

constexpr int kQuality = 90;
constexpr int kProfileMarker = JPEG_APP0 + 2;

struct Job {
  const Pixels& pixels;
  const SourceInfo& source;
  OutBuffer out{};
  JpegError error{};
  jpeg_compress_struct jpeg{};
  jpeg_destination_mgr destination{};
  std::array<JOCTET, 16 * 1024> chunk{};  // written by libjpeg, then put out
  std::vector<uint8_t> grey{};
};

Job& job_of(j_compress_ptr jpeg) {
  return *static_cast<Job*>(jpeg->client_data);
}
void on_begin(j_compress_ptr jpeg) {
  Job& job = job_of(jpeg);
  job.destination.next_output_byte = job.chunk.data();
  job.destination.free_in_buffer = job.chunk.size();
}
boolean on_full(j_compress_ptr jpeg) {
  Job& job = job_of(jpeg);
  job.out.put(job.chunk.data(), job.chunk.size());
  on_begin(jpeg);
  return TRUE;
}
void on_end(j_compress_ptr jpeg) {
  Job& job = job_of(jpeg);
  job.out.put(job.chunk.data(), job.chunk.size() - job.destination.free_in_buffer);
}

const uint8_t* grey_row(Job& job, uint32_t y) {
  const uint8_t* from = job.pixels.row(y).data();
  for (uint8_t& value : job.grey) {
    value = *from;
    from += 4;
  }
  return job.grey.data();
}

bool write(Job& job) {
  jpeg_compress_struct& jpeg = job.jpeg;
  jpeg.err = job.error.handler();
  if (setjmp(job.error.jump()) != 0) return false;
  jpeg_create_compress(&jpeg);
  jpeg.client_data = &job;
  job.destination.init_destination = on_begin;
  job.destination.empty_output_buffer = on_full;
  job.destination.term_destination = on_end;
  jpeg.dest = &job.destination;
  jpeg.image_width = job.pixels.width();
  jpeg.image_height = job.pixels.height();
  jpeg.input_components = job.source.grey ? 1 : 4;
  jpeg.in_color_space = job.source.grey ? JCS_GRAYSCALE : JCS_EXT_RGBX;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, kQuality, TRUE);
  jpeg.optimize_coding = TRUE;
  // Colour as fine as brightness: coloured text and lines stay legible.
  jpeg.comp_info[0].h_samp_factor = 1;
  jpeg.comp_info[0].v_samp_factor = 1;
  jpeg_start_compress(&jpeg, TRUE);
  const std::vector<std::byte>& profile = job.source.colour_profile;
  if (!profile.empty())
    jpeg_write_marker(&jpeg, kProfileMarker, reinterpret_cast<const JOCTET*>(profile.data()),
                      static_cast<unsigned int>(profile.size()));
  while (jpeg.next_scanline < jpeg.image_height) {
    const uint32_t y = jpeg.next_scanline;
    const uint8_t* row = job.source.grey ? grey_row(job, y) : job.pixels.row(y).data();
    JSAMPROW rows[1] = {const_cast<JSAMPROW>(row)};  // the library doesn't write to it
    jpeg_write_scanlines(&jpeg, rows, 1);
  }
  jpeg_finish_compress(&jpeg);
  return true;
}

}  // namespace

Written write_jpeg(const Pixels& pixels, const SourceInfo& source) {
  Job job{.pixels = pixels, .source = source};
  if (source.grey) job.grey.resize(pixels.width());
  const bool written = write(job);
  jpeg_destroy_compress(&job.jpeg);
  if (!written) return std::unexpected(not_written(job.error.message()));
  if (!job.out.fits()) return std::unexpected(too_many_bytes(pixels, job.out.wanted()));
  return job.out.copy();
}

}  // namespace subako::picture
