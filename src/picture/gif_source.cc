// GIF by giflib: the first frame, on the canvas of the whole.
#include <gif_lib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "picture/gif_blocks.h"
#include "picture/source.h"

namespace subako::picture {

namespace {

constexpr int kNone = -1;

class GifSource final : public Source {
 public:
  explicit GifSource(std::span<const std::byte> bytes) : bytes_(bytes) {}
  ~GifSource() override {
    if (gif_ != nullptr) (void)DGifCloseFile(gif_, nullptr);
  }

  // Up to the data of the first frame: giflib has taken its code size too.
  [[nodiscard]] bool read_header() {
    int code = 0;
    gif_ = DGifOpen(this, on_read, &code);
    if (gif_ == nullptr) return failed(GifErrorString(code));
    GifRecordType kind = UNDEFINED_RECORD_TYPE;
    while (true) {
      if (DGifGetRecordType(gif_, &kind) != GIF_OK) return failed();
      if (kind == IMAGE_DESC_RECORD_TYPE) break;
      if (kind != EXTENSION_RECORD_TYPE) return failed("it has no frame");
      if (!read_extension()) return failed();
    }
    if (DGifGetImageDesc(gif_) != GIF_OK) return failed();
    const GifImageDesc& frame = gif_->Image;
    left_ = to_unsigned(frame.Left);
    top_ = to_unsigned(frame.Top);
    frame_width_ = to_unsigned(frame.Width);
    frame_height_ = to_unsigned(frame.Height);
    interlaced_ = frame.Interlace;
    const ColorMapObject* palette = frame.ColorMap != nullptr ? frame.ColorMap : gif_->SColorMap;
    if (palette == nullptr) return failed("it has no palette");
    set_palette(*palette);
    // A canvas that its first frame doesn't fit on is wrong, not the frame; so do browsers.
    info_.width = std::max(to_unsigned(gif_->SWidth), left_ + frame_width_);
    info_.height = std::max(to_unsigned(gif_->SHeight), top_ + frame_height_);
    return frame_width_ != 0 && frame_height_ != 0 ? true : failed("its frame is empty");
  }
  // Is there a second one? To know before the first is decoded, its data are walked.
  void note_rest() { info_.animated = gif_rest(after_data(bytes_.subspan(at_))).more_frames; }

  [[nodiscard]] bool row(std::span<uint8_t> rgba) override {
    if (indices_.empty() && !start()) return false;
    const uint32_t y = next_row_++;
    std::ranges::fill(rgba, uint8_t{0});
    if (y < top_ || y - top_ >= frame_height_) return true;
    std::span<const uint8_t> line = indices_;
    if (interlaced_)
      line = whole_.row(y - top_);
    else if (!read_line(indices_))
      return false;
    uint8_t* to = &rgba[size_t{left_} * 4];
    for (const uint8_t index : line) {
      std::memcpy(to, colours_[index].data(), 4);
      to += 4;
    }
    return true;
  }

  [[nodiscard]] bool end() override {
    return gif_rest(bytes_.subspan(at_)).whole ? true : failed("it ends too early");
  }
  [[nodiscard]] Unshowable why() const override { return out_of_memory_ ? no_memory() : damaged(why_); }

 private:
  static uint32_t to_unsigned(int value) { return static_cast<uint32_t>(std::max(value, 0)); }

  static int on_read(GifFileType* gif, GifByteType* to, int size) {
    auto* self = static_cast<GifSource*>(gif->UserData);
    const size_t given = std::min<size_t>(to_unsigned(size), self->bytes_.size() - self->at_);
    if (given != 0) std::memcpy(to, self->bytes_.data() + self->at_, given);
    self->at_ += given;
    return static_cast<int>(given);
  }

  bool failed(const char* why = nullptr) {
    if (why == nullptr && gif_ != nullptr) why = GifErrorString(gif_->Error);
    why_ = why != nullptr ? why : "";
    return false;
  }

  bool read_extension() {
    int label = 0;
    GifByteType* block = nullptr;
    if (DGifGetExtension(gif_, &label, &block) != GIF_OK) return false;
    while (block != nullptr) {
      GraphicsControlBlock control{};
      if (label == GRAPHICS_EXT_FUNC_CODE && DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK)
        transparent_ = control.TransparentColor;
      if (DGifGetExtensionNext(gif_, &block) != GIF_OK) return false;
    }
    return true;
  }

  void set_palette(const ColorMapObject& palette) {
    colours_.fill({0, 0, 0, 255});  // indices past its end are black
    const size_t count = std::min<size_t>(to_unsigned(palette.ColorCount), colours_.size());
    for (size_t i = 0; i < count; ++i) {
      const GifColorType& colour = palette.Colors[i];
      colours_[i] = {colour.Red, colour.Green, colour.Blue, 255};
    }
    if (transparent_ >= 0 && transparent_ < static_cast<int>(colours_.size()))
      colours_[static_cast<size_t>(transparent_)] = {};
  }

  bool start() {
    indices_.resize(frame_width_);
    if (!interlaced_) return true;
    std::optional<Pixels> whole = Pixels::make(frame_width_, frame_height_, 1);
    if (!whole) {
      out_of_memory_ = true;
      return false;
    }
    whole_ = *std::move(whole);
    constexpr std::array<std::pair<uint32_t, uint32_t>, 4> kPasses = {{{0, 8}, {4, 8}, {2, 4}, {1, 2}}};
    for (const auto& [first, step] : kPasses)
      for (uint32_t y = first; y < frame_height_; y += step)
        if (!read_line(whole_.row(y))) return false;
    return true;
  }

  bool read_line(std::span<uint8_t> indices) {
    return DGifGetLine(gif_, indices.data(), static_cast<int>(indices.size())) == GIF_OK ? true : failed();
  }

  // What follows a frame's data; empty where they are cut off.
  static std::span<const std::byte> after_data(std::span<const std::byte> data) {
    size_t at = 0;
    while (at < data.size()) {
      const auto size = std::to_integer<size_t>(data[at++]);
      if (size == 0) return data.subspan(at);
      at += size;
    }
    return {};
  }

  std::span<const std::byte> bytes_;
  size_t at_ = 0;  // what giflib has taken
  GifFileType* gif_ = nullptr;
  int transparent_ = kNone;
  uint32_t left_ = 0;
  uint32_t top_ = 0;
  uint32_t frame_width_ = 0;
  uint32_t frame_height_ = 0;
  bool interlaced_ = false;
  std::array<std::array<uint8_t, 4>, 256> colours_{};
  std::vector<uint8_t> indices_;  // of a line
  Pixels whole_;                  // of the frame, where interlaced
  uint32_t next_row_ = 0;
  bool out_of_memory_ = false;
  std::string why_;
};

}  // namespace

Opened open_gif(std::span<const std::byte> bytes, uint64_t most_pixels) {
  auto source = std::make_unique<GifSource>(bytes);
  if (!source->read_header()) return std::unexpected(source->why());
  const SourceInfo& info = source->info();
  if (Unshowable refused = refused_size(info.width, info.height, most_pixels); !refused.reason.empty())
    return std::unexpected(std::move(refused));
  source->note_rest();
  return source;
}

}  // namespace subako::picture
