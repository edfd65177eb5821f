#include "core/builder_job.h"

#include <csignal>

#include "base/limits.h"
#include "child/envelope.h"
#include "core/channel.h"
#include "core/report.h"

namespace subako::core {

namespace {

using BuilderWord = std::variant<child::Built, child::Packed, Refused>;

child::SpawnOptions builder_process(const NodeOptions& options) {
  child::SpawnOptions spawn;
  spawn.executable = options.child_executable;
  spawn.arguments = {"builder"};
  spawn.cpu_limit = options.builder_cpu;
#ifndef __SANITIZE_ADDRESS__
  spawn.memory_limit = limits::kBuilderMemoryBytes;  // a sanitizer reserves more than this before main
#endif
  return spawn;
}

Refused over(std::string message, std::string hint) {
  return {{{"M6", "", std::move(message), std::move(hint)}}, {}, {}};
}

Refused over_wall(const NodeOptions& options) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(options.builder_wall).count();
  return over("unpacking, validating and compiling took longer than " + std::to_string(seconds) +
                  " s and was stopped",
              "make the module smaller or simpler; on a busy machine, try again");
}

Refused over_memory() {
  return over("unpacking, validating and compiling needed more than 2 GiB of memory",
              "make the module smaller or simpler: very large functions need the most");
}

// A builder that ended without its last word.
Result<BuilderWord> judge_end(const child::ExitStatus& status, const NodeOptions& options) {
  if (status.signal == SIGXCPU) {
    return over("unpacking, validating and compiling took more than " +
                    std::to_string(options.builder_cpu.count()) + " s of CPU time and was stopped",
                "make the module smaller or simpler: very large functions take the longest");
  }
  // Where memory can't be had the compiler aborts; so does a bug, but with little memory in use.
  const bool large = status.peak_resident_bytes > limits::kBuilderMemoryBytes / 2;
  if (status.code == child::kExitOutOfMemory || (status.signal == SIGABRT && large)) return over_memory();
  if (status.signal != 0) {
    return over(
        "the process that unpacks, validates and compiles " + child::exit_sentence(status) +
            " on this bundle",
        "this is a fault of subako or of its compiler, met by this bundle: report it with the bundle");
  }
  return fail(Code::kInternal, "the builder process " + child::exit_sentence(status) + " without an answer");
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

std::unexpected<Error> misbehaved(const std::string& how) {
  return fail(Code::kInternal, "the builder process " + how + " and was ended");
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
    case child::FromBuilder::kBuilt:
      if (!job.message.has_build()) return misbehaved("answered what wasn't asked");
      return BuilderWord(message->built());
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

}  // namespace

Task<Result<BuilderWord>> run_builder(asio::io_context& io, NodeOptions options, BuilderJob job) {
  const Time deadline = now() + options.builder_wall;
  CO_TRY(const auto channel, Channel::start(io, builder_process(options)));
  child::Frame first{child::encode(job.message), std::move(job.descriptors)};
  CO_TRY_VOID(channel->send(std::move(first)));
  for (;;) {
    auto frame = co_await channel->receive(deadline);
    if (!frame && frame.error().code == Code::kTimeout) {
      channel->kill();
      (void)co_await channel->ended(std::chrono::milliseconds(0));
      co_return over_wall(options);
    }
    if (!frame || !*frame) {
      const child::ExitStatus status = co_await channel->ended(limits::kChildExit);
      co_return judge_end(status, options);
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
