#include "core/picture_builders.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <tuple>

#include "base/quote.h"
#include "child/envelope.h"
#include "child/messages.pb.h"
#include "protocol/sixel.h"

namespace subako::core {

namespace {

using Prepared = std::expected<ShownPicture, std::string>;
using Word = std::expected<child::Pictured, std::string>;

child::SpawnOptions process(const NodeOptions& options) {
  child::SpawnOptions spawn;
  spawn.executable = options.child_executable;
  spawn.arguments = {"builder"};
  if (options.sandbox) spawn.cell = options.sandbox->cell();
  spawn.cpu_limit = options.picture_cpu;
  spawn.file_limit = limits::kPictureBytes;
#ifndef __SANITIZE_ADDRESS__
  spawn.memory_limit = limits::kPictureMemoryBytes;  // a sanitizer reserves more than this before main
#endif
  return spawn;
}

std::unexpected<std::string> undecodable(const std::string& why) {
  return std::unexpected("it could not be decoded: " + why);
}

std::unexpected<std::string> misbehaved(const std::string& how) {
  return undecodable("the process that decodes it " + how);
}

std::unexpected<std::string> late(const NodeOptions& options) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(options.picture_wall).count();
  return undecodable("the pictures of this result took longer than " + std::to_string(seconds) + " s");
}

// A builder that ended without a word.
std::unexpected<std::string> judge_end(const child::ExitStatus& status, const NodeOptions& options) {
  if (child::over_cpu(status, options.picture_cpu)) {
    return undecodable("it took more than " + std::to_string(options.picture_cpu.count()) + " s of CPU time");
  }
  if (child::over_memory(status, limits::kPictureMemoryBytes)) {
    return undecodable("it needed more than " + std::to_string(limits::kPictureMemoryBytes / limits::kMiB) +
                       " MiB of memory");
  }
  return misbehaved(child::exit_sentence(status));
}

// The last message of a builder.
Word word_of(const child::Frame& frame) {
  const auto message = child::decode<child::FromBuilder>(frame.body);
  if (!message || !frame.descriptors.empty()) return misbehaved("sent what is no message");
  if (message->has_pictured()) return message->pictured();
  if (message->has_unshowable()) return std::unexpected(shortened(message->unshowable().reason()));
  if (message->has_failed()) return undecodable(shortened(message->failed().message()));
  return misbehaved("answered what wasn't asked");
}

// What came of a builder from which no message comes.
Task<Word> judge_silence(std::shared_ptr<Channel> channel, std::optional<Error> failure,
                         NodeOptions options) {
  const bool is_late = failure && failure->code == Code::kTimeout;
  const bool talks_on = failure && (failure->code == Code::kInvalid || failure->code == Code::kTooLarge);
  if (is_late || talks_on) channel->kill();
  const child::ExitStatus status = co_await channel->ended(limits::kChildExit);
  if (is_late) co_return late(options);
  if (talks_on) co_return misbehaved("broke the protocol");
  if (channel->killed())
    co_return misbehaved("closed its connection without an answer, went on and was ended");
  co_return judge_end(status, options);
}

Task<Word> hear(std::shared_ptr<Channel> channel, Time deadline, NodeOptions options) {
  auto frame = co_await channel->receive(deadline);
  if (!frame || !*frame) {
    std::optional<Error> failure;
    if (!frame) failure = std::move(frame).error();
    co_return co_await judge_silence(channel, std::move(failure), options);
  }
  Word word = word_of(**frame);
  // Nobody writes to the memfd any more once it has ended.
  (void)co_await channel->ended(word ? limits::kChildExit : std::chrono::milliseconds(0));
  co_return word;
}

std::optional<protocol::PictureFormat> format_of(child::Pictured::Format format) {
  switch (format) {
    case child::Pictured::PNG:
      return protocol::PictureFormat::kPng;
    case child::Pictured::JPEG:
      return protocol::PictureFormat::kJpeg;
    case child::Pictured::GIF:
      return protocol::PictureFormat::kGif;
    case child::Pictured::WEBP:
      return protocol::PictureFormat::kWebp;
    default:
      return std::nullopt;
  }
}

bool sane_sizes(const child::Pictured& word, const PictureWish& wish) {
  if (word.width() < 1 || word.height() < 1 || word.source_width() < 1 || word.source_height() < 1)
    return false;
  if (uint64_t{word.source_width()} * word.source_height() > limits::kPicturePixels) return false;
  if (std::max(word.width(), word.height()) > wish.longest_side) return false;
  if (!word.untouched()) return true;
  // As it is stored, or turned (EXIF).
  return std::minmax(word.width(), word.height()) == std::minmax(word.source_width(), word.source_height());
}

// The bytes are what was announced and what was wished.
bool honest_bytes(const ShownPicture& picture, const PictureWish& wish) {
  const auto bytes = bytes_of(picture);
  if (!bytes) return false;
  if (picture.untouched && wish.as != PictureWish::As::kSame) return false;
  if (wish.as == PictureWish::As::kSixel) return protocol::is_sixel(*bytes);
  if (wish.as == PictureWish::As::kPng && picture.format != protocol::PictureFormat::kPng) return false;
  return protocol::picture_format_of(*bytes) == picture.format;
}

Prepared picture_of(const child::Pictured& word, const PictureWish& wish, Fd bytes) {
  const auto format = format_of(word.format());
  if (!format || !sane_sizes(word, wish)) return misbehaved("told of a picture that can't be");
  if (fcntl(bytes.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return misbehaved("still writes to it after its end");
  struct stat s{};
  if (fstat(bytes.get(), &s) != 0 || s.st_size <= 0 || static_cast<uint64_t>(s.st_size) != word.bytes() ||
      word.bytes() > limits::kPictureBytes) {
    return misbehaved("wrote another picture than it announced");
  }
  ShownPicture picture;
  picture.format = *format;
  picture.width = word.width();
  picture.height = word.height();
  picture.source_width = word.source_width();
  picture.source_height = word.source_height();
  picture.untouched = word.untouched();
  picture.first_frame = word.first_frame();
  picture.size = word.bytes();
  picture.bytes = std::move(bytes);
  if (!honest_bytes(picture, wish)) return misbehaved("wrote another picture than it announced");
  return picture;
}

child::ToBuilder message_of(const PictureWish& wish) {
  child::ToBuilder message;
  message.mutable_picture()->set_longest_side(wish.longest_side);
  switch (wish.as) {
    case PictureWish::As::kSame:
      message.mutable_picture()->set_as(child::Picture::SAME);
      break;
    case PictureWish::As::kPng:
      message.mutable_picture()->set_as(child::Picture::PNG);
      break;
    case PictureWish::As::kSixel:
      message.mutable_picture()->set_as(child::Picture::SIXEL);
      break;
  }
  return message;
}

}  // namespace

// A turn that was begun, ended when this is destroyed.
class PictureBuilders::Turn {
 public:
  Turn(std::shared_ptr<PictureBuilders> of, PictureBatchPtr batch)
      : of_(std::move(of)), batch_(std::move(batch)) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    if (channel_) of_->running_.erase(channel_.get());
    of_->end_turn(*batch_);
  }
  void runs(std::shared_ptr<Channel> channel) {
    channel_ = std::move(channel);
    of_->running_.emplace(channel_.get(), batch_.get());
  }

 private:
  std::shared_ptr<PictureBuilders> of_;
  PictureBatchPtr batch_;
  std::shared_ptr<Channel> channel_;
};

PictureBatchPtr PictureBuilders::batch() {
  auto batch = std::make_shared<PictureBatch>();
  batch->left = options_.picture_wall;
  batch->last_turn = next_number_++;
  return batch;
}

bool PictureBuilders::over(const PictureBatch& batch) const {
  return stopped_ || batch.cancelled ||
         (batch.running > 0 ? now() >= batch.since + batch.left : batch.left.count() <= 0);
}

void PictureBuilders::begin_turn(PictureBatch& batch) {
  ++taken_;
  batch.last_turn = next_number_++;
  if (batch.running++ > 0) return;
  batch.since = now();
  wake(batch);  // the rest of its pictures have a deadline now
}

void PictureBuilders::end_turn(PictureBatch& batch) {
  --taken_;
  if (--batch.running == 0) batch.left -= now() - batch.since;
  give_turns();
}

// The result with the fewest builders, then that which has waited longest since its last turn, then its
// pictures in order.
void PictureBuilders::give_turns() {
  while (!stopped_ && taken_ < limits::kPictureBuilders && !queue_.empty()) {
    const auto next = std::ranges::min_element(queue_, {}, [](const Waiting* one) {
      return std::tuple(one->batch.running, one->batch.last_turn, one->ticket);
    });
    Waiting& waiting = **next;
    queue_.erase(next);
    waiting.has_turn = true;
    waiting.woken.notify();
    begin_turn(waiting.batch);
  }
}

void PictureBuilders::wake(const PictureBatch& batch) {
  for (Waiting* waiting : queue_)
    if (&waiting->batch == &batch) waiting->woken.notify();
}

void PictureBuilders::cancel(PictureBatch& batch) {
  batch.cancelled = true;
  for (const auto& [channel, its_batch] : running_) {
    if (its_batch == &batch) channel->kill();
  }
  wake(batch);
}

void PictureBuilders::stop() {
  stopped_ = true;
  for (const auto& [channel, batch] : running_) channel->kill();
  for (Waiting* waiting : queue_) waiting->woken.notify();
}

Task<bool> PictureBuilders::wait_for_turn(PictureBatchPtr batch) {
  const auto self = shared_from_this();
  Waiting waiting{*batch, next_number_++, Signal(io_)};
  struct Leave {
    PictureBuilders& of;
    Waiting* who;
    ~Leave() { std::erase(of.queue_, who); }
  };
  const Leave leave{*this, &waiting};
  if (!over(*batch)) queue_.push_back(&waiting);
  give_turns();
  while (!waiting.has_turn && !over(*batch))
    co_await waiting.woken.wait_until(batch->running > 0 ? batch->since + batch->left : Time::max());
  co_return waiting.has_turn;
}

Task<Prepared> PictureBuilders::prepare(std::function<PictureSource()> source, PictureWish wish,
                                        PictureBatchPtr batch) {
  const auto self = shared_from_this();
  const auto too_late = [&] {
    return batch->cancelled || stopped_ ? undecodable("it was cancelled") : late(options_);
  };
  if (!co_await wait_for_turn(batch)) co_return too_late();
  Turn turn(self, batch);
  if (over(*batch)) co_return too_late();  // since the turn was given
  PictureSource opened = source();
  if (!opened) co_return std::unexpected(std::move(opened).error());
  Fd bytes(memfd_create("subako-picture", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  Fd for_builder(fcntl(bytes.get(), F_DUPFD_CLOEXEC, 0));
  if (!for_builder.valid()) co_return undecodable(system_error("making a memory file for it", errno).message);
  auto channel = Channel::start(io_, process(options_));
  if (!channel) co_return undecodable(channel.error().message);
  turn.runs(*channel);
  child::Frame job{child::encode(message_of(wish)), {}};
  job.descriptors.push_back(*std::move(opened));
  job.descriptors.push_back(std::move(for_builder));
  if (auto sent = (*channel)->send(std::move(job)); !sent) co_return undecodable(sent.error().message);
  Word word = co_await hear(*channel, batch->since + batch->left, options_);
  if (batch->cancelled || stopped_) co_return undecodable("it was cancelled");
  if (!word) co_return std::unexpected(std::move(word).error());
  co_return picture_of(*word, wish, std::move(bytes));
}

}  // namespace subako::core
