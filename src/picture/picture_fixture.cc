#include "picture/picture_fixture.h"

#include <cstdio>
#include <cstdlib>
// jpeglib.h needs it.
#include <gif_lib.h>
#include <jpeglib.h>
#include <webp/decode.h>
#include <webp/encode.h>
#include <webp/mux.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <csetjmp>
#include <cstring>
#include <map>
#include <random>

namespace subako::picture::fixture {

namespace {

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "the test can't make its picture: %s\n", what);
  std::abort();
}

Bytes bytes_of(const void* data, size_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  return {bytes, bytes + size};
}

void put(Bytes& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}
void put_32(Bytes& to, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) to.push_back(static_cast<std::byte>(value >> shift));
}

using Palette = std::vector<Rgba>;

Palette palette_of(const Image& image) {
  Palette palette;
  std::map<std::array<uint8_t, 4>, size_t> seen;
  for (const Rgba& pixel : image.pixels)
    if (seen.try_emplace({pixel.r, pixel.g, pixel.b, pixel.a}, palette.size()).second)
      palette.push_back(pixel);
  if (palette.size() > 256) give_up("more than 256 colours");
  return palette;
}

uint8_t index_in(const Palette& palette, Rgba pixel) {
  const auto found = std::ranges::find(palette, pixel);
  if (found == palette.end()) give_up("a colour that is not in the palette");
  return static_cast<uint8_t>(found - palette.begin());
}

}  // namespace

Image draw(uint32_t width, uint32_t height, const std::function<Rgba(uint32_t x, uint32_t y)>& colour) {
  Image image{width, height, {}};
  image.pixels.reserve(size_t{width} * height);
  for (uint32_t y = 0; y < height; ++y)
    for (uint32_t x = 0; x < width; ++x) image.pixels.push_back(colour(x, y));
  return image;
}

Rgba board_colour(uint32_t column, uint32_t row) {
  const auto level = [](uint32_t value) { return static_cast<uint8_t>(30 + value * 65); };
  return {level(column), level(row), level((column + 2 * row) % 4), 255};
}

Image board(uint32_t width, uint32_t height) {
  return draw(width, height, [&](uint32_t x, uint32_t y) {
    return board_colour(static_cast<uint32_t>(uint64_t{x} * 4 / width),
                        static_cast<uint32_t>(uint64_t{y} * 4 / height));
  });
}

Image grey_board(uint32_t width, uint32_t height) {
  Image image = board(width, height);
  for (Rgba& pixel : image.pixels)
    pixel.g = pixel.b = pixel.r = static_cast<uint8_t>((pixel.r * 4 + pixel.g) / 5);
  return image;
}

Image noise(uint32_t width, uint32_t height) {
  std::minstd_rand random(7);
  return draw(width, height, [&](uint32_t, uint32_t) {
    const auto value = static_cast<uint32_t>(random() >> 3);
    return Rgba{static_cast<uint8_t>(value), static_cast<uint8_t>(value >> 8),
                static_cast<uint8_t>(value >> 16), 255};
  });
}

Bytes bytes_of(std::string_view text) {
  return bytes_of(text.data(), text.size());
}

Bytes exif(uint16_t orientation, bool big_endian) {
  const auto number = [&](std::string& to, uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) to += static_cast<char>(value >> 8 * (big_endian ? bytes - 1 - i : i));
  };
  std::string tiff = big_endian ? "MM" : "II";
  number(tiff, 42, 2);
  number(tiff, 8, 4);  // the directory
  number(tiff, 2, 2);  // its entries
  number(tiff, 0x0110, 2);
  number(tiff, 2, 2);
  number(tiff, 4, 4);
  tiff += std::string("abc\0", 4);
  number(tiff, 0x0112, 2);
  number(tiff, 3, 2);
  number(tiff, 1, 4);
  number(tiff, orientation, 2);
  number(tiff, 0, 2);
  number(tiff, 0, 4);  // no more directories
  return bytes_of(tiff);
}

