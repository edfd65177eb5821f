#include "core/node.h"

#include <algorithm>
#include <deque>

#include "base/limits.h"
#include "core/builder_job.h"
#include "core/off_loop.h"
#include "core/package_build.h"
#include "core/picture_builders.h"
#include "core/report.h"
#include "core/see.h"
#include "core/start_run.h"
#include "core/worker_link.h"

namespace subako::core {

namespace {

protocol::Crash host_crash(std::string message) {
  protocol::Crash crash;
  crash.cause = protocol::Cause::kHost;
  crash.message = std::move(message);
  return crash;
}

}  // namespace

class Node::Impl : public std::enable_shared_from_this<Node::Impl> {
 public:
  Impl(asio::io_context& io, Scratch& scratch, NodeOptions options)
      : io_(io), scratch_(scratch), options_(std::move(options)), slots_changed_(io), off_loop_(io) {
    pictures_ = std::make_shared<PictureBuilders>(io_, options_);
  }

  Task<Result<BuildResult>> build(BundleSource source, std::function<void(BuildPhase)> progress);
  Task<Result<PackResult>> pack(BundleSource source, Fd out);
  Task<Result<UploadCheck>> upload_check(BuiltPackagePtr package, CallWatch* watch);
  Task<Result<CallRecord>> call(CallRequest request, CallWatch* watch);
  Task<Result<std::vector<SeenBlock>>> see(const CallRecord& record, const Trees& trees, SeeOptions options,
                                           CallWatch* watch) {
    return core::see(io_, pictures_, record, trees, options, watch);
  }
  Task<Result<ShownPicture>> redraw(const ShownPicture& picture, PictureWish wish, CallWatch* watch) {
    return core::redraw(pictures_, picture, wish, watch);
  }
  void stop();

 private:
  // A slot of a worker, given back when this is destroyed.
  struct Slot {
    Slot(std::shared_ptr<Impl> of, std::shared_ptr<WorkerLink> on)
        : node(std::move(of)), worker(std::move(on)) {
      ++worker->slots_taken;
    }
    Slot(Slot&&) noexcept = default;
    Slot& operator=(Slot&&) = delete;
    ~Slot() {
      if (!worker) return;
      --worker->slots_taken;
      node->slots_changed_.notify();
    }
    std::shared_ptr<Impl> node;
    std::shared_ptr<WorkerLink> worker;
  };
  using RunEnd = std::variant<child::Ended, protocol::Crash, protocol::WasCancelled>;
  struct Ran {
    RunEnd end;
    std::shared_ptr<WorkerLink> worker;  // null where it was cancelled before it had one
    double queue_ms = 0;
    double load_ms = 0;
  };

  // The one with the fewest calls; a new one rather than one that has any.
  Result<std::shared_ptr<WorkerLink>> any_worker();
  // Null: every slot is taken.
  Result<std::shared_ptr<WorkerLink>> free_worker();
  // None: cancelled while waiting.
  Task<Result<std::optional<Slot>>> take_slot(CallWatch* watch);
  Task<Result<Ran>> run(BuiltPackagePtr package, StartRun start, CallWatch* watch);

