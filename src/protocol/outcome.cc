#include "protocol/outcome.h"

#include <array>

#include "base/utf8.h"
#include "base/quote.h"

namespace subako::protocol {

namespace {

struct CauseName {
  Cause cause;
  std::string_view name;
};
constexpr std::array kCauseNames = {
    CauseName{Cause::kJsonRpcError, "jsonrpc_error"},
    CauseName{Cause::kResultType, "result_type"},
    CauseName{Cause::kNotAMessage, "not_a_message"},
    CauseName{Cause::kUnaskedId, "unasked_id"},
    CauseName{Cause::kGuestRequest, "guest_request"},
    CauseName{Cause::kNoAnswer, "no_answer"},
    CauseName{Cause::kExitCode, "exit_code"},
    CauseName{Cause::kNoExit, "no_exit"},
    CauseName{Cause::kTrap, "trap"},
    CauseName{Cause::kTimeout, "timeout"},
    CauseName{Cause::kStdoutLimit, "stdout_limit"},
    CauseName{Cause::kBadResult, "bad_result"},
    CauseName{Cause::kHost, "host"},
};

std::string seconds(std::chrono::milliseconds time) {
  const auto whole = time.count() / 1000;
  const auto rest = time.count() % 1000;
  if (rest == 0) return std::to_string(whole) + " s";
  if (whole == 0) return std::to_string(rest) + " ms";
  std::string fraction = std::to_string(1000 + rest).substr(1);
  while (fraction.back() == '0') fraction.pop_back();
  return std::to_string(whole) + "." + fraction + " s";
}

bool complete(const Transcript& transcript) {
  return transcript.answered >= transcript.asked;
}

std::string memory_words() {
  return "a growth of its memory or tables had been refused before: it was out of memory (the limit is " +
         std::to_string(limits::kMemoryBytes / limits::kMiB) + " MiB)";
}

struct Judge {
  const Observed& observed;

  [[nodiscard]] std::string when() const {
    return complete(observed.transcript) ? " after it had answered" : " before it had answered";
  }

  // A trap, an abort or an exit code: said with the refused growth that explains it, where there was one.
  [[nodiscard]] Crash died(Cause cause, std::string message, std::vector<std::string> backtrace) const {
    if (observed.growth_refused) message += "; " + memory_words();
    return {cause, std::move(message), observed.growth_refused, std::move(backtrace)};
  }

  Outcome operator()(const Exited& exited) const {
    if (exited.code != 0) {
      return died(Cause::kExitCode, "the function exited with code " + std::to_string(exited.code) + when(),
                  {});
    }
    if (complete(observed.transcript)) return Answered{observed.transcript.last_result};
    return Crash{.cause = Cause::kNoAnswer, .message = "the function exited with code 0" + when()};
  }

  Outcome operator()(const Trapped& trapped) const {
    std::string_view what = trapped.message;
    constexpr std::string_view kPrefix = "wasm trap: ";
    if (what.starts_with(kPrefix)) what.remove_prefix(kPrefix.size());
    return died(Cause::kTrap, "the function trapped" + when() + ": " + shortened(what), trapped.backtrace);
  }

  Outcome operator()(const RanOut& ran_out) const {
    if (complete(observed.transcript)) {
      return Crash{.cause = Cause::kNoExit,
                   .message = "the function answered, but did not exit within " +
                              seconds(limits::kExitGrace) + " of the end of its stdin",
                   .backtrace = ran_out.backtrace};
    }
    const std::string_view whose = observed.upload ? " (the limit of the upload check)" : " (its timeout)";
    return Crash{.cause = Cause::kTimeout,
                 .message = "the function ran out of time: it had not answered after " +
                            seconds(observed.time_limit) + std::string(whose),
                 .backtrace = ran_out.backtrace};
  }

  Outcome operator()(const Stopped&) const {
    return Crash{.cause = Cause::kHost, .message = "the function was stopped without a recorded reason"};
  }

  Outcome operator()(const Cancelled&) const { return WasCancelled{}; }

  Outcome operator()(const HostFailed& failed) const {
    return Crash{.cause = Cause::kHost,
                 .message = "the host failed while it ran the function, which is not the function's fault: " +
                            one_line(failed.message)};
  }
};

}  // namespace

std::string_view cause_name(Cause cause) {
  for (const CauseName& row : kCauseNames) {
    if (row.cause == cause) return row.name;
  }
  return "host";
}

std::optional<Cause> cause_from_name(std::string_view name) {
  for (const CauseName& row : kCauseNames) {
    if (row.name == name) return row.cause;
  }
  return std::nullopt;
}

namespace {

Outcome judge_guest(const Observed& observed) {
  if (const auto& violation = observed.transcript.violation) {
    return Crash{.cause = violation->cause, .message = violation->message};
  }
  return std::visit(Judge{observed}, observed.ending);
}

}  // namespace

Outcome judge(const Observed& observed) {
  Outcome outcome = judge_guest(observed);
  const auto* crash = std::get_if<Crash>(&outcome);
  if (crash == nullptr || !observed.node_out_of_memory) return outcome;
  return Crash{.cause = Cause::kHost,
               .message = "this node is out of memory for guests: try again in a moment (the function was refused memory, and then: " +
                          crash->message + ")",
               .backtrace = crash->backtrace};
}

std::string crash_text_for_model(std::string_view stderr_tail) {
  const std::string_view told = utf8::tail(stderr_tail, limits::kStderrToldBytes);
  if (told.empty()) return "The function crashed.";
  return "The function crashed. The end of its stderr:\n" + utf8::lossy(told);
}

}  // namespace subako::protocol