Bytes png_chunk(std::string_view name, std::span<const std::byte> data) {
  Bytes chunk;
  put_32(chunk, static_cast<uint32_t>(data.size()));
  put(chunk, bytes_of(name));
  put(chunk, data);
  const auto sum =
      crc32(0, reinterpret_cast<const Bytef*>(chunk.data()) + 4, static_cast<uInt>(data.size() + 4));
  put_32(chunk, static_cast<uint32_t>(sum));
  return chunk;
}

Bytes raw_png(uint32_t width, uint32_t height, uint8_t depth, uint8_t type,
              std::span<const std::byte> image_data) {
  Bytes header;
  put_32(header, width);
  put_32(header, height);
  for (const uint8_t value : {depth, type, uint8_t{0}, uint8_t{0}, uint8_t{0}})
    header.push_back(std::byte{value});
  Bytes file = bytes_of("\x89PNG\r\n\x1a\n");
  put(file, png_chunk("IHDR", header));
  put(file, png_chunk("IDAT", image_data));
  put(file, png_chunk("IEND", {}));
  return file;
}

Bytes png(const Image& image, const PngKind& kind) {
  Bytes file;
  const auto on_error = [](png_structp, png_const_charp what) { give_up(what); };
  png_structp writer = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, on_error, nullptr);
  png_infop info = png_create_info_struct(writer);
  png_set_write_fn(
      writer, &file,
      [](png_structp its, png_bytep bytes, size_t size) {
        put(*static_cast<Bytes*>(png_get_io_ptr(its)), std::as_bytes(std::span(bytes, size)));
      },
      [](png_structp) {});
  png_set_compression_level(writer, 1);
  png_set_user_limits(writer, 0x7fffffff, 0x7fffffff);
  png_set_IHDR(writer, info, image.width, image.height, kind.depth, kind.type,
               kind.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  const bool has_palette = kind.type == PNG_COLOR_TYPE_PALETTE;
  Palette palette;
  if (has_palette) {
    palette = palette_of(image);
    std::vector<png_color> colours;
    std::vector<uint8_t> alphas;
    for (const Rgba& colour : palette) {
      colours.push_back({colour.r, colour.g, colour.b});
      alphas.push_back(colour.a);
    }
    png_set_PLTE(writer, info, colours.data(), static_cast<int>(colours.size()));
    if (kind.transparent_colour)
      png_set_tRNS(writer, info, alphas.data(), static_cast<int>(alphas.size()), nullptr);
  } else if (kind.transparent_colour) {
    const Rgba first = image.at(0, 0);
    const auto wide = [&](uint8_t value) {
      return static_cast<uint16_t>(kind.depth == 16 ? value * 257 : value >> (8 - kind.depth));
    };
    png_color_16 colour{0, wide(first.r), wide(first.g), wide(first.b), wide(first.r)};
    png_set_tRNS(writer, info, nullptr, 0, &colour);
  }
  png_write_info_before_PLTE(writer, info);
  for (const auto& [name, data] : kind.chunks)
    png_write_chunk(writer, reinterpret_cast<png_const_bytep>(name.c_str()),
                    reinterpret_cast<png_const_bytep>(data.data()), data.size());
  png_write_info(writer, info);
  if (kind.depth < 8) png_set_packing(writer);
  std::vector<std::vector<uint8_t>> rows(image.height);
  for (uint32_t y = 0; y < image.height; ++y) {
    std::vector<uint8_t>& row = rows[y];
    const auto sample = [&](uint8_t value) {
      row.push_back(kind.depth < 8 ? static_cast<uint8_t>(value >> (8 - kind.depth)) : value);
      if (kind.depth == 16) row.push_back(value);
    };
    for (uint32_t x = 0; x < image.width; ++x) {
      const Rgba pixel = image.at(x, y);
      if (has_palette) {
        row.push_back(index_in(palette, pixel));
        continue;
      }
      sample(pixel.r);
      if ((kind.type & PNG_COLOR_MASK_COLOR) != 0) {
        sample(pixel.g);
        sample(pixel.b);
      }
      if ((kind.type & PNG_COLOR_MASK_ALPHA) != 0) sample(pixel.a);
    }
  }
  const int passes = png_set_interlace_handling(writer);
  for (int pass = 0; pass < passes; ++pass)
    for (std::vector<uint8_t>& row : rows) png_write_row(writer, row.data());
  png_write_end(writer, info);
  png_destroy_write_struct(&writer, &info);
  return file;
}

