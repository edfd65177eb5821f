// Writes the corpus of picture_fuzz.cc: a small picture of each kind, and what is hostile, each in a file named after what it is.
// `fuzz/fuzz.sh picture seeds`; usage: picture_seeds FOLDER
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

#include "picture/picture_fixture.h"

using namespace subako::picture::fixture;

namespace {

std::string folder;

// `choice` is the wish that the fuzzer reads from the last byte.
void save(const std::string& name, Bytes bytes, int choice) {
  bytes.push_back(static_cast<std::byte>(choice));
  std::ofstream file(folder + "/" + name, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) std::perror(name.c_str());
}

Bytes stored(size_t size) {  // zeros, deflated without being packed: changes reach the pixels
  const std::vector<Bytef> zeros(size);
  uLongf length = compressBound(static_cast<uLong>(size)) + 64;
  std::vector<Bytef> out(length);
  compress2(out.data(), &length, zeros.data(), static_cast<uLong>(size), 0);
  const auto bytes = std::as_bytes(std::span(out).first(length));
  return {bytes.begin(), bytes.end()};
}

void patch(Bytes& bytes, size_t at, std::string_view with) {
  const Bytes patched = bytes_of(with);
  std::ranges::copy(patched, bytes.begin() + static_cast<std::ptrdiff_t>(at));
}

Image clear_half(uint32_t width, uint32_t height) {
  Image image = board(width, height);
  for (size_t i = 0; i < image.pixels.size() / 2; ++i) image.pixels[i] = {0, 0, 0, 0};
  return image;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  folder = argv[1];
  // What the wishes' numbers are: fuzz/picture_fuzz.cc. 3: the same, to 64 pixels; 4: PNG; 5: sixels; 0: the same, to 2,000.
  const Image small = board(24, 16);
  const Image large = board(100, 70);
  const Image grey = grey_board(90, 60);
  const Image half = clear_half(80, 80);

  save("png_rgba", png(half), 3);
  save("png_rgb", png(large, {PNG_COLOR_TYPE_RGB}), 3);
  save("png_rgb_16_key", png(small, {PNG_COLOR_TYPE_RGB, 16, false, true}), 9);
  save("png_grey", png(grey, {PNG_COLOR_TYPE_GRAY}), 3);
  save("png_grey_alpha_16_interlaced", png(grey, {PNG_COLOR_TYPE_GRAY_ALPHA, 16, true}), 3);
  save("png_palette_key", png(half, {PNG_COLOR_TYPE_PALETTE, 8, false, true}), 5);
  save("png_grey_2", png(grey_board(24, 16), {PNG_COLOR_TYPE_GRAY, 2}), 4);
  save("png_stored_rgba", raw_png(20, 20, 8, PNG_COLOR_TYPE_RGBA, stored(20 * 81)), 9);
  save("png_stored_palette", raw_png(20, 20, 8, PNG_COLOR_TYPE_PALETTE, stored(20 * 21)), 9);
  save("png_stored_grey_1", raw_png(70, 3, 1, PNG_COLOR_TYPE_GRAY, stored(3 * 10)), 3);
  save("png_exif_6", png(large, {.chunks = {{"eXIf", exif(6)}}}), 3);
  save("png_exif_8_interlaced", png(large, {.interlaced = true, .chunks = {{"eXIf", exif(8, false)}}}), 5);
  save("png_profile", png(large, {.chunks = {{"iCCP", bytes_of(std::string_view("x\0\0profile", 10))}}}), 3);
  save("png_animated", png(large, {.chunks = {{"acTL", bytes_of(std::string_view("\0\0\0\2\0\0\0\0", 8))}}}), 3);
  save("png_noise_interlaced", png(noise(20, 70), {PNG_COLOR_TYPE_RGB, 8, true}), 3);
  save("png_one", png(board(1, 1)), 0);
  save("png_tall", png(board(1, 300)), 3);
  save("png_30000_square", raw_png(30'000, 30'000, 8, PNG_COLOR_TYPE_GRAY, stored(100)), 0);
  save("png_more_data", raw_png(1, 1, 8, PNG_COLOR_TYPE_GRAY, stored(4000)), 0);
  save("png_two_rows_interlaced", png(board(9, 2), {.interlaced = true}), 0);

  save("jpeg", jpeg(large), 3);
  save("jpeg_small", jpeg(small), 0);
  save("jpeg_subsampled", jpeg(large, {.subsampled = true}), 4);
  save("jpeg_progressive", jpeg(large, {.progressive = true, .subsampled = true}), 3);
  save("jpeg_grey", jpeg(grey, {.grey = true}), 3);
  save("jpeg_cmyk", jpeg(large, {.cmyk = true}), 3);
  save("jpeg_ycck_progressive", jpeg(small, {.progressive = true, .ycck = true}), 9);
  for (const uint16_t orientation : {2, 3, 4, 5, 6, 7, 8}) {
    Bytes block = bytes_of(std::string_view("Exif\0\0", 6));
    const Bytes tiff = exif(orientation, orientation % 2 == 0);
    block.insert(block.end(), tiff.begin(), tiff.end());
    save("jpeg_exif_" + std::to_string(orientation), jpeg(small, {.markers = {{1, block}}}), 9 + orientation % 3);
  }
  save("jpeg_profile",
       jpeg(large, {.markers = {{2, bytes_of(std::string_view("ICC_PROFILE\0\1\1profile", 21))}}}), 3);
  Bytes scans = jpeg(small, {.progressive = true, .grey = true});
  const Bytes scan(std::ranges::find_end(scans, bytes_of("\xff\xda")).begin(), scans.end() - 2);
  for (int i = 0; i < 100; ++i) scans.insert(scans.end() - 2, scan.begin(), scan.end());
  if (scans.size() < 8000) save("jpeg_many_scans", scans, 0);
  Bytes wide = jpeg(small);
  for (size_t i = 0; i + 9 < wide.size(); ++i)
    if (wide[i] == std::byte{0xff} && wide[i + 1] == std::byte{0xc0}) {
      patch(wide, i + 5, "\xff\xdc\xff\xdc");
      break;
    }
  save("jpeg_65500_square", wide, 0);

  save("gif", gif({{large}}), 3);
  save("gif_interlaced_local", gif({{large, 0, 0, true, true}}), 3);
  save("gif_transparent", gif({{half}}), 3);
  save("gif_offset", gif({{small, 40, 30, true, true}}, 100, 80), 3);
  save("gif_outside", gif({{small, 40, 30}}, 10, 80), 4);
  save("gif_animated", gif({{large}, {small, 7, 7, false, true}, {half, 1, 1, true, true}}), 3);
  save("gif_animated_small", gif({{small}, {small}}), 0);
  save("gif_many_colours", gif({{draw(80, 80, [](uint32_t x, uint32_t y) {
         return Rgba{static_cast<uint8_t>(x / 5 * 16), static_cast<uint8_t>(y / 5 * 16), 9, 255};
       })}}), 3);
  Bytes canvas = gif({{small}});
  patch(canvas, 6, "\xff\xff\xff\xff");
  save("gif_65535_square", canvas, 0);

  save("webp", webp(large), 3);
  save("webp_alpha", webp(half), 3);
  save("webp_lossless", webp(large, {.lossless = true}), 3);
  save("webp_lossless_alpha", webp(half, {.lossless = true}), 5);
  save("webp_exif_6", webp(small, {.lossless = true, .chunks = {{"EXIF", exif(6)}}}), 9);
  save("webp_profile", webp(large, {.chunks = {{"ICCP", bytes_of("profile")}}}), 3);
  Image moved = large;
  moved.pixels[1234] = {};
  save("webp_animated", animated_webp({large, moved, board(100, 70)}), 3);
  save("webp_animated_small", animated_webp({small, grey_board(24, 16)}), 0);
  Bytes square = webp(small);
  patch(square, 26, "\xff\x3f\xff\x3f");
  save("webp_16383_square", square, 0);
}
