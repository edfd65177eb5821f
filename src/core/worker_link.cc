#include "core/worker_link.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "base/limits.h"
#include "child/envelope.h"

namespace subako::core {

Result<std::shared_ptr<WorkerLink>> WorkerLink::start(asio::io_context& io, const std::string& executable,
                                                      uint32_t guests) {
  child::SpawnOptions options;
  options.executable = executable;
  options.arguments = {"worker"};
  TRY(auto channel, Channel::start(io, options));
  auto link = std::make_shared<WorkerLink>(io, std::move(channel));
  child::ToWorker configure;
  configure.mutable_configure()->set_guests(guests);
  link->send(configure);
  asio::co_spawn(io, read_loop(link), asio::detached);
  return link;
}

WorkerLink::WorkerLink(asio::io_context& io, std::shared_ptr<Channel> channel)
    : io_(io), channel_(std::move(channel)), changed_(io) {}

Task<void> WorkerLink::read_loop(std::shared_ptr<WorkerLink> self) {
  std::optional<std::string> wrong;
  while (!self->dead() && !wrong) {
    auto frame = co_await self->channel_->receive(std::nullopt);
    if (!frame && (frame.error().code == Code::kInvalid || frame.error().code == Code::kTooLarge)) {
      wrong = "broke the protocol (" + frame.error().message + ")";
    } else if (!frame || !*frame) {
      break;  // how it ended says more
    } else if (!(*frame)->descriptors.empty()) {
      wrong = "sent descriptors";
    } else {
      wrong = self->take((*frame)->body);
    }
  }
  if (wrong) self->die("the worker process " + *wrong + " and was ended");
  const child::ExitStatus status =
      co_await self->channel_->ended(self->dead() ? std::chrono::milliseconds(0) : limits::kChildExit);
  self->die("the worker process that ran the function " + child::exit_sentence(status));
}

void WorkerLink::die(std::string reason) {
  if (dead()) return;
  death_ = std::move(reason);
  channel_->kill();
  changed_.notify();
  for (const auto& [id, run] : runs_) run->changed.notify();
  runs_.clear();
}

void WorkerLink::send(const child::ToWorker& message, std::vector<Fd> descriptors) {
  child::Frame frame{child::encode(message), std::move(descriptors)};
  if (const auto sent = channel_->send(std::move(frame)); !sent)
    die("a message to the worker: " + sent.error().message);
}

Task<WorkerLink::OrDeath<void>> WorkerLink::ready() {
  const auto self = shared_from_this();
  const Time deadline = now() + limits::kWorkerStart;
  while (!ready_ && !dead()) {
    if (now() >= deadline) die("the worker process did not get ready in time");
    if (!dead()) co_await changed_.wait_until(deadline);
  }
  if (dead()) co_return std::unexpected(*death_);
  co_return OrDeath<void>{};
}

std::optional<uint64_t> WorkerLink::module_of(const BuiltPackagePtr& package) const {
  for (const auto& [id, module] : modules_) {
    if (module.package.lock() == package) return id;
  }
  return std::nullopt;
}

void WorkerLink::drop_unused_modules() {
  std::erase_if(modules_, [this](const auto& entry) {
    const auto& [id, module] = entry;
    // One that is still being loaded is answered for later.
    if (!module.package.expired() || !module.loaded) return false;
    child::ToWorker message;
    message.mutable_drop_module()->set_module(id);
    send(message);
    return true;
  });
}

Task<Result<uint64_t>> WorkerLink::load(BuiltPackagePtr package) {
  const auto self = shared_from_this();
  drop_unused_modules();
  std::optional<uint64_t> id = module_of(package);
  if (!id) {
    id = next_id_++;
    modules_[*id].package = package;
    std::vector<Fd> descriptors;
    descriptors.emplace_back(fcntl(package->module.get(), F_DUPFD_CLOEXEC, 0));
    if (!descriptors.front().valid())
      co_return std::unexpected(system_error("handing a module to a worker", errno));
    child::ToWorker message;
    message.mutable_load_module()->set_module(*id);
    send(message, std::move(descriptors));
  }
  const Time deadline = now() + limits::kWorkerLoad;
  while (!dead() && !modules_[*id].loaded) {
    if (now() >= deadline) die("the worker process did not take the module in time");
    if (!dead()) co_await changed_.wait_until(deadline);
  }
  if (dead()) co_return fail(Code::kUnavailable, *death_);
  if (const std::string error = *modules_[*id].loaded; !error.empty()) {
    modules_.erase(*id);
    co_return fail(Code::kInternal, "the worker could not load the compiled module: " + error);
  }
  co_return *id;
}

Task<WorkerLink::OrDeath<child::Ended>> WorkerLink::run(child::StartRun start, std::vector<Fd> descriptors,
                                                        std::chrono::milliseconds allowed, CallWatch* watch) {
  const auto self = shared_from_this();
  if (dead()) co_return std::unexpected(*death_);
  Run run(io_, next_id_++, watch);
  start.set_run(run.id);
  start.set_stderr_live(watch != nullptr);
  child::ToWorker message;
  *message.mutable_start_run() = std::move(start);
  runs_[run.id] = &run;
  send(message, std::move(descriptors));
  const CallWatchBinding binding(
      watch, [this, &run] { cancel(run); }, [this, &run](uint32_t bytes) { taken(run, bytes); });
  if (watch != nullptr) watch->started();

  const Time deadline = now() + allowed;
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
      if (ready_) return "said twice that it is ready";
      ready_ = true;
      changed_.notify();
      return std::nullopt;
    case child::FromWorker::kModuleLoaded: {
      const auto module = modules_.find(message->module_loaded().module());
      if (module == modules_.end() || module->second.loaded)
        return "answered for a module that it wasn't given";
      module->second.loaded = message->module_loaded().error();
      changed_.notify();
      return std::nullopt;
    }
    case child::FromWorker::kStderr:
      return take_stderr(message->stderr());
    case child::FromWorker::kEnded:
      return take_ended(std::move(*message->mutable_ended()));
    default:
      return "sent an unknown message";
  }
}

std::optional<std::string> WorkerLink::take_stderr(const child::Stderr& message) {
  const auto found = runs_.find(message.run());
  if (found == runs_.end()) return "sent stderr of a run that there isn't";
  Run& run = *found->second;
  if (run.watch == nullptr) return "sent stderr that nobody asked for";
  const uint64_t seen = run.stderr_seen + message.left_out();
  if (seen < run.stderr_seen) return "left out more stderr than there can be";
  run.stderr_in_flight += message.text().size();
  if (run.stderr_in_flight > limits::kStderrInFlightBytes) return "sent more stderr than it had credit for";
  run.stderr_seen = seen + message.text().size();
  run.watch->stderr_arrived(message.left_out(), message.text());
  return std::nullopt;
}

std::optional<std::string> WorkerLink::take_ended(child::Ended ended) {
  const auto found = runs_.find(ended.run());
  if (found == runs_.end()) return "ended a run that there isn't";
  found->second->ended = std::move(ended);
  found->second->changed.notify();
  runs_.erase(found);
  return std::nullopt;
}

}  // namespace subako::core
