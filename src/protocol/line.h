// One line of a guest's stdout as JSON-RPC (spec: C6). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "protocol/json.h"

namespace subako::protocol {

struct Notification {
  std::string method;
};
struct Answer {
  json::Value id;      // as spelt: compare with id_is()
  json::Value result;  // an object
};
struct ErrorAnswer {
  json::Value id;
  std::string code;     // the token as spelt, or empty where there is none
  std::string message;  // empty where there is none
};
struct GuestRequest {
  std::string method;
};
struct NotAMessage {
  std::string why;  // completes "is no JSON-RPC message: "
};

using Line = std::variant<Notification, Answer, ErrorAnswer, GuestRequest, NotAMessage>;

// `line` without its newline. Views in the result point into `line`.
[[nodiscard]] Line read_line(std::string_view line);

// Is `id` the string `asked` (a number or another type never is)?
[[nodiscard]] bool id_is(const json::Value& id, std::string_view asked);

}  // namespace subako::protocol