Bytes jpeg(const Image& image, const JpegKind& kind) {
  jpeg_compress_struct writer{};
  jpeg_error_mgr errors{};
  writer.err = jpeg_std_error(&errors);
  jpeg_create_compress(&writer);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&writer, &memory, &size);
  const bool four = kind.cmyk || kind.ycck;
  writer.image_width = image.width;
  writer.image_height = image.height;
  writer.input_components = kind.grey ? 1 : four ? 4 : 3;
  writer.in_color_space = kind.grey ? JCS_GRAYSCALE : four ? JCS_CMYK : JCS_RGB;
  jpeg_set_defaults(&writer);
  if (kind.ycck) jpeg_set_colorspace(&writer, JCS_YCCK);
  jpeg_set_quality(&writer, kind.quality, TRUE);
  if (!kind.subsampled) {
    writer.comp_info[0].h_samp_factor = 1;
    writer.comp_info[0].v_samp_factor = 1;
    if (four) writer.comp_info[3].h_samp_factor = writer.comp_info[3].v_samp_factor = 1;
  }
  if (kind.progressive) jpeg_simple_progression(&writer);
  jpeg_start_compress(&writer, TRUE);
  for (const auto& [marker, data] : kind.markers)
    jpeg_write_marker(&writer, JPEG_APP0 + marker, reinterpret_cast<const JOCTET*>(data.data()),
                      static_cast<unsigned int>(data.size()));
  std::vector<uint8_t> row;
  for (uint32_t y = 0; y < image.height; ++y) {
    row.clear();
    for (uint32_t x = 0; x < image.width; ++x) {
      const Rgba pixel = image.at(x, y);
      if (four) {  // as much black as there can be, inverted
        const int white = std::max({pixel.r, pixel.g, pixel.b, uint8_t{1}});
        for (const int value : {pixel.r, pixel.g, pixel.b})
          row.push_back(static_cast<uint8_t>(value * 255 / white));
        row.push_back(static_cast<uint8_t>(white));
      } else {
        row.push_back(pixel.r);
        if (!kind.grey) row.insert(row.end(), {pixel.g, pixel.b});
      }
    }
    JSAMPROW rows[1] = {row.data()};
    jpeg_write_scanlines(&writer, rows, 1);
  }
  jpeg_finish_compress(&writer);
  jpeg_destroy_compress(&writer);
  Bytes file = bytes_of(memory, size);
  std::free(memory);
  return file;
}

