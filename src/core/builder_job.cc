#include "core/builder_job.h"

#include <csignal>

#include "base/limits.h"
#include "child/envelope.h"
#include "core/channel.h"
#include "core/report.h"

namespace subako::core {

namespace {

using BuilderWord = std::variant<child::Unpacked, child::Compiled, child::Packed, Refused>;

// The largest file that a job may write: what it announces is checked too, but only once it is there.
uint64_t file_limit(const child::ToBuilder& job) {
  if (job.has_compile()) return limits::kCompiledBytes;
  if (job.has_pack()) return limits::kBundleArchiveBytes;  // or it couldn't be read again
  return limits::kBundleBytes;
}

child::SpawnOptions builder_process(const NodeOptions& options, const child::ToBuilder& job) {
  child::SpawnOptions spawn;
  spawn.executable = options.child_executable;
  spawn.arguments = {"builder"};
  if (options.sandbox) spawn.cell = options.sandbox->cell();
  spawn.cpu_limit = options.builder_cpu;
  spawn.file_limit = file_limit(job);
#ifndef __SANITIZE_ADDRESS__
  spawn.memory_limit = limits::kBuilderMemoryBytes;  // a sanitizer reserves more than this before main
#endif
  return spawn;
}

// How a job is spoken of.
struct Words {
  const char* doing;    // begins a sentence
  const char* process;  // after "the process that "
  const char* hint;     // where it takes too much
};
Words words_of(const child::ToBuilder& job) {
  if (job.has_compile()) {
    return {"checking and compiling the module", "checks and compiles its module",
            "make the module smaller or simpler: very large functions take the most"};
  }
  if (job.has_pack()) return {"packing the bundle", "packs it", "leave out of the bundle what isn't needed"};
  return {"unpacking the bundle", "unpacks it", "leave out of the bundle what isn't needed"};
}

Refused over(std::string message, std::string hint) {
  return {{{"M6", "", std::move(message), std::move(hint)}}, {}, {}};
}

// A build has its wall time for both of its jobs.
Refused over_wall(const Words& words, const child::ToBuilder& job, const NodeOptions& options) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(options.builder_wall).count();
  return over(std::string(words.doing) + " took longer than " + std::to_string(seconds) + " s" +
                  (job.has_compile() ? ", unpacking included," : "") + " and was stopped",
              std::string(words.hint) + "; on a busy machine, try again");
}

Refused over_memory(const Words& words) {
  return over(std::string(words.doing) + " needed more than " +
                  std::to_string(limits::kBuilderMemoryBytes / limits::kGiB) + " GiB of memory",
              words.hint);
}

std::unexpected<Error> misbehaved(const std::string& how) {
  return fail(Code::kInternal, "the builder process " + how + " and was ended");
}

// A builder that ended by itself, without its last word.
Result<BuilderWord> judge_end(const child::ExitStatus& status, const Words& words,
                              const NodeOptions& options) {
  if (child::over_cpu(status, options.builder_cpu)) {
    return over(std::string(words.doing) + " took more than " + std::to_string(options.builder_cpu.count()) +
                    " s of CPU time and was stopped",
                words.hint);
  }
  if (child::over_memory(status, limits::kBuilderMemoryBytes)) return over_memory(words);
  // Nothing in the bundle sends this: somebody else did, mostly the kernel.
  if (status.signal == SIGKILL)
    return fail(Code::kUnavailable, "the builder was killed; the machine may be out of memory: try again");
  if (status.signal != 0) {
    return over(
        "on this bundle, the process that " + std::string(words.process) + " " + child::exit_sentence(status),
        "this is a fault of subako, met by this bundle: report it with the bundle");
  }
  return fail(Code::kInternal, "the builder process gave no answer: it " + child::exit_sentence(status));
}

std::optional<BuildPhase> phase_of(const child::Progress& progress) {
  switch (progress.phase()) {
    case child::Progress::UNPACKING:
      return BuildPhase::kUnpacking;
    case child::Progress::VALIDATING:
      return BuildPhase::kValidating;
    case child::Progress::COMPILING:
      return BuildPhase::kCompiling;
    default:
      return std::nullopt;
  }
}

// The word in a message; none where it is progress.
Result<std::optional<BuilderWord>> word_of(const child::Frame& frame, const BuilderJob& job) {
  const auto message = child::decode<child::FromBuilder>(frame.body);
  if (!message || !frame.descriptors.empty()) return misbehaved("sent what is no message");
  switch (message->event_case()) {
    case child::FromBuilder::kProgress: {
      const auto phase = phase_of(message->progress());
      if (phase && job.progress) job.progress(*phase);
      return std::nullopt;
    }
    case child::FromBuilder::kUnpacked:
      if (!job.message.has_unpack()) return misbehaved("answered what wasn't asked");
      return BuilderWord(message->unpacked());
    case child::FromBuilder::kCompiled:
      if (!job.message.has_compile()) return misbehaved("answered what wasn't asked");
      return BuilderWord(message->compiled());
    case child::FromBuilder::kPacked:
      if (!job.message.has_pack()) return misbehaved("answered what wasn't asked");
      return BuilderWord(message->packed());
    case child::FromBuilder::kRefused: {
      Refusals refusals = refusals_of(message->refused().refusals());
      if (refusals.empty()) return misbehaved("refused without a reason");
      return BuilderWord(Refused{std::move(refusals), warnings_of(message->refused().warnings()), {}});
    }
    case child::FromBuilder::kFailed:
      return fail(Code::kInternal, message->failed().message());
    default:
      return misbehaved("sent an unknown message");
  }
}

// What came of a builder from which nothing more comes: `failure` where that isn't because it closed.
Task<Result<BuilderWord>> last_word(std::shared_ptr<Channel> channel, std::optional<Error> failure,
                                    child::ToBuilder asked, NodeOptions options) {
  using std::chrono::milliseconds;
  const auto code = failure ? std::optional(failure->code) : std::nullopt;
  const bool talks_on = code == Code::kTimeout || code == Code::kInvalid || code == Code::kTooLarge;
  if (talks_on) channel->kill();
  const child::ExitStatus status = co_await channel->ended(talks_on ? milliseconds(0) : limits::kChildExit);
  if (code == Code::kTimeout) co_return over_wall(words_of(asked), asked, options);
  if (talks_on) co_return misbehaved("broke the protocol (" + failure->message + ")");
  // A message cut in half by the end of its sender: that end says more.
  const bool ended_badly = !channel->killed() && (status.signal != 0 || status.code != 0);
  if (failure && !ended_badly) co_return std::unexpected(*std::move(failure));
  if (channel->killed()) co_return misbehaved("closed its connection without an answer, went on");
  co_return judge_end(status, words_of(asked), options);
}

}  // namespace

Task<Result<BuilderWord>> run_builder(asio::io_context& io, NodeOptions options, BuilderJob job) {
  const Time deadline = std::min(job.deadline, now() + options.builder_wall);
  CO_TRY(const auto channel, Channel::start(io, builder_process(options, job.message)));
  child::Frame first{child::encode(job.message), std::move(job.descriptors)};
  CO_TRY_VOID(channel->send(std::move(first)));
  for (;;) {
    auto frame = co_await channel->receive(deadline);
    if (!frame || !*frame) {
      std::optional<Error> failure;
      if (!frame) failure = std::move(frame).error();
      co_return co_await last_word(channel, std::move(failure), job.message, options);
    }
    auto word = word_of(**frame, job);
    if (word && !*word) continue;
    // Nobody writes to its files any more once it has ended.
    (void)co_await channel->ended(word ? limits::kChildExit : std::chrono::milliseconds(0));
    if (!word) co_return std::unexpected(std::move(word).error());
    co_return **std::move(word);
  }
}

}  // namespace subako::core
