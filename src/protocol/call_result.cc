#include "protocol/call_result.h"

#include "base/quote.h"

namespace subako::protocol {

namespace {

using json::Kind;
using json::Value;

std::unexpected<std::string> no_result(std::string why) {
  return std::unexpected(std::move(why));
}

}  // namespace

std::expected<CallResult, std::string> read_call_result(const Value& result) {
  CallResult read;
  const auto [is_error, structured, content] =
      json::find_all<3>(result, {"isError", "structuredContent", "content"});
  if (is_error) {
    if (!is_error->is(Kind::kBool))
      return no_result("its isError is no boolean but " + shortened(is_error->raw()));
    read.is_error = json::decode_bool(*is_error);
  }
  // Any JSON may be structured content, so a null member is there too.
  if (structured) read.structured_content = structured->raw();
  if (!content || content->is(Kind::kNull)) {
    if (!read.structured_content) return no_result("it has neither content nor structuredContent");
    return read;
  }
  if (!content->is(Kind::kArray))
    return no_result("its content is no array but " + shortened(content->raw()));
  json::for_each_element(*content, [&](const Value& block) {
    read.content.emplace_back(block.raw());
    return true;
  });
  return read;
}

}  // namespace subako::protocol
