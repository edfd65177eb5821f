#include "core/see.h"

#include <fcntl.h>

#include <cerrno>

#include "core/picture_source.h"
#include "core/render.h"
#include "core/signal.h"
#include "core/worker_link.h"
#include "protocol/picture_note.h"

namespace subako::core {

namespace {

using Kind = protocol::ViewBlock::Kind;
using Source = std::expected<Fd, std::string>;

// How many blocks are looked at before others on the loop have their turn: each may open a file.
constexpr size_t kBlocksAtOnce = 64;

// Owned together by see() and the coroutines of its pictures, as either may be destroyed first when the loop
// goes.
struct Seeing {
  Seeing(asio::io_context& io, std::shared_ptr<PictureBuilders> by)
      : builders(std::move(by)), batch(builders->batch()), changed(io) {}
  std::shared_ptr<PictureBuilders> builders;
  PictureBatchPtr batch;
  std::vector<SeenBlock> blocks;
  size_t pending = 0;
  Signal changed;
};

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

// By value: the frame holds what it needs.
Task<void> show(std::shared_ptr<Seeing> seeing, size_t index, Fd source) {
  auto picture = co_await seeing->builders->prepare(std::move(source), {}, seeing->batch);
  SeenBlock& seen = seeing->blocks.at(index);
  if (picture) {
    // What an inline picture claims to be says no more than what it is.
    const bool linked = seen.block.path.has_value();
    seen.block.kind = Kind::kPicture;
    seen.block.text = protocol::picture_line(linked ? seen.block.what : "", facts_of(*picture));
    seen.picture = *std::move(picture);
  } else {
    make_note(seen.block, picture.error());
  }
  --seeing->pending;
  seeing->changed.notify();
}

// Opens what the blocks name; a block that is no picture to be shown has its text afterwards.
class Search {
 public:
  Search(const Trees& trees, SeeOptions options) : trees_(trees), options_(options) {}

  std::optional<Fd> look(protocol::ViewBlock& block) {
    const bool meant = block.kind == Kind::kPicture;
    if (!meant && !block.path) return std::nullopt;
    std::string reason;
    if (!options_.reads_images) {
      reason = "the model reads no pictures";
    } else if (found_ == limits::kPictures) {
      reason = protocol::too_many_reason();
    } else if (Source source =
                   block.base64 ? picture_in_base64(*block.base64) : picture_in_volume(*block.path, trees_)) {
      ++found_;
      return *std::move(source);
    } else {
      reason = std::move(source).error();
    }
    // A link that nothing says is a picture, and that is none, stays the line that it is.
    if (meant) make_note(block, reason);
    return std::nullopt;
  }

 private:
  const Trees& trees_;
  SeeOptions options_;
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
  const auto seeing = std::make_shared<Seeing>(io, std::move(builders));
  if (watch != nullptr && watch->cancelled()) seeing->batch->cancelled = true;
  const CallWatchBinding binding(watch, [seeing] { seeing->builders->cancel(*seeing->batch); });
  for (protocol::ViewBlock& block : view_of(record))
    seeing->blocks.push_back({std::move(block), std::nullopt});
  Search search(trees, options);
  std::vector<std::pair<size_t, Fd>> found;
  for (size_t i = 0; i < seeing->blocks.size(); ++i) {
    if (i % kBlocksAtOnce == 0) co_await seeing->changed.wait_until(now());
    if (auto error = ended_early(*seeing)) co_return std::unexpected(*std::move(error));
    protocol::ViewBlock& block = seeing->blocks[i].block;
    if (auto source = search.look(block)) found.emplace_back(i, *std::move(source));
    block.base64.reset();
  }
  seeing->pending = found.size();
  for (auto& [index, source] : found) asio::co_spawn(io, show(seeing, index, std::move(source)), kUnattended);
  while (seeing->pending > 0) co_await seeing->changed.wait_until(Time::max());
  if (auto error = ended_early(*seeing)) co_return std::unexpected(*std::move(error));
  co_return std::move(seeing->blocks);
}

Task<Result<ShownPicture>> redraw(std::shared_ptr<PictureBuilders> builders, const ShownPicture& picture,
                                  PictureWish wish, CallWatch* watch) {
  const PictureBatchPtr batch = builders->batch();
  if (watch != nullptr && watch->cancelled()) co_return fail(Code::kCancelled, "cancelled");
  const CallWatchBinding binding(watch, [&] { builders->cancel(*batch); });
  Fd source(fcntl(picture.bytes.get(), F_DUPFD_CLOEXEC, 0));
  if (!source.valid()) co_return std::unexpected(system_error("handing a picture to a builder", errno));
  auto drawn = co_await builders->prepare(std::move(source), wish, batch);
  if (batch->cancelled) co_return fail(Code::kCancelled, "cancelled");
  if (!drawn) co_return fail(Code::kInternal, "a picture can't be drawn: " + drawn.error());
  co_return *std::move(drawn);
}

}  // namespace subako::core
