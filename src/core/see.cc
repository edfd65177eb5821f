#include "core/see.h"

#include "base/copy_fd.h"
#include "core/picture_source.h"
#include "core/render.h"
#include "core/signal.h"
#include "core/worker_link.h"
#include "protocol/picture_note.h"

namespace subako::core {

namespace {

using Kind = protocol::ViewBlock::Kind;

// How many blocks are looked at before others on the loop have their turn: each may open a file.
constexpr size_t kBlocksAtOnce = 64;

// Owned together by see() and the coroutines of its pictures, as either may be destroyed first when the loop
// goes. These use what see() was given only while it waits for them.
struct Seeing {
  Seeing(asio::io_context& io, std::shared_ptr<PictureBuilders> by, const Trees& from, SeeOptions how)
      : builders(std::move(by)), batch(builders->batch()), trees(from), options(how), changed(io) {}
  std::shared_ptr<PictureBuilders> builders;
  PictureBatchPtr batch;
  const Trees& trees;
  SeeOptions options;
  std::vector<SeenBlock> blocks;
  size_t pending = 0;
  Signal changed;
};

PictureSource source_of(const protocol::ViewBlock& block, const Trees& trees) {
  return block.base64 ? picture_in_base64(*block.base64) : picture_in_volume(*block.path, trees);
}

void make_note(protocol::ViewBlock& block, std::string_view reason) {
  block.kind = Kind::kNote;
  block.text = protocol::picture_note(block.what, reason);
}

protocol::PictureFacts facts_of(const ShownPicture& picture) {
  return {.format = picture.format,
          .width = picture.width,
          .height = picture.height,
          .source_width = picture.source_width,
          .source_height = picture.source_height,
          .scaled = !picture.untouched,
          .first_frame = picture.first_frame,
          .bytes = picture.size};
}

// By value: the frame holds what it needs. Its file is opened anew when its turn has come: those that wait
// hold none.
Task<void> show(std::shared_ptr<Seeing> seeing, size_t index) {
  const std::function<PictureSource()> source = [&seeing, index] {
    return source_of(seeing->blocks.at(index).block, seeing->trees);
  };
  auto picture = co_await seeing->builders->prepare(source, {}, seeing->batch);
  SeenBlock& seen = seeing->blocks.at(index);
  seen.block.base64.reset();
  if (!picture) {
    make_note(seen.block, picture.error());
  } else {
    if (seeing->options.reads_images) {
      // What an inline picture claims to be says no more than what it is.
      const bool linked = seen.block.path.has_value();
      seen.block.kind = Kind::kPicture;
      seen.block.text = protocol::picture_line(linked ? seen.block.what : "", facts_of(*picture));
    } else {
      make_note(seen.block, "the model reads no pictures");
    }
    seen.picture = *std::move(picture);
  }
  --seeing->pending;
  seeing->changed.notify();
}

// Looks at what the blocks name; a block that is no picture to be shown has its text afterwards.
class Search {
 public:
  explicit Search(const Trees& trees) : trees_(trees) {}

  bool is_picture(protocol::ViewBlock& block) {
    const bool meant = block.kind == Kind::kPicture;
    if (!meant && !block.path) return false;
    std::string reason;
    if (found_ == limits::kPictures) {
      reason = protocol::too_many_reason();
    } else if (PictureSource source = source_of(block, trees_)) {
      ++found_;
      return true;
    } else {
      reason = std::move(source).error();
    }
    // A link that nothing says is a picture, and that is none, stays the line that it is.
    if (meant) make_note(block, reason);
    return false;
  }

 private:
  const Trees& trees_;
  uint32_t found_ = 0;
};

std::optional<Error> ended_early(const Seeing& seeing) {
  if (seeing.builders->stopped()) return Error{Code::kUnavailable, "subako is shutting down"};
  if (seeing.batch->cancelled) return Error{Code::kCancelled, "cancelled"};
  return std::nullopt;
}

}  // namespace

Task<Result<std::vector<SeenBlock>>> see(asio::io_context& io, std::shared_ptr<PictureBuilders> builders,
                                         const CallRecord& record, const Trees& trees, SeeOptions options,
                                         CallWatch* watch) {
  const auto seeing = std::make_shared<Seeing>(io, std::move(builders), trees, options);
  if (watch != nullptr && watch->cancelled()) seeing->batch->cancelled = true;
  const CallWatchBinding binding(watch, [seeing] { seeing->builders->cancel(*seeing->batch); });
  for (protocol::ViewBlock& block : view_of(record))
    seeing->blocks.push_back({std::move(block), std::nullopt});
  Search search(trees);
  std::vector<size_t> found;
  for (size_t i = 0; i < seeing->blocks.size(); ++i) {
    if (i % kBlocksAtOnce == 0) co_await seeing->changed.wait_until(now());
    if (auto error = ended_early(*seeing)) co_return std::unexpected(*std::move(error));
    protocol::ViewBlock& block = seeing->blocks[i].block;
    if (search.is_picture(block))
      found.push_back(i);
    else
      block.base64.reset();
  }
  seeing->pending = found.size();
  for (const size_t index : found) asio::co_spawn(io, show(seeing, index), kUnattended);
  while (seeing->pending > 0) co_await seeing->changed.wait_until(Time::max());
  if (auto error = ended_early(*seeing)) co_return std::unexpected(*std::move(error));
  co_return std::move(seeing->blocks);
}

Task<Result<ShownPicture>> redraw(std::shared_ptr<PictureBuilders> builders, const ShownPicture& picture,
                                  PictureWish wish, CallWatch* watch) {
  const PictureBatchPtr batch = builders->batch();
  if (watch != nullptr && watch->cancelled()) co_return fail(Code::kCancelled, "cancelled");
  const CallWatchBinding binding(watch, [&] { builders->cancel(*batch); });
  const std::function<PictureSource()> source = [&picture]() -> PictureSource {
    auto copy = copy_of(picture.bytes.get(), "handing it to the process that decodes it");
    if (!copy) return std::unexpected(std::move(copy).error().message);
    return *std::move(copy);
  };
  auto drawn = co_await builders->prepare(source, wish, batch);
  if (batch->cancelled) co_return fail(Code::kCancelled, "cancelled");
  if (!drawn) co_return fail(Code::kLimit, "a picture can't be drawn on this terminal: " + drawn.error());
  co_return *std::move(drawn);
}

}  // namespace subako::core
