#include "protocol/call_result.h"

#include "base/quote.h"

namespace subako::protocol {

namespace {

using json::Kind;
using json::Value;

std::unexpected<std::string> no_result(std::string why) {
  return std::unexpected(std::move(why));
}

struct Members {
  std::optional<Value> is_error, structured, content;
};

std::expected<Members, std::string> checked_members(const Value& result) {
  const auto [is_error, structured, given] =
      json::find_all<3>(result, {"isError", "structuredContent", "content"});
  if (is_error && !is_error->is(Kind::kBool))
    return no_result("its isError is no boolean but " + shortened(is_error->raw()));
  const auto content = given && given->is(Kind::kNull) ? std::nullopt : given;
  // Any JSON may be structured content, so a null member is there too.
  if (!content && !structured) return no_result("it has neither content nor structuredContent");
  if (content && !content->is(Kind::kArray))
    return no_result("its content is no array but " + shortened(content->raw()));
  return Members{is_error, structured, content};
}

}  // namespace

std::expected<void, std::string> check_call_result(const Value& result) {
  if (auto members = checked_members(result); !members) return std::unexpected(std::move(members).error());
  return {};
}

std::expected<CallResult, std::string> read_call_result(const Value& result) {
  auto members = checked_members(result);
  if (!members) return std::unexpected(std::move(members).error());
  CallResult read;
  read.is_error = members->is_error && json::decode_bool(*members->is_error);
  if (members->structured) read.structured_content = members->structured->raw();
  if (!members->content) return read;
  json::for_each_element(*members->content, [&](const Value& block) {
    read.content.emplace_back(block.raw());
    return true;
  });
  return read;
}

}  // namespace subako::protocol