Bytes gif(const std::vector<GifFrame>& frames, uint32_t width, uint32_t height) {
  Bytes file;
  int code = 0;
  GifFileType* writer = EGifOpen(
      &file,
      [](GifFileType* its, const GifByteType* bytes, int size) {
        put(*static_cast<Bytes*>(its->UserData), std::as_bytes(std::span(bytes, static_cast<size_t>(size))));
        return size;
      },
      &code);
  const auto check = [](int answer) {
    if (answer != GIF_OK) give_up("giflib");
  };
  const auto map_of = [](const Palette& palette) {
    ColorMapObject* map =
        GifMakeMapObject(static_cast<int>(std::bit_ceil(std::max<size_t>(palette.size(), 2))), nullptr);
    for (size_t i = 0; i < palette.size(); ++i) map->Colors[i] = {palette[i].r, palette[i].g, palette[i].b};
    return map;
  };
  EGifSetGifVersion(writer, true);
  const Image& first = frames.at(0).image;
  const Palette global = palette_of(first);
  ColorMapObject* global_map = map_of(global);
  check(EGifPutScreenDesc(writer, static_cast<int>(width != 0 ? width : first.width),
                          static_cast<int>(height != 0 ? height : first.height), 8, 0,
                          frames.at(0).local_palette ? nullptr : global_map));
  for (const GifFrame& frame : frames) {
    const Palette palette = frame.local_palette ? palette_of(frame.image) : global;
    const auto transparent = std::ranges::find_if(palette, [](const Rgba& colour) { return colour.a < 128; });
    const GraphicsControlBlock control{DISPOSAL_UNSPECIFIED, false, 10,
                                       transparent != palette.end()
                                           ? static_cast<int>(transparent - palette.begin())
                                           : NO_TRANSPARENT_COLOR};
    GifByteType block[4];
    check(EGifPutExtension(writer, GRAPHICS_EXT_FUNC_CODE,
                           static_cast<int>(EGifGCBToExtension(&control, block)), block));
    ColorMapObject* map = frame.local_palette ? map_of(palette) : nullptr;
    check(EGifPutImageDesc(writer, static_cast<int>(frame.left), static_cast<int>(frame.top),
                           static_cast<int>(frame.image.width), static_cast<int>(frame.image.height),
                           frame.interlaced, map));
    GifFreeMapObject(map);
    const auto put_row = [&](uint32_t y) {
      std::vector<uint8_t> row;
      for (uint32_t x = 0; x < frame.image.width; ++x) row.push_back(index_in(palette, frame.image.at(x, y)));
      check(EGifPutLine(writer, row.data(), static_cast<int>(row.size())));
    };
    if (frame.interlaced) {
      for (const auto& [from, step] : {std::pair{0U, 8U}, {4U, 8U}, {2U, 4U}, {1U, 2U}})
        for (uint32_t y = from; y < frame.image.height; y += step) put_row(y);
    } else {
      for (uint32_t y = 0; y < frame.image.height; ++y) put_row(y);
    }
  }
  check(EGifCloseFile(writer, nullptr));
  GifFreeMapObject(global_map);
  return file;
}

namespace {

struct WebpPicture {
  WebPPicture its{};
  explicit WebpPicture(const Image& image) {
    if (WebPPictureInit(&its) == 0) give_up("libwebp");
    its.use_argb = 1;
    its.width = static_cast<int>(image.width);
    its.height = static_cast<int>(image.height);
    if (WebPPictureImportRGBA(&its, &image.pixels.data()->r, static_cast<int>(image.width * 4)) == 0)
      give_up("libwebp");
  }
  WebpPicture(const WebpPicture&) = delete;
  WebpPicture& operator=(const WebpPicture&) = delete;
  ~WebpPicture() { WebPPictureFree(&its); }
};

Bytes taken(WebPData& data) {
  Bytes bytes = bytes_of(data.bytes, data.size);
  WebPDataClear(&data);
  return bytes;
}

}  // namespace

