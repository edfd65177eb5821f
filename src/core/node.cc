#include "core/node.h"

#include <algorithm>

#include "base/limits.h"
#include "base/machine_memory.h"
#include "core/builder_job.h"
#include "core/count_volume.h"
#include "core/memory_plan.h"
#include "core/off_loop.h"
#include "core/package_build.h"
#include "core/picture_builders.h"
#include "core/report.h"
#include "core/see.h"
#include "core/start_run.h"
#include "core/worker_pool.h"

namespace subako::core {

namespace {

protocol::Crash host_crash(std::string message) {
  protocol::Crash crash;
  crash.cause = protocol::Cause::kHost;
  crash.message = std::move(message);
  return crash;
}

Result<std::shared_ptr<WorkerPool>> make_pool(asio::io_context& io, const NodeOptions& options) {
  MemoryAsked asked;
  asked.bytes = options.memory_bytes;
  asked.available = available_memory();
  asked.maps = memory_maps_at_most();
  asked.workers = std::max(1U, options.workers);
  asked.guests = options.guests_per_worker;
  TRY(const MemoryPlan plan, plan_memory(asked));
  return std::make_shared<WorkerPool>(io, options, plan);
}

}  // namespace

class Node::Impl : public std::enable_shared_from_this<Node::Impl> {
 public:
  Impl(asio::io_context& io, Scratch& scratch, NodeOptions options)
      : io_(io),
        scratch_(scratch),
        options_(std::move(options)),
        volume_counted_(io),
        off_loop_(io),
        pool_(make_pool(io, options_)) {
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
  using RunEnd = std::variant<child::Ended, protocol::Crash, protocol::WasCancelled>;
  struct Ran {
    RunEnd end;
    std::optional<WorkerPool::Slot>
        slot;  // until its report is read; none where it was cancelled before it had one
    double queue_ms = 0;
    double load_ms = 0;
  };
  struct Asked {
    BuiltPackagePtr package;
    std::shared_ptr<SessionVolume> volume;  // null: of an upload check
    uint64_t arguments_bytes = 0;
    std::chrono::milliseconds timeout{};
    std::function<Result<StartRun>()> start;  // once it has a slot: what waits holds no descriptors
  };

  Task<Result<Ran>> run(Asked asked, CallWatch* watch);
  // In the slot that it has, of a worker that is ready.
  Task<Result<void>> run_in_slot(Ran& ran, const Asked& asked, CallWatch* watch);
  // What it reported can't be true: its worker is ended.
  static std::string end_worker(Ran& ran, const std::string& did);
  // The workers; the Error that there can't be any.
  Result<WorkerPool*> pool() {
    if (!pool_) return std::unexpected(pool_.error());
    return pool_->get();
  }

  asio::io_context& io_;
  Scratch& scratch_;
  NodeOptions options_;
  Signal volume_counted_;
  OffLoop off_loop_;
  std::shared_ptr<PictureBuilders> pictures_;  // with the frames of its pictures
  Result<std::shared_ptr<WorkerPool>> pool_;   // with the frames of its calls
};

void Node::Impl::stop() {
  if (pool_) (*pool_)->stop();
  pictures_->stop();
  off_loop_.stop();
  volume_counted_.notify();
}

Task<Result<Node::BuildResult>> Node::Impl::build(BundleSource source,
                                                  std::function<void(BuildPhase)> progress) {
  const auto self = shared_from_this();
  BuildRoom room{io_, scratch_, options_, off_loop_, [this]() -> Result<std::shared_ptr<WorkerLink>> {
                   TRY(WorkerPool* const workers, pool());
                   return workers->any_worker();
                 }};
  co_return co_await build_package(std::move(room), std::move(source), std::move(progress));
}

Task<Result<Node::PackResult>> Node::Impl::pack(BundleSource source, Fd out) {
  const auto self = shared_from_this();
  BuilderJob job;
  job.message.mutable_pack()->set_directory(source.directory);
  job.descriptors.push_back(std::move(source.file));
  job.descriptors.push_back(std::move(out));
  if (source.directory) {
    CO_TRY(job.descriptors.front(),
           child::hand_folder(options_.sandbox.get(), job.descriptors.front().get(), child::Access::kRead));
  }
  CO_TRY(auto word, co_await run_builder(io_, options_, std::move(job)));
  if (auto* refused = std::get_if<Refused>(&word)) co_return PackResult(std::move(*refused));
  const auto& packed = std::get<child::Packed>(word);
  co_return PackResult(Packed{packed.bytes(), packed.files(), warnings_of(packed.warnings())});
}

Task<Result<Node::Impl::Ran>> Node::Impl::run(Asked asked, CallWatch* watch) {
  const auto self = shared_from_this();
  const Time begin = now();
  CO_TRY(WorkerPool* const workers, pool());
  WorkerPool::Ask ask;
  if (asked.volume) ask.session = asked.volume->number();
  ask.version = workers->record_of(asked.package);
  ask.held_bytes = asked.arguments_bytes;
  if (options_.sandbox && options_.sandbox->cell().tier == child::Tier::kLandlock) {
    CO_TRY(const StartRun start, asked.start());
    ask.trees = trees_key(start);
  }
  // What waited for a worker that never came to life waits for the next one: it isn't lost.
  for (uint32_t starts = 1;; ++starts) {
    CO_TRY(auto slot, co_await workers->take(ask, watch));
    if (!slot) co_return Ran{protocol::WasCancelled{}, std::nullopt, ms_since(begin), 0};
    WorkerLink::OrDeath<bool> ready = true;
    if (!slot->worker()->is_ready()) ready = co_await slot->worker()->ready(watch);
    if (!ready && (starts >= limits::kFailedStarts || workers->stopped()))
      co_return fail(Code::kInternal, ready.error());
    ask.again = true;
    if (!ready) continue;
    Ran ran{protocol::WasCancelled{}, std::move(slot), ms_since(begin), 0};
    if (*ready) CO_TRY_VOID(co_await run_in_slot(ran, asked, watch));
    co_return std::move(ran);
  }
}

Task<Result<void>> Node::Impl::run_in_slot(Ran& ran, const Asked& asked, CallWatch* watch) {
  WorkerPool::Slot& slot = *ran.slot;
  WorkerLink& worker = *slot.worker();
  slot.begins();
  const Time begin = now();
  auto module = co_await worker.load(asked.package, watch);
  ran.load_ms = ms_since(begin);
  if (!module && worker.dead()) {
    ran.end = host_crash(std::move(module).error().message + slot.note());
    co_return Result<void>();
  }
  if (!module) co_return std::unexpected(std::move(module).error());
  if (!*module || (watch != nullptr && watch->cancelled())) co_return Result<void>();
  if (asked.volume) {
    CO_TRY(const bool counted, co_await count_volume(off_loop_, volume_counted_, asked.volume, slot.worker(), watch));
    if (!counted) co_return Result<void>();
  }
  CO_TRY(StartRun start, asked.start());
  start.message.set_module(**module);
  start.message.set_timeout_ms(static_cast<uint32_t>(asked.timeout.count()));
  start.message.set_memory_bytes(slot.memory_bytes());
  const auto allowed = asked.timeout + options_.worker_silence;
  auto ended =
      co_await worker.run(std::move(start.message), std::move(start.descriptors), allowed, watch, asked.volume);
  if (ended) {
    slot.ended(ended->measured().peak_held_bytes());
    ran.end = *std::move(ended);
  } else {
    ran.end = host_crash(std::move(ended).error() + slot.note());
  }
  co_return Result<void>();
}

std::string Node::Impl::end_worker(Ran& ran, const std::string& did) {
  std::string reason = "the worker process " + did + " and was ended";
  ran.slot->worker()->die(reason);
  return reason + ran.slot->note();
}

Task<Result<UploadCheck>> Node::Impl::upload_check(BuiltPackagePtr package, CallWatch* watch) {
  const auto self = shared_from_this();
  const Time begin = now();
  Asked asked;
  asked.package = package;
  asked.timeout = limits::kUploadTime;
  asked.start = [&package] { return start_upload(*package); };
  CO_TRY(Ran ran, co_await run(std::move(asked), watch));
  if (std::holds_alternative<protocol::WasCancelled>(ran.end))
    co_return fail(Code::kCancelled, "the upload check was cancelled");
  if (const auto* crash = std::get_if<protocol::Crash>(&ran.end))
    co_return fail(Code::kInternal, crash->message);
  auto report = upload_report_of(std::get<child::Ended>(std::move(ran.end)));
  if (!report) co_return fail(Code::kInternal, end_worker(ran, report.error()));
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
  CO_TRY_VOID(check_trees(*request.trees));
  const std::shared_ptr<SessionVolume> volume = request.trees->volume;
  const volume::Counts most{.bytes = std::min(options_.volume_most.bytes, volume::kMostCounts.bytes),
                            .entries = std::min(options_.volume_most.entries, volume::kMostCounts.entries)};
  Asked asked;
  asked.package = request.package->built;
  asked.volume = volume;
  asked.arguments_bytes = request.arguments.size();
  asked.timeout = request.timeout;
  asked.start = [&request, most] { return start_call(request, most); };
  CO_TRY(Ran ran, co_await run(std::move(asked), watch));
  CallRecord record;
  if (auto* ended = std::get_if<child::Ended>(&ran.end)) {
    if (auto reported = call_record_of(std::move(*ended))) {
      record = *std::move(reported);
    } else {
      record.outcome = host_crash(end_worker(ran, reported.error()));
    }
  } else if (auto* crash = std::get_if<protocol::Crash>(&ran.end)) {
    record.outcome = std::move(*crash);
  } else {
    record.outcome = protocol::WasCancelled{};
  }
  record.data_enabled = volume->data().valid();
  record.measures.volume = volume->counts();
  record.measures.volume_most = most;
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