  asio::io_context& io_;
  Scratch& scratch_;
  NodeOptions options_;
  std::vector<std::shared_ptr<WorkerLink>> workers_;
  std::deque<uint64_t> queue_;  // tickets of those that wait for a slot, first come first served
  uint64_t next_ticket_ = 0;
  Signal slots_changed_;
  OffLoop off_loop_;
  std::shared_ptr<PictureBuilders> pictures_;  // with the frames of its pictures
  bool stopped_ = false;
};

void Node::Impl::stop() {
  stopped_ = true;
  for (const auto& worker : workers_) worker->die("subako was shut down");
  workers_.clear();
  pictures_->stop();
  slots_changed_.notify();
  off_loop_.stop();
}

Task<Result<Node::BuildResult>> Node::Impl::build(BundleSource source,
                                                  std::function<void(BuildPhase)> progress) {
  const auto self = shared_from_this();
  BuildRoom room{io_, scratch_, options_, off_loop_, [this] { return any_worker(); }};
  co_return co_await build_package(std::move(room), std::move(source), std::move(progress));
}

Task<Result<Node::PackResult>> Node::Impl::pack(BundleSource source, Fd out) {
  const auto self = shared_from_this();
  BuilderJob job;
  job.message.mutable_pack()->set_directory(source.directory);
  job.descriptors.push_back(std::move(source.file));
  job.descriptors.push_back(std::move(out));
  CO_TRY(auto word, co_await run_builder(io_, options_, std::move(job)));
  if (auto* refused = std::get_if<Refused>(&word)) co_return PackResult(std::move(*refused));
  const auto& packed = std::get<child::Packed>(word);
  co_return PackResult(Packed{packed.bytes(), packed.files(), warnings_of(packed.warnings())});
}

Result<std::shared_ptr<WorkerLink>> Node::Impl::any_worker() {
  if (stopped_) return fail(Code::kUnavailable, "subako is shutting down");
  std::erase_if(workers_, [](const auto& worker) { return worker->dead(); });
  const auto least =
      std::ranges::min_element(workers_, {}, [](const auto& worker) { return worker->slots_taken; });
  const bool idle = least != workers_.end() && (*least)->slots_taken == 0;
  if (!idle && workers_.size() < options_.workers) {
    TRY(auto worker, WorkerLink::start(io_, options_.child_executable, options_.guests_per_worker,
                                       options_.worker_queue_bytes));
    return workers_.emplace_back(std::move(worker));
  }
  if (least == workers_.end()) return fail(Code::kUnavailable, "this node has no workers");
  return *least;
}

Result<std::shared_ptr<WorkerLink>> Node::Impl::free_worker() {
  TRY(auto least, any_worker());
  if (least->slots_taken >= least->guests()) return nullptr;
  return least;
}

Task<Result<std::optional<Node::Impl::Slot>>> Node::Impl::take_slot(CallWatch* watch) {
  const auto self = shared_from_this();
  const uint64_t ticket = next_ticket_++;
  queue_.push_back(ticket);
  struct Leave {
    Impl& node;
    uint64_t ticket;
    ~Leave() {
      std::erase(node.queue_, ticket);
      node.slots_changed_.notify();
    }
  };
  const Leave leave{*this, ticket};
  const CallWatchBinding binding(watch, [this] { slots_changed_.notify(); });
  for (;;) {
    if (watch != nullptr && watch->cancelled()) co_return std::nullopt;
    if (queue_.front() == ticket) {
      CO_TRY(auto worker, free_worker());
      if (worker) co_return Slot(self, std::move(worker));
    }
    co_await slots_changed_.wait_until(Time::max());
  }
}

Task<Result<Node::Impl::Ran>> Node::Impl::run(BuiltPackagePtr package, StartRun start, CallWatch* watch) {
  const auto self = shared_from_this();
  const Time begin = now();
  CO_TRY(auto slot, co_await take_slot(watch));
  if (!slot) co_return Ran{protocol::WasCancelled{}, nullptr, ms_since(begin), 0};
  const std::shared_ptr<WorkerLink> worker = slot->worker;
  // A worker that can't even begin is our failure, not this call's.
  auto ready = co_await worker->ready(watch);
  if (!ready) co_return fail(Code::kInternal, std::move(ready).error());
  Ran ran{protocol::WasCancelled{}, worker, ms_since(begin), 0};
  if (!*ready) co_return ran;
  const Time queued = now();
  auto module = co_await worker->load(package, watch);
  ran.load_ms = ms_since(queued);
  if (!module && worker->dead()) {
    ran.end = host_crash(std::move(module).error().message);
    co_return ran;
  }
  if (!module) co_return std::unexpected(std::move(module).error());
  if (!*module || (watch != nullptr && watch->cancelled())) co_return ran;
  start.message.set_module(**module);
  const auto allowed = std::chrono::milliseconds(start.message.timeout_ms()) + options_.worker_silence;
  auto ended = co_await worker->run(std::move(start.message), std::move(start.descriptors), allowed, watch);
  if (ended) {
    ran.end = *std::move(ended);
  } else {
    ran.end = host_crash(std::move(ended).error());
  }
  co_return ran;
}

Task<Result<UploadCheck>> Node::Impl::upload_check(BuiltPackagePtr package, CallWatch* watch) {
  const auto self = shared_from_this();
  const Time begin = now();
  CO_TRY(StartRun start, start_upload(*package));
  CO_TRY(Ran ran, co_await run(package, std::move(start), watch));
  if (std::holds_alternative<protocol::WasCancelled>(ran.end))
    co_return fail(Code::kCancelled, "the upload check was cancelled");
  if (const auto* crash = std::get_if<protocol::Crash>(&ran.end))
    co_return fail(Code::kInternal, crash->message);
  auto report = upload_report_of(std::get<child::Ended>(std::move(ran.end)));
  if (!report) {
    ran.worker->die("the worker process " + report.error() + " and was ended");
    co_return fail(Code::kInternal, "the worker process " + report.error() + " and was ended");
  }
  if (report->cancelled) co_return fail(Code::kCancelled, "the upload check was cancelled");
  if (report->host_fault) co_return fail(Code::kInternal, report->host_fault->message);
  UploadCheck check;
  check.warnings = std::move(report->warnings);
  check.measures = std::move(report->measures);
  check.measures.queue_ms = ran.queue_ms;
  check.measures.load_ms = ran.load_ms;
  check.measures.total_ms = ms_since(begin);
  if (auto* tools = std::get_if<std::vector<protocol::Tool>>(&report->verdict)) {
    check.verdict = CheckedPackage{package, std::move(*tools)};
  } else {
    check.verdict = std::get<Refused>(std::move(report->verdict));
  }
  co_return check;
}

Task<Result<CallRecord>> Node::Impl::call(CallRequest request, CallWatch* watch) {
  const auto self = shared_from_this();
  const Time begin = now();
  if (request.package->find(request.tool) == nullptr) {
    co_return fail(Code::kNotFound, "the package lists no tool " + request.tool);
  }
  if (request.timeout.count() < 1 || request.timeout > limits::kMaxTimeout) {
    co_return fail(Code::kInvalid, "a timeout is between 1 ms and 300 s, not " +
                                       std::to_string(request.timeout.count()) + " ms");
  }
  CO_TRY(StartRun start, start_call(request));
  CO_TRY(Ran ran, co_await run(request.package->built, std::move(start), watch));
  CallRecord record;
  if (auto* ended = std::get_if<child::Ended>(&ran.end)) {
    if (auto reported = call_record_of(std::move(*ended))) {
      record = *std::move(reported);
    } else {
      const std::string reason = "the worker process " + reported.error() + " and was ended";
      ran.worker->die(reason);
      record.outcome = host_crash(reason);
    }
  } else if (auto* crash = std::get_if<protocol::Crash>(&ran.end)) {
    record.outcome = std::move(*crash);
  } else {
    record.outcome = protocol::WasCancelled{};
  }
  record.data_enabled = request.trees->data.valid();
  record.measures.queue_ms = ran.queue_ms;
  record.measures.load_ms = ran.load_ms;
  record.measures.total_ms = ms_since(begin);
  co_return record;
}

Node::Node(boost::asio::io_context& io, Scratch& scratch, NodeOptions options)
    : impl_(std::make_shared<Impl>(io, scratch, std::move(options))) {}

Node::~Node() {
  impl_->stop();
}

Task<Result<Node::BuildResult>> Node::build(BundleSource source, std::function<void(BuildPhase)> progress) {
  return impl_->build(std::move(source), std::move(progress));
}
Task<Result<Node::PackResult>> Node::pack(BundleSource source, Fd out) {
  return impl_->pack(std::move(source), std::move(out));
}
Task<Result<UploadCheck>> Node::upload_check(BuiltPackagePtr package, CallWatch* watch) {
  return impl_->upload_check(std::move(package), watch);
}
Task<Result<CallRecord>> Node::call(CallRequest request, CallWatch* watch) {
  return impl_->call(std::move(request), watch);
}
Task<Result<std::vector<SeenBlock>>> Node::see(const CallRecord& record, const Trees& trees,
                                               SeeOptions options, CallWatch* watch) {
  return impl_->see(record, trees, options, watch);
}
Task<Result<ShownPicture>> Node::redraw(const ShownPicture& picture, PictureWish wish, CallWatch* watch) {
  return impl_->redraw(picture, wish, watch);
}

}  // namespace subako::core
