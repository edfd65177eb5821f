#include "wasi/host.h"

#include <algorithm>

#include "base/result.h"

namespace subako::wasi {

namespace {

constexpr size_t kStreams = 3;

std::vector<Root> roots_of(std::vector<Preopen> preopens) {
  std::vector<Root> roots;
  roots.reserve(preopens.size());
  for (Preopen& preopen : preopens) {
    roots.push_back(
        {std::move(preopen.path), preopen.writable && preopen.has_tree, preopen.has_tree, std::nullopt});
  }
  return roots;
}

}  // namespace

Host::Host(World world, const Clock& clock, Stdio& stdio, Blocking& blocking)
    : arguments_(std::move(world.arguments)),
      environment_(std::move(world.environment)),
      clock_(clock),
      stdio_(stdio),
      blocking_(blocking),
      roots_(roots_of(std::move(world.preopens))),
      // Preopens are the host's doing: however many there are, each has a number.
      descriptors_(std::max<size_t>(world.descriptors, kStreams + roots_.size())),
      budget_(world.write_budget),
      ledger_(world.ledger) {
  auto add = [this, next = uint32_t{0}](Descriptor descriptor) mutable {
    descriptors_.put(static_cast<FdNumber>(next++), std::move(descriptor));
  };
  add({.what = Stream::kStdin, .base = kStdinRights});
  add({.what = Stream::kStdout, .base = kOutputRights});
  add({.what = Stream::kStderr, .base = kOutputRights});
  for (const Root& root : roots_) {
    add({.what = Directory{.root = &root, .opened = std::nullopt, .listing = {}},
         .base = kDirectoryRights,
         .inheriting = kInheritingRights,
         .preopen = true});
  }
}

Host::~Host() {
  if (leave()) return;
  (void)descriptors_.about_to_close();
  std::shared_ptr<void> left = std::make_shared<Descriptors>(std::move(descriptors_));
  (void)task_->abandon(left);
}

bool Host::leave() {
  if (task_ != nullptr && task_->give_up()) return false;
  task_ = nullptr;
  const bool slowly = descriptors_.about_to_close();
  Descriptors left = std::exchange(descriptors_, Descriptors(0));
  if (!slowly) return true;
  const auto shared = std::make_shared<Descriptors>(std::move(left));
  blocking_.hand_over(std::make_shared<BlockingTask>([shared](const auto&) { return std::errc{}; }));
  return true;
}

void Host::bind(size_t preopen, Fd directory) {
  roots_.at(preopen).tree.emplace(std::move(directory));
}

Try<Descriptor*> Host::descriptor(FdNumber fd, Rights rights) {
  Descriptor* found = descriptors_.find(fd);
  if (found == nullptr) return refuse(Errno::kBadf);
  if (has(found->base, rights)) return found;
  constexpr Rights kReadWrite = Rights::kFdRead | Rights::kFdWrite;
  const bool of_reading_or_writing = (without(rights, found->base) & kReadWrite) != Rights::kNone;
  return refuse(of_reading_or_writing ? Errno::kBadf : Errno::kNotCapable);
}

Try<File*> Host::file(FdNumber fd, Rights rights, Errno stream) {
  Descriptor* found = descriptors_.find(fd);
  if (found == nullptr || found->directory() != nullptr) return refuse(Errno::kBadf);
  if (found->stream() != nullptr) return refuse(stream);
  TRY_VOID(descriptor(fd, rights));
  return found->file();
}

Try<uint64_t> Host::may_write(uint64_t offset, uint64_t size, uint64_t wanted) {
  const uint64_t of_call = budget_.allowed(offset, size, wanted);
  const uint64_t of_volume = ledger_ != nullptr ? ledger_->allowed(offset, size, wanted) : wanted;
  if (of_call == 0) return refuse(Errno::kDquot);
  if (of_volume == 0) {
    volume_full_ = Full::kBytes;
    return refuse(Errno::kNoSpc);
  }
  return std::min(of_call, of_volume);
}

Reply Host::may_resize(uint64_t size, uint64_t new_size) {
  if (!budget_.allows_size(size, new_size)) return refuse(Errno::kDquot);
  if (ledger_ == nullptr || ledger_->allows_size(size, new_size)) return {};
  volume_full_ = Full::kBytes;
  return refuse(Errno::kNoSpc);
}

void Host::made() {
  if (ledger_ != nullptr) ledger_->made();
}

Refused Host::not_made(std::errc why) {
  if (why == std::errc::no_space_on_device && room() == volume::Room::kNone) volume_full_ = Full::kEntries;
  return why;
}

void Host::begin_work(BlockingTask::Work work, const Progress& progress) {
  task_ = std::make_shared<BlockingTask>(std::move(work));
  progress_ = progress;
  blocking_.hand_over(task_);
}

Try<Progress> Host::finish_work() {
  if (!task_->done()) return refuse(wait({.at = {}, .task = true}, progress_));
  const std::shared_ptr<BlockingTask> done = std::move(task_);
  const Progress progress = take_progress();
  if (done->result() != std::errc{}) return refuse(done->result());
  return progress;
}

Reply Host::close(Fd file) {
  if (!file.valid()) return {};
  begin_work([file = std::move(file)](const auto&) { return std::errc{}; });
  TRY_VOID(finish_work());
  return {};
}

Refused Host::wait(const Wake& wake, const Progress& progress) {
  wake_ = wake;
  progress_ = progress;
  return abi::Wait{};
}

}  // namespace subako::wasi
