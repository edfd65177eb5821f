// For tests: the guest's side of a Conversation. `$ID` in what it says stands for the id of the last request
// it was sent.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "protocol/conversation.h"
#include "protocol/json.h"

namespace subako::protocol {

inline std::string last_id(const Conversation& conversation) {
  std::string_view input = conversation.input();
  input.remove_suffix(1);
  const size_t newline = input.rfind('\n');
  if (newline != std::string_view::npos) input.remove_prefix(newline + 1);
  return json::decode_string(*json::find(*json::parse(input), "id"));
}

inline std::string with_id(std::string text, std::string_view id) {
  for (size_t at = text.find("$ID"); at != std::string::npos; at = text.find("$ID", at + id.size()))
    text.replace(at, 3, id);
  return text;
}

inline Conversation::Next say(Conversation& conversation, const std::string& text) {
  const std::string bytes = with_id(text, last_id(conversation));
  return conversation.write(std::as_bytes(std::span(bytes)));
}

// An answer to the last request.
inline std::string answer(std::string_view result) {
  return R"({"jsonrpc":"2.0","id":"$ID","result":)" + std::string(result) + "}\n";
}

inline constexpr std::string_view kGoodResult = R"({"content":[{"type":"text","text":"ok"}]})";
inline constexpr std::string_view kGoodDiscovery =
    R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})";

}  // namespace subako::protocol