Bytes webp(const Image& image, const WebpKind& kind) {
  WebPConfig config;
  if (WebPConfigPreset(&config, WEBP_PRESET_DEFAULT, 95) == 0) give_up("libwebp");
  config.method = 0;
  if (kind.lossless && WebPConfigLosslessPreset(&config, 0) == 0) give_up("libwebp");
  config.exact = 1;
  WebpPicture picture(image);
  WebPMemoryWriter writer;
  WebPMemoryWriterInit(&writer);
  picture.its.writer = WebPMemoryWrite;
  picture.its.custom_ptr = &writer;
  if (WebPEncode(&config, &picture.its) == 0) give_up("libwebp");
  Bytes file = bytes_of(writer.mem, writer.size);
  WebPMemoryWriterClear(&writer);
  if (kind.chunks.empty()) return file;
  WebPMux* mux = WebPMuxNew();
  const auto data = [](const Bytes& bytes) {
    return WebPData{reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
  };
  const WebPData plain = data(file);
  if (WebPMuxSetImage(mux, &plain, 1) != WEBP_MUX_OK) give_up("libwebpmux");
  for (const auto& [name, content] : kind.chunks) {
    const WebPData chunk = data(content);
    if (WebPMuxSetChunk(mux, name.c_str(), &chunk, 1) != WEBP_MUX_OK) give_up("libwebpmux");
  }
  WebPData assembled{};
  if (WebPMuxAssemble(mux, &assembled) != WEBP_MUX_OK) give_up("libwebpmux");
  WebPMuxDelete(mux);
  return taken(assembled);
}

Bytes animated_webp(const std::vector<Image>& frames) {
  WebPAnimEncoder* writer = WebPAnimEncoderNew(static_cast<int>(frames.at(0).width),
                                               static_cast<int>(frames.at(0).height), nullptr);
  WebPConfig config;
  if (writer == nullptr || WebPConfigInit(&config) == 0 || WebPConfigLosslessPreset(&config, 0) == 0)
    give_up("libwebpmux");
  int time = 0;
  for (const Image& frame : frames) {
    WebpPicture picture(frame);
    if (WebPAnimEncoderAdd(writer, &picture.its, time, &config) == 0)
      give_up(WebPAnimEncoderGetError(writer));
    time += 100;
  }
  WebPData assembled{};
  if (WebPAnimEncoderAdd(writer, nullptr, time, nullptr) == 0 ||
      WebPAnimEncoderAssemble(writer, &assembled) == 0)
    give_up(WebPAnimEncoderGetError(writer));
  WebPAnimEncoderDelete(writer);
  return taken(assembled);
}

Image read_png(std::span<const std::byte> bytes) {
  png_image file{};
  file.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&file, bytes.data(), bytes.size()) == 0) return {};
  file.format = PNG_FORMAT_RGBA;
  Image image{file.width, file.height, std::vector<Rgba>(size_t{file.width} * file.height)};
  if (png_image_finish_read(&file, nullptr, image.pixels.data(), 0, nullptr) == 0) return {};
  return image;
}

Image read_jpeg(std::span<const std::byte> bytes) {
  jpeg_decompress_struct reader{};
  jpeg_error_mgr errors{};
  reader.err = jpeg_std_error(&errors);  // it ends the test program
  jpeg_create_decompress(&reader);
  jpeg_mem_src(&reader, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&reader, TRUE);
  reader.out_color_space = JCS_EXT_RGBA;
  jpeg_start_decompress(&reader);
  Image image{reader.output_width, reader.output_height, {}};
  image.pixels.resize(size_t{image.width} * image.height);
  while (reader.output_scanline < reader.output_height) {
    JSAMPROW rows[1] = {&image.pixels[size_t{reader.output_scanline} * image.width].r};
    jpeg_read_scanlines(&reader, rows, 1);
  }
  jpeg_finish_decompress(&reader);
  jpeg_destroy_decompress(&reader);
  return image;
}

Image read_gif(std::span<const std::byte> bytes) {
  int code = 0;
  std::span<const std::byte> rest = bytes;
  GifFileType* reader = DGifOpen(
      &rest,
      [](GifFileType* its, GifByteType* to, int size) {
        auto& left = *static_cast<std::span<const std::byte>*>(its->UserData);
        const size_t count = std::min(left.size(), static_cast<size_t>(size));
        std::memcpy(to, left.data(), count);
        left = left.subspan(count);
        return static_cast<int>(count);
      },
      &code);
  if (reader == nullptr) return {};
  Image image;
  if (DGifSlurp(reader) == GIF_OK && reader->ImageCount == 1) {
    const SavedImage& frame = reader->SavedImages[0];
    GraphicsControlBlock control{DISPOSAL_UNSPECIFIED, false, 0, NO_TRANSPARENT_COLOR};
    (void)DGifSavedExtensionToGCB(reader, 0, &control);
    image = draw(static_cast<uint32_t>(frame.ImageDesc.Width), static_cast<uint32_t>(frame.ImageDesc.Height),
                 [&](uint32_t x, uint32_t y) {
                   const int index = frame.RasterBits[y * static_cast<uint32_t>(frame.ImageDesc.Width) + x];
                   const GifColorType& colour = reader->SColorMap->Colors[index];
                   return index == control.TransparentColor
                              ? Rgba{0, 0, 0, 0}
                              : Rgba{colour.Red, colour.Green, colour.Blue, 255};
                 });
  }
  (void)DGifCloseFile(reader, nullptr);
  return image;
}

