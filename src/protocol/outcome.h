// How a run of a guest ended, as data (spec: C9). judge() is a pure function of what was observed; each way of C9 is a row
// of its test. An Error means that we failed; an Outcome is what the guest did.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/limits.h"

namespace subako::protocol {

// The ways a guest can crash. Their names (cause_name) are the product's words, in --json and in records.
enum class Cause : uint8_t {
  kJsonRpcError,  // jsonrpc_error: answered with a JSON-RPC error
  kResultType,    // result_type: a resultType other than "complete"
  kNotAMessage,   // not_a_message: a stdout line that is no JSON-RPC message
  kUnaskedId,     // unasked_id: answered an id that wasn't asked, or one twice
  kGuestRequest,  // guest_request: sent a request of its own
  kNoAnswer,      // no_answer: exited before answering
  kExitCode,      // exit_code: exited with another code than 0
  kNoExit,        // no_exit: didn't exit within 1 s of end of file
  kTrap,          // trap
  kTimeout,       // timeout: L1 (at upload L10)
  kStdoutLimit,   // stdout_limit: L4
  kBadResult,     // bad_result: an answer that is no CallToolResult
  kHost,          // host: not the guest's fault: the worker died, the instance couldn't be made
};
[[nodiscard]] std::string_view cause_name(Cause cause);
[[nodiscard]] std::optional<Cause> cause_from_name(std::string_view name);

// What broke the protocol first; the guest is stopped there.
struct Violation {
  Cause cause = Cause::kNotAMessage;
  std::string message;  // one plain sentence
};

// What a guest's stdout has said so far, kept by Conversation.
struct Transcript {
  size_t asked = 0;     // requests written
  size_t answered = 0;  // of them
  std::string last_result = {};  // the JSON object of the last answer, as the guest spelt it
  std::optional<Violation> violation = {};
};

// How the instance came to an end.
struct Exited {
  uint32_t code = 0;  // 0 too for a return from _start
};
struct Trapped {
  std::string message;                 // "wasm trap: wasm `unreachable` instruction executed"
  std::vector<std::string> backtrace;  // innermost first: "greet::main (module.wasm byte 0x1f3a)"
};
struct RanOut {                          // stopped by a deadline: L1/L10 before the last answer, L11 after
  std::vector<std::string> backtrace;  // where it stood; empty where unknown
};
struct Stopped {};  // stopped by us because of the violation in the transcript
struct Cancelled {};
struct HostFailed {
  std::string message;
};
using Ending = std::variant<Exited, Trapped, RanOut, Stopped, Cancelled, HostFailed>;

struct Observed {
  Transcript transcript;
  Ending ending;
  bool growth_refused = false;               // L2 refused a memory or table growth during this run
  bool node_out_of_memory = false;           // the node did, which had none left: then no crash is the guest's fault
  std::chrono::milliseconds time_limit{};    // the L1 (or L10) that held, for the sentence
  bool upload = false;
};

struct Crash {
  Cause cause = Cause::kHost;
  std::string message;          // one plain sentence for people and records; names the limit that was hit
  bool out_of_memory = false;   // a trap, abort or non-zero exit after a refused growth
  std::vector<std::string> backtrace = {};
};
struct Answered {
  std::string result;  // the guest's result object, untouched
};
struct WasCancelled {};

using Outcome = std::variant<Answered, Crash, WasCancelled>;

// Precedence: a violation (it came first, and the guest was stopped there), then the ending.
// Cancelled counts until the guest has exited, after its answer too: nobody waits for the answer any more.
[[nodiscard]] Outcome judge(const Observed& observed);

// What the model reads of a crash: that the function crashed and the last 4 KiB of stderr, no more (C9).
[[nodiscard]] std::string crash_text_for_model(std::string_view stderr_tail);

}  // namespace subako::protocol
