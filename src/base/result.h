// What a function of ours returns when it can fail: a value, or an Error that says why in one sentence.
//
// An Error means that the caller or the machine stopped us. What a guest does is never an Error but data
// (protocol/outcome.h). Exceptions mean a bug: main tells of them, a child dies of them, and the engine's callbacks are
// noexcept.
#pragma once

#include <chrono>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace subako {

// Chosen by what the caller can do about it. One table (code_exit_status and, later, its HTTP and MCP sisters) turns
// a code into a number; nobody else writes one.
enum class Code {
  kInvalid,      // the input is wrong: mend it
  kNotFound,     // what was named isn't there
  kDenied,       // it is there, but not for us (permissions)
  kTooLarge,     // over a size limit of the product
  kLimit,        // over another limit of the product
  kConflict,     // it exists already or changed meanwhile
  kUnavailable,  // not now: try again
  kBusy,         // as much as we take waits already: try again after Error::retry_after
  kTimeout,      // took too long
  kCancelled,    // the caller asked us to stop
  kUnsupported,  // this machine or build can't do it
  kCorrupt,      // stored data is damaged
  kInternal,     // our own fault
};

struct Error {
  Code code = Code::kInternal;
  std::string message;  // one sentence: the cause, with the value, and what to try; no trailing newline
  std::optional<std::chrono::seconds> retry_after = std::nullopt;  // of kBusy
};

template <class T>
using Result = std::expected<T, Error>;

[[nodiscard]] inline std::unexpected<Error> fail(Code code, std::string message) {
  return std::unexpected(Error{.code = code, .message = std::move(message)});
}

// "<what>: <strerror(errno_value)>", with the code that fits the errno.
[[nodiscard]] Error system_error(std::string_view what, int errno_value);

}  // namespace subako

#define SUBAKO_JOIN2(a, b) a##b
#define SUBAKO_JOIN(a, b) SUBAKO_JOIN2(a, b)
#define SUBAKO_TRY(tmp, decl, expr, ret)           \
  auto tmp = (expr);                               \
  if (!tmp) ret std::unexpected(std::move(tmp).error()); \
  decl = *std::move(tmp)
#define SUBAKO_TRY_VOID(tmp, expr, ret) \
  if (auto tmp = (expr); !tmp) ret std::unexpected(std::move(tmp).error())

// TRY(auto x, f()) takes the value of f() or returns its error; CO_ is the same in a coroutine.
#define TRY(decl, expr) SUBAKO_TRY(SUBAKO_JOIN(try_, __COUNTER__), decl, expr, return)
#define TRY_VOID(expr) SUBAKO_TRY_VOID(SUBAKO_JOIN(try_, __COUNTER__), expr, return)
#define CO_TRY(decl, expr) SUBAKO_TRY(SUBAKO_JOIN(try_, __COUNTER__), decl, expr, co_return)
#define CO_TRY_VOID(expr) SUBAKO_TRY_VOID(SUBAKO_JOIN(try_, __COUNTER__), expr, co_return)
