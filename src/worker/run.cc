#include "worker/run.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/limits.h"
#include "child/wire.h"
#include "guest_http/imports.h"
#include "wasi/imports.h"
#include "worker/wire.h"

namespace subako::worker {

namespace {

constexpr size_t kWasiHost = 0;  // index into hosts()

Nanoseconds nanoseconds(std::chrono::milliseconds duration) { return std::chrono::nanoseconds(duration).count(); }

std::chrono::milliseconds time_limit_of(const child::StartRun& start) {
  if (start.has_upload()) return limits::kUploadTime;
  return std::min(std::chrono::milliseconds(start.timeout_ms()), limits::kMaxTimeout);
}

protocol::Conversation conversation_of(const child::StartRun& start, Ids& ids) {
  if (start.has_upload()) return protocol::Conversation::upload(ids);
  return protocol::Conversation::call(ids, start.call().tool(), start.call().arguments());
}

}  // namespace

engine::ImportTables Run::import_tables() { return {wasi::imports(), guest_http::imports()}; }

Run::Run(const child::StartRun& start, std::vector<Fd> trees, std::shared_ptr<const engine::LinkedModule> module,
         const Surroundings& around, std::shared_ptr<volume::Ledger> ledger)
    : id_(start.run()),
      volume_(start.has_volume() ? std::optional(start.volume().number()) : std::nullopt),
      upload_(start.has_upload()),
      time_limit_(time_limit_of(start)),
      clock_(around.clock),
      cpu_(around.cpu),
      blocking_(around.blocking),
      conversation_(conversation_of(start, around.ids)),
      memory_(around.memory, id_, start.memory_bytes()),
      log_(start.stderr_live()),
      ledger_(std::move(ledger)),
      wasi_(world_of(start, trees.size(), around.descriptors, ledger_.get()), clock_, *this, *this),
      http_(http_backend_) {
  marks_.started = clock_.monotonic();
  deadline_ = marks_.started + nanoseconds(time_limit_);  // instantiation counts (spec: U1)
  ended_.set_run(id_);
  bind_trees(start, std::move(trees), wasi_);
  note_held();
  instance_ = std::make_unique<engine::Instance>(around.engine, std::move(module), hosts(), this);
}

// In the order of import_tables().
std::vector<void*> Run::hosts() { return {&wasi_, &http_}; }

Run::Turn Run::take_turn() {
  if (clock_.monotonic() >= deadline_) instance_->interrupt();

  cpu_.begin_turn();
  engine::Instance::State state = instance_->resume();
  if (state == engine::Instance::State::kStarted) {
    marks_.instantiated = clock_.monotonic();
    state = instance_->resume();
  }
  cpu_ns_ += cpu_.end_turn();

  switch (state) {
    case engine::Instance::State::kStarted:  // said once
    case engine::Instance::State::kYielded:
      return Turn::kAgain;
    case engine::Instance::State::kGrowing:
      due_ = deadline_;
      return Turn::kWaits;
    case engine::Instance::State::kWaiting: {
      // What it waits for on stdin comes only from its own stdout: input and end of file are there before it waits.
      const wasi::Wake wake = instance_->waits_for() == kWasiHost ? wasi_.wake() : wasi::Wake{};
      if (wake.now) return Turn::kAgain;
      due_ = std::min(deadline_, wake.at.value_or(deadline_));
      return Turn::kWaits;
    }
    case engine::Instance::State::kFinished:
      end(ending_of(instance_->finish()));
      return Turn::kEnded;
  }
  std::unreachable();
}

void Run::cancel() { end(protocol::Cancelled{}); }

protocol::Ending Run::ending_of(const engine::Finish& finish) {
  struct Visitor {
    Run& run;
    protocol::Ending operator()(const engine::Returned&) const { return exited(0); }
    protocol::Ending operator()(const engine::Exited& e) const { return exited(e.code); }
    protocol::Ending operator()(const engine::Halted&) const { return protocol::Stopped{}; }
    protocol::Ending operator()(const engine::Trapped& t) const { return protocol::Trapped{t.message, t.backtrace}; }
    protocol::Ending operator()(const engine::Interrupted& i) const { return protocol::RanOut{i.backtrace}; }
    protocol::Ending operator()(const engine::NotStarted& n) const { return protocol::HostFailed{n.message}; }
    protocol::Ending exited(uint32_t code) const {
      run.conversation_.end_of_output();
      run.note_answered();  // the answer may lack its newline
      return protocol::Exited{code};
    }
  };
  return std::visit(Visitor{*this}, finish);
}

void Run::end(protocol::Ending ending) {
  marks_.ended = clock_.monotonic();
  const protocol::Observed observed{.transcript = conversation_.transcript(),
                                    .ending = std::move(ending),
                                    .growth_refused = instance_->growth_refused(),
                                    .node_out_of_memory = memory_.refused(),
                                    .time_limit = time_limit_,
                                    .upload = upload_};
  peak_memory_ = instance_->memory_bytes();
  instance_.reset();
  (void)wasi_.leave();  // before its Volume is told
  fill_outcome(protocol::judge(observed));
  ended_.set_stderr(log_.kept());
  ended_.set_stderr_left_out(log_.left_out());
  fill_measured();
}

// Of an upload check, however it ended: all broken rules are told at once (spec: U4).
template <class Message>
void Run::add_findings(Message& message) const {
  for (const Refusal& refusal : conversation_.refusals()) *message.add_refusals() = child::to_wire(refusal);
  for (const Warning& warning : conversation_.warnings()) *message.add_warnings() = child::to_wire(warning);
}

void Run::fill_outcome(const protocol::Outcome& outcome) {
  if (const auto* answered = std::get_if<protocol::Answered>(&outcome)) {
    child::Answered& message = *ended_.mutable_answered();
    if (!upload_) {
      message.set_result(answered->result);
      return;
    }
    for (const protocol::Tool& tool : conversation_.tools().tools()) *message.add_tools() = to_wire(tool);
    add_findings(message);
  } else if (const auto* crash = std::get_if<protocol::Crash>(&outcome)) {
    child::Crashed& message = *ended_.mutable_crashed();
    message = to_wire(*crash);
    if (upload_) add_findings(message);
  } else {
    ended_.mutable_cancelled();
  }
}

void Run::fill_measured() {
  // A phase that was not reached lasts until the end, and those after it 0.
  const Nanoseconds instantiated = marks_.instantiated != 0 ? marks_.instantiated : marks_.ended;
  const Nanoseconds asked = marks_.asked != 0 ? marks_.asked : marks_.ended;
  const Nanoseconds answered = marks_.answered != 0 ? marks_.answered : marks_.ended;
  const auto ms = [](Nanoseconds from, Nanoseconds to) { return static_cast<double>(std::max<Nanoseconds>(0, to - from)) / 1e6; };
  child::Measured& measured = *ended_.mutable_measured();
  measured.set_instantiate_ms(ms(marks_.started, instantiated));
  measured.set_start_ms(ms(instantiated, asked));
  measured.set_run_ms(ms(asked, answered));
  measured.set_exit_ms(ms(answered, marks_.ended));
  measured.set_cpu_ms(static_cast<double>(cpu_ns_) / 1e6);
  measured.set_peak_memory_bytes(peak_memory_);
  measured.set_peak_held_bytes(memory_.peak());
  measured.set_written_bytes(wasi_.budget().written());
  measured.set_volume_full(to_wire(wasi_.volume_full()));
}

// ---------------------------------------------------------------------------------------------- the guest's stdio

size_t Run::read_stdin(std::span<std::byte> to) {
  if (marks_.asked == 0) marks_.asked = clock_.monotonic();
  const std::string_view left = conversation_.input().substr(stdin_read_);
  const size_t n = std::min(left.size(), to.size());
  std::memcpy(to.data(), left.data(), n);
  stdin_read_ += n;
  return n;
}

size_t Run::stdin_available() const { return conversation_.input().size() - stdin_read_; }

bool Run::stdin_closed() const { return conversation_.input_closed(); }

bool Run::write_stdout(std::span<const std::byte> bytes) {
  stdout_written_ += bytes.size();
  note_held();
  const bool go_on = conversation_.write(bytes) == protocol::Conversation::Next::kGoOn;
  note_answered();
  return go_on;
}

void Run::note_answered() {
  if (marks_.answered != 0 || !conversation_.input_closed()) return;
  marks_.answered = clock_.monotonic();
  deadline_ = marks_.answered + nanoseconds(limits::kExitGrace);
}

// The request came in StartRun and is written as a line; what was written is a line, its result, and that in the message of the end.
void Run::note_held() {
  memory_.host_holds(limits::kGuestHostBytes + 2 * conversation_.input().size() + 3 * stdout_written_);
}

engine::Growth::Answer Run::may_grow(uint64_t bytes) noexcept {
  if (clock_.monotonic() >= deadline_) return Answer::kNo;  // it ends at its next tick: it isn't to wait for core
  switch (memory_.grow(bytes)) {
    case MemoryMeter::Account::Answer::kNo:
      return Answer::kNo;
    case MemoryMeter::Account::Answer::kYes:
      return Answer::kYes;
    case MemoryMeter::Account::Answer::kLater:
      return Answer::kLater;
  }
  std::unreachable();
}

void Run::hand_over(std::shared_ptr<wasi::BlockingTask> task) { blocking_.hand_over(id_, std::move(task)); }

void Run::write_stderr(std::span<const std::byte> bytes) { log_.write(bytes); }

}  // namespace subako::worker