Image read_webp(std::span<const std::byte> bytes) {
  int width = 0;
  int height = 0;
  uint8_t* rgba =
      WebPDecodeRGBA(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), &width, &height);
  if (rgba == nullptr) return {};
  Image image{static_cast<uint32_t>(width), static_cast<uint32_t>(height), {}};
  image.pixels.resize(size_t{image.width} * image.height);
  std::memcpy(image.pixels.data(), rgba, image.pixels.size() * 4);
  WebPFree(rgba);
  return image;
}

namespace {

// A terminal's half of DEC sixels: as little as VT340s, xterm and others agree on.
class SixelTerminal {
 public:
  explicit SixelTerminal(std::string_view text) : text_(text) {}

  // False: it isn't well formed.
  bool run(Image& image) {
    int any = 0;
    if (!take("\x1bP") || !number(any) || !take(";") || !number(mode_) || !take(";") || !number(any) ||
        !take("q"))
      return false;
    int width = 0;
    int height = 0;
    if (!take("\"") || !number(any) || !take(";") || !number(any) || !take(";") || !number(width) ||
        !take(";") || !number(height) || width <= 0 || height <= 0)
      return false;
    image = draw(static_cast<uint32_t>(width), static_cast<uint32_t>(height),
                 [](uint32_t, uint32_t) { return Rgba{0, 0, 0, 0}; });
    while (!take("\x1b\\")) {
      if (text_.empty()) return false;
      if (take("#")) {
        if (!select_or_define()) return false;
      } else if (take("$")) {
        x_ = 0;
      } else if (take("-")) {
        x_ = 0;
        y_ += 6;
      } else {
        int count = 1;
        if (take("!") && !number(count)) return false;
        if (text_.empty() || text_[0] < '?' || text_[0] > '~') return false;
        const int bits = text_[0] - '?';
        text_.remove_prefix(1);
        for (; count > 0; --count, ++x_)
          for (uint32_t row = 0; row < 6; ++row) {
            if ((bits >> row & 1) == 0) continue;
            if (x_ >= image.width || y_ + row >= image.height) return false;
            image.pixels[size_t{y_ + row} * image.width + x_] = colours_[colour_];
          }
      }
    }
    return text_.empty() && mode_ == 1;
  }

 private:
  bool take(std::string_view what) {
    if (!text_.starts_with(what)) return false;
    text_.remove_prefix(what.size());
    return true;
  }
  bool number(int& value) {
    if (text_.empty() || std::isdigit(static_cast<unsigned char>(text_[0])) == 0) return false;
    value = 0;
    while (!text_.empty() && std::isdigit(static_cast<unsigned char>(text_[0])) != 0) {
      value = value * 10 + (text_[0] - '0');
      if (value > 1'000'000) return false;
      text_.remove_prefix(1);
    }
    return true;
  }
  bool select_or_define() {
    int index = 0;
    if (!number(index) || index > 255) return false;
    colour_ = static_cast<size_t>(index);
    if (!take(";")) return true;
    int kind = 0;
    std::array<int, 3> percent{};
    if (!number(kind) || kind != 2) return false;
    for (int& value : percent)
      if (!take(";") || !number(value) || value > 100) return false;
    const auto level = [](int value) { return static_cast<uint8_t>((value * 255 + 50) / 100); };
    colours_[colour_] = {level(percent[0]), level(percent[1]), level(percent[2]), 255};
    return true;
  }

  std::string_view text_;
  int mode_ = 0;
  size_t colour_ = 0;
  std::array<Rgba, 256> colours_{};
  uint32_t x_ = 0;
  uint32_t y_ = 0;
};

}  // namespace

Image read_sixel(std::span<const std::byte> bytes) {
  Image image;
  return SixelTerminal({reinterpret_cast<const char*>(bytes.data()), bytes.size()}).run(image) ? image
                                                                                               : Image{};
}

}  // namespace subako::picture::fixture
