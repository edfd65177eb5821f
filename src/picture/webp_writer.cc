#include <webp/encode.h>
#include <webp/mux.h>

#include <memory>

#include "base/limits.h"
#include "base/result.h"
#include "picture/out_buffer.h"
#include "picture/write.h"

namespace subako::picture {

namespace {

constexpr float kQuality = 90;
constexpr int kLosslessEffort = 4;  // of 0 to 9: a second for the largest picture

int on_write(const uint8_t* bytes, size_t size, const WebPPicture* picture) {
  static_cast<OutBuffer*>(picture->custom_ptr)->put(bytes, size);
  return 1;
}

// The picture in a container that has the profile too.
Written with_profile(const std::vector<std::byte>& picture, const std::vector<std::byte>& profile) {
  const std::unique_ptr<WebPMux, decltype(&WebPMuxDelete)> mux(WebPMuxNew(), WebPMuxDelete);
  const auto data = [](const std::vector<std::byte>& bytes) {
    return WebPData{reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
  };
  const WebPData picture_data = data(picture);
  const WebPData profile_data = data(profile);
  WebPData assembled{};
  if (mux == nullptr || WebPMuxSetImage(mux.get(), &picture_data, 0) != WEBP_MUX_OK ||
      WebPMuxSetChunk(mux.get(), "ICCP", &profile_data, 0) != WEBP_MUX_OK ||
      WebPMuxAssemble(mux.get(), &assembled) != WEBP_MUX_OK)
    return std::unexpected(not_written("its colour profile"));
  const auto bytes = std::as_bytes(std::span(assembled.bytes, assembled.size));
  std::vector<std::byte> copy(bytes.begin(), bytes.end());
  WebPDataClear(&assembled);
  return copy;
}

}  // namespace

Written write_webp(const Pixels& pixels, const SourceInfo& source) {
  WebPConfig config;
  WebPPicture picture;
  const bool ready =
      WebPConfigPreset(&config, WEBP_PRESET_DEFAULT, kQuality) != 0 && WebPPictureInit(&picture) != 0;
  if (!ready || (source.lossless && WebPConfigLosslessPreset(&config, kLosslessEffort) == 0))
    return std::unexpected(not_written("libwebp is of another version"));
  OutBuffer out;
  picture.use_argb = source.lossless ? 1 : 0;
  picture.width = static_cast<int>(pixels.width());
  picture.height = static_cast<int>(pixels.height());
  picture.writer = on_write;
  picture.custom_ptr = &out;
  const auto import = opaque(pixels) ? WebPPictureImportRGBX : WebPPictureImportRGBA;
  const bool written = import(&picture, pixels.all().data(), static_cast<int>(pixels.width() * 4)) != 0 &&
                       WebPEncode(&config, &picture) != 0;
  const int code = picture.error_code;
  WebPPictureFree(&picture);
  if (!written) return std::unexpected(not_written("libwebp answers " + std::to_string(code)));
  if (!out.fits()) return std::unexpected(too_many_bytes(pixels, out.wanted()));
  if (source.colour_profile.empty()) return out.copy();
  TRY(std::vector<std::byte> whole, with_profile(out.copy(), source.colour_profile));
  if (whole.size() > limits::kPictureBytes) return std::unexpected(too_many_bytes(pixels, whole.size()));
  return whole;
}

}  // namespace subako::picture
