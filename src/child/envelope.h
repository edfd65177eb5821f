// A message of messages.proto to a frame's body and back.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace subako::child {

// protobuf writes to stderr what it can't decode. Who decodes tells that itself, in one sentence: call this
// once, before.
void silence_decoding();

template <class Message>
[[nodiscard]] std::string encode(const Message& message) {
  return message.SerializeAsString();
}

// None where `body` is no such message (a string that is not UTF-8 included): its sender is not to be trusted
// any further.
template <class Message>
[[nodiscard]] std::optional<Message> decode(std::string_view body) {
  Message message;
  if (body.size() > static_cast<size_t>(std::numeric_limits<int>::max())) return std::nullopt;
  if (!message.ParseFromArray(body.data(), static_cast<int>(body.size()))) return std::nullopt;
  return message;
}

}  // namespace subako::child
