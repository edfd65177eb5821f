#include "protocol/line.h"

#include <algorithm>

#include "protocol/json_text.h"
#include "base/quote.h"

namespace subako::protocol {

namespace {

using json::Kind;
using json::Value;

// The members that C6 speaks of; of duplicates the last.
struct Members {
  std::optional<Value> jsonrpc, id, method, result, error;
};

Members members_of(const Value& object) {
  auto [jsonrpc, id, method, result, error] =
      json::find_all<5>(object, {"jsonrpc", "id", "method", "result", "error"});
  return {jsonrpc, id, method, result, error};
}

std::string_view kind_words(Kind kind) {
  switch (kind) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return "a boolean";
    case Kind::kNumber:
      return "a number";
    case Kind::kString:
      return "a string";
    case Kind::kArray:
      return "an array";
    case Kind::kObject:
      return "an object";
  }
  return "";
}

NotAMessage no_json(const json::SyntaxError& error) {
  return {"it isn't JSON (byte " + std::to_string(error.offset) + ": " + error.what + ")"};
}

ErrorAnswer error_answer(const Value& id, const Value& error) {
  ErrorAnswer answer{id, {}, {}};
  if (const auto code = json::find(error, "code")) answer.code = json::compact(*code);
  if (const auto message = json::find(error, "message"); message && message->is(Kind::kString)) {
    answer.message = json::decode_string(*message);
  }
  return answer;
}

// "either a string `method`, or an `id` and exactly one of an object `result` and an `error`" is read by the
// letter, and by what is there rather than what it may be worth:
// - A string `method` settles it, whatever else there is: a request or, without an `id` member (null is one),
// a notification.
// - A `method` that is no string is a member without meaning, like any other name.
// - A null `error` is an `error`: beside an object `result` there are two, alone it is an error without code
// and message.
// - A `result` that is no object isn't one of the two: alone it is nothing, beside an `error` the error
// counts.
Line classify(const Members& members) {
  if (!members.jsonrpc) return NotAMessage{"it has no \"jsonrpc\" member"};
  if (!members.jsonrpc->is(Kind::kString) || json::decode_string(*members.jsonrpc) != "2.0") {
    return NotAMessage{"its \"jsonrpc\" is not \"2.0\" but " + shortened(members.jsonrpc->raw())};
  }
  if (members.method && members.method->is(Kind::kString)) {
    std::string method = json::decode_string(*members.method);
    if (members.id) return GuestRequest{std::move(method)};
    return Notification{std::move(method)};
  }
  if (!members.id) return NotAMessage{"it has neither a string \"method\" nor an \"id\""};
  const bool result = members.result && members.result->is(Kind::kObject);
  if (result && members.error) return NotAMessage{"it has both a \"result\" and an \"error\""};
  if (result) return Answer{*members.id, *members.result};
  if (members.error) return error_answer(*members.id, *members.error);
  if (members.result) {
    return NotAMessage{"its \"result\" is no object but " + std::string(kind_words(members.result->kind()))};
  }
  return NotAMessage{"it has neither a \"method\", nor a \"result\", nor an \"error\""};
}

}  // namespace

Line read_line(std::string_view line) {
  if (std::ranges::all_of(line, json::is_space)) return NotAMessage{"the line is blank"};
  const auto parsed = json::parse(line);
  if (!parsed) return no_json(parsed.error());
  if (parsed->is(Kind::kArray))
    return NotAMessage{"it is an array, and batches are not part of the protocol"};
  if (!parsed->is(Kind::kObject))
    return NotAMessage{"it is " + std::string(kind_words(parsed->kind())) + ", not an object"};
  return classify(members_of(*parsed));
}

bool id_is(const Value& id, std::string_view asked) {
  return id.is(Kind::kString) && json::decode_string(id) == asked;
}

}  // namespace subako::protocol
