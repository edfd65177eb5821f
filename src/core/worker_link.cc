#include "core/worker_link.h"

#include <algorithm>

#include "base/copy_fd.h"
#include "base/limits.h"
#include "child/envelope.h"

namespace subako::core {

namespace {

child::Ended cancelled_before_it_began() {
  child::Ended ended;
  ended.mutable_cancelled();
  return ended;
}

}  // namespace

Result<std::shared_ptr<WorkerLink>> WorkerLink::start(asio::io_context& io, const WorkerOptions& options,
                                                      std::unique_ptr<WorkerEvents> events) {
  child::SpawnOptions spawn;
  spawn.executable = options.executable;
  spawn.arguments = {"worker"};
  spawn.cell = options.cell;
  TRY(auto channel, Channel::start(io, spawn, options.queue_bytes));
  auto link = std::make_shared<WorkerLink>(io, channel, options.guests, std::move(events));
  channel->on_sent([weak = std::weak_ptr(link)] {
    if (const auto self = weak.lock()) self->changed_.notify();
  });
  child::ToWorker configure;
  configure.mutable_configure()->set_guests(options.guests);
  configure.mutable_configure()->set_kept_bytes(options.kept_bytes);
  link->send(configure);
  asio::co_spawn(io, read_loop(link), kUnattended);
  return link;
}

WorkerLink::WorkerLink(asio::io_context& io, std::shared_ptr<Channel> channel, uint32_t guests,
                       std::unique_ptr<WorkerEvents> events)
    : io_(io), channel_(std::move(channel)), changed_(io), guests_(guests), events_(std::move(events)) {}

Task<void> WorkerLink::read_loop(std::shared_ptr<WorkerLink> self) {
  std::optional<std::string> wrong;
  while (!self->dead() && !wrong) {
    auto frame = co_await self->channel_->receive(std::nullopt);
    if (!frame && (frame.error().code == Code::kInvalid || frame.error().code == Code::kTooLarge)) {
      wrong = "broke the protocol (" + frame.error().message + ")";
    } else if (!frame || !*frame) {
      break;  // how it ended says more
    } else if (!(*frame)->descriptors.empty() || (*frame)->lost) {
      wrong = "sent descriptors";
    } else {
      wrong = self->take((*frame)->body);
    }
  }
  if (wrong) self->die("the worker process " + *wrong + " and was ended");
  const child::ExitStatus status =
      co_await self->channel_->ended(self->dead() ? std::chrono::milliseconds(0) : limits::kChildExit);
  self->die("the worker process that ran the function " + child::exit_sentence(status));
  self->gone_ = true;
  self->changed_.notify();
}

Task<void> WorkerLink::gone() {
  const auto self = shared_from_this();
  const Time deadline = now() + 2 * limits::kChildReap;
  while (!gone_ && now() < deadline) co_await changed_.wait_until(deadline);
}

void WorkerLink::retire() {
  for (const auto& [number, weak] : volumes_) {
    const auto volume = weak.lock();
    if (volume && volume->holder().get() == this) volume->let_go();
  }
  end("the worker process was not needed any more", true);
}

void WorkerLink::end(std::string reason, bool by_us) {
  if (dead()) return;
  death_ = std::move(reason);
  channel_->kill();
  changed_.notify();
  for (const auto& [id, run] : runs_) run->changed.notify();
  runs_.clear();
  events_->died(ready_, by_us);
}

void WorkerLink::send(const child::ToWorker& message, std::vector<Fd> descriptors) {
  child::Frame frame{child::encode(message), std::move(descriptors)};
  const auto sent = channel_->send(std::move(frame));
  if (sent) return;
  if (sent.error().code == Code::kLimit)
    return die("the worker process did not read what it was sent and was ended");
  die("a message to the worker: " + sent.error().message);
}

// A coroutine costs as much as a call's bookkeeping: who has nothing to wait for asks done() first.
Task<WorkerLink::OrDeath<bool>> WorkerLink::wait_until(std::function<bool()> done, Time deadline,
                                                       CallWatch* watch, const char* did_not) {
  const auto self = shared_from_this();
  const CallWatchBinding binding(watch, [this] { changed_.notify(); });
  while (!dead() && !done()) {
    if (watch != nullptr && watch->cancelled()) co_return false;
    if (now() < deadline) {
      co_await changed_.wait_until(deadline);
    } else {
      die("the worker process did not " + std::string(did_not) + " in time and was ended");
    }
  }
  if (dead()) co_return std::unexpected(*death_);
  co_return true;
}

Task<WorkerLink::OrDeath<bool>> WorkerLink::ready(CallWatch* watch) {
  return wait_until([this] { return ready_; }, ready_deadline_, watch, "get ready");
}

std::optional<WorkerLink::NumberedModule> WorkerLink::module_of(const BuiltPackagePtr& package) const {
  for (const auto& [id, module] : modules_) {
    if (module->package.lock() == package) return NumberedModule{id, module};
  }
  return std::nullopt;
}

void WorkerLink::drop_unused_modules() {
  std::erase_if(modules_, [this](const auto& entry) {
    const auto& [id, module] = entry;
    // One that is still being loaded is answered for later.
    if (!module->package.expired() || !module->loaded) return false;
    child::ToWorker message;
    message.mutable_drop_module()->set_module(id);
    send(message);
    return true;
  });
}

Result<WorkerLink::NumberedModule> WorkerLink::give_module(const BuiltPackagePtr& package) {
  std::vector<Fd> descriptors;
  TRY(Fd copy, copy_of(package->module.get(), "handing a module to a worker"));
  descriptors.push_back(std::move(copy));
  const uint64_t id = next_id_++;
  auto module = std::make_shared<Module>(package, now() + limits::kWorkerLoad, std::nullopt);
  modules_.emplace(id, module);
  child::ToWorker message;
  message.mutable_load_module()->set_module(id);
  send(message, std::move(descriptors));
  return NumberedModule{id, std::move(module)};
}

Task<Result<std::optional<uint64_t>>> WorkerLink::load(BuiltPackagePtr package, CallWatch* watch) {
  const auto self = shared_from_this();
  drop_unused_modules();
  std::optional<NumberedModule> given = module_of(package);
  if (!given) {
    CO_TRY(given, give_module(package));
  }
  const std::shared_ptr<Module> module = given->module;
  OrDeath<bool> loaded = true;
  if (dead() || !module->loaded) {
    // Named: g++ 12 destroys a lambda that owns something twice where it is made within a co_await.
    std::function<bool()> is_loaded = [module] { return module->loaded.has_value(); };
    loaded = co_await wait_until(std::move(is_loaded), module->deadline, watch, "take the module");
  }
  if (!loaded) co_return fail(Code::kUnavailable, loaded.error());
  if (!*loaded) co_return std::nullopt;
  if (!module->loaded->empty())
    co_return fail(Code::kInternal, "the worker could not load the compiled module: " + *module->loaded);
  co_return given->id;
}

Task<WorkerLink::OrDeath<child::Ended>> WorkerLink::run(child::StartRun start, std::vector<Fd> descriptors,
                                                        std::chrono::milliseconds allowed, CallWatch* watch,
                                                        std::shared_ptr<SessionVolume> volume) {
  const auto self = shared_from_this();
  const Time deadline = now() + allowed;
  OrDeath<bool> room = true;
  if (dead() || !channel_->has_room()) {
    std::function<bool()> has_room = [this] { return channel_->has_room(); };
    room = co_await wait_until(std::move(has_room), deadline, watch, "read what it was sent");
  }
  if (!room) co_return std::unexpected(room.error());
  if (!*room) co_return cancelled_before_it_began();
  Run run(io_, next_id_++, watch);
  start.set_run(run.id);
  start.set_stderr_live(watch != nullptr);
  if (volume) {
    CO_TRY(child::Volume given, take_over(volume));
    given.mutable_most()->CopyFrom(start.volume().most());
    *start.mutable_volume() = std::move(given);
    run.volume = volume->number();
  }
  child::ToWorker message;
  *message.mutable_start_run() = std::move(start);
  runs_[run.id] = &run;
  send(message, std::move(descriptors));
  const CallWatchBinding binding(
      watch, [this, &run] { cancel(run); }, [this, &run](uint32_t bytes) { taken(run, bytes); });
  if (watch != nullptr) watch->started();

  while (!run.ended && !dead()) {
    const Time next = run.cancel_deadline ? std::min(*run.cancel_deadline, deadline) : deadline;
    if (now() < next) {
      co_await run.changed.wait_until(next);
    } else if (run.cancel_deadline && now() >= *run.cancel_deadline) {
      die("the worker process did not confirm a cancel in time and was ended");
    } else {
      die("the worker process did not end a run in time and was ended");
    }
  }
  if (!run.ended) co_return std::unexpected(*death_);
  tell_rest_of_stderr(run);
  co_return *std::move(run.ended);
}

std::expected<child::Volume, std::string> WorkerLink::take_over(const std::shared_ptr<SessionVolume>& volume) {
  drop_closed_volumes();
  child::Volume message;
  message.set_number(volume->number());
  const auto holder = volume->holder();
  if (holder.get() == this) return message;
  if (holder != nullptr) {
    const auto is_its = [&](const auto& run) { return run.second->volume == volume->number(); };
    if (std::ranges::any_of(holder->runs_, is_its)) {
      return std::unexpected("the session has calls in two workers at once, which is a fault of subako itself");
    }
  }
  // They were there before this call waited for room; a worker that had them may have died meanwhile.
  const auto counts = volume->counts();
  if (!counts) return std::unexpected("the worker process that knew what the session's Volume holds has died: try again");
  if (holder != nullptr) holder->drop_volume(volume->number());
  message.mutable_counts()->set_bytes(counts->bytes);
  message.mutable_counts()->set_entries(counts->entries);
  volume->give_to(shared_from_this());
  volumes_[volume->number()] = volume;
  return message;
}

void WorkerLink::drop_volume(uint64_t number) {
  if (volumes_.erase(number) == 0 || dead()) return;
  child::ToWorker message;
  message.mutable_drop_volume()->set_volume(number);
  send(message);
}

void WorkerLink::drop_closed_volumes() {
  std::vector<uint64_t> closed;
  for (const auto& [number, volume] : volumes_) {
    if (volume.expired()) closed.push_back(number);
  }
  for (const uint64_t number : closed) drop_volume(number);
}

void WorkerLink::cancel(Run& run) {
  if (run.cancel_deadline || run.ended || dead()) return;
  run.cancel_deadline = now() + limits::kWorkerCancel;
  child::ToWorker message;
  message.mutable_cancel()->set_run(run.id);
  run.changed.notify();
  send(message);
}

void WorkerLink::taken(Run& run, uint32_t bytes) {
  const uint32_t credit = static_cast<uint32_t>(std::min<uint64_t>(bytes, run.stderr_in_flight));
  run.stderr_in_flight -= credit;
  if (credit == 0 || run.ended || dead()) return;
  child::ToWorker message;
  message.mutable_stderr_taken()->set_run(run.id);
  message.mutable_stderr_taken()->set_bytes(credit);
  send(message);
}

// What of the kept stderr did not come live: the reader was slow, or it was said at the very end.
void WorkerLink::tell_rest_of_stderr(Run& run) {
  if (run.watch == nullptr) return;
  const std::string_view kept = run.ended->stderr();
  const uint64_t left_out = run.ended->stderr_left_out();
  const uint64_t total = left_out + kept.size();
  if (total < left_out || total <= run.stderr_seen) return;
  const uint64_t rest = total - run.stderr_seen;
  const size_t told = static_cast<size_t>(std::min<uint64_t>(rest, kept.size()));
  run.watch->stderr_arrived(rest - told, kept.substr(kept.size() - told));
}

std::optional<std::string> WorkerLink::take(const std::string& body) {
  auto message = child::decode<child::FromWorker>(body);
  if (!message) return "sent what is no message";
  switch (message->event_case()) {
    case child::FromWorker::kReady:
      return take_ready(std::move(*message->mutable_ready()));
    case child::FromWorker::kModuleLoaded: {
      const auto module = modules_.find(message->module_loaded().module());
      if (module == modules_.end() || module->second->loaded)
        return "answered for a module that it wasn't given";
      module->second->loaded = message->module_loaded().error();
      // Those that wait for it hold it; the next call gives it anew.
      if (!module->second->loaded->empty()) modules_.erase(module);
      changed_.notify();
      return std::nullopt;
    }
    case child::FromWorker::kStderr:
      return take_stderr(message->stderr());
    case child::FromWorker::kEnded:
      return take_ended(std::move(*message->mutable_ended()));
    case child::FromWorker::kMemoryWanted:
      return take_memory_wanted(message->memory_wanted());
    case child::FromWorker::kMemoryReturned:
      if (message->memory_returned().bytes() == 0) return "gave back no memory";
      if (!events_->memory_returned(message->memory_returned().bytes()))
        return "gave back memory that it had not been granted";
      return std::nullopt;
    case child::FromWorker::kVolumeCounted:
      return take_counts(message->volume_counted());
    default:
      return "sent an unknown message";
  }
}

std::optional<std::string> WorkerLink::take_ready(child::Ready ready) {
  if (ready_) return "said twice that it is ready";
  if (ready.identity().size() > limits::kEngineIdentityBytes) return "said more of itself than there can be";
  if (ready.guests() == 0) return "said that it can run nothing";
  ready_ = true;
  identity_ = std::move(*ready.mutable_identity());
  events_->ready(std::min(guests_, ready.guests()));
  changed_.notify();
  return std::nullopt;
}

std::optional<std::string> WorkerLink::take_memory_wanted(const child::MemoryWanted& wanted) {
  if (wanted.least() == 0 || wanted.bytes() < wanted.least()) return "asked for less memory than it needs";
  child::ToWorker message;
  message.mutable_memory_allowed()->set_bytes(events_->memory_wanted(wanted.least(), wanted.bytes()));
  send(message);
  return std::nullopt;
}

std::optional<std::string> WorkerLink::take_stderr(const child::Stderr& message) {
  const auto found = runs_.find(message.run());
  if (found == runs_.end()) return "sent stderr of a run that there isn't";
  Run& run = *found->second;
  if (run.watch == nullptr) return "sent stderr that nobody asked for";
  if (message.text().empty())
    return "sent empty stderr";  // it costs no credit: a flood of it would pile up here
  const uint64_t seen = run.stderr_seen + message.left_out();
  if (seen < run.stderr_seen) return "left out more stderr than there can be";
  run.stderr_in_flight += message.text().size();
  if (run.stderr_in_flight > limits::kStderrInFlightBytes) return "sent more stderr than it had credit for";
  run.stderr_seen = seen + message.text().size();
  run.watch->stderr_arrived(message.left_out(), message.text());
  return std::nullopt;
}

// Of a Volume that isn't this worker's any more it may still have been on its way.
std::optional<std::string> WorkerLink::take_counts(const child::VolumeCounted& message) {
  const auto found = volumes_.find(message.volume());
  const auto volume = found != volumes_.end() ? found->second.lock() : nullptr;
  if (!volume) return std::nullopt;
  if (message.has_counts()) volume->told({.bytes = message.counts().bytes(), .entries = message.counts().entries()});
  if (message.left()) volume->left();
  return std::nullopt;
}

std::optional<std::string> WorkerLink::take_ended(child::Ended ended) {
  const auto found = runs_.find(ended.run());
  if (found == runs_.end()) return "ended a run that there isn't";
  if (ended.leaves() && found->second->volume) {
    const auto held = volumes_.find(*found->second->volume);
    if (const auto volume = held != volumes_.end() ? held->second.lock() : nullptr) volume->leaves();
  }
  found->second->ended = std::move(ended);
  found->second->changed.notify();
  runs_.erase(found);
  return std::nullopt;
}

}  // namespace subako::core
