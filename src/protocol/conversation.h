// The talk with one guest over stdin and stdout (spec: C3-C6, C9, U2): what is written to it and when, and what its bytes
// mean. No clock, no engine, no I/O: the worker carries bytes to and fro.
//
// A call asks one thing. An upload check asks server/discover, then tools/list page by page, each only after the last answer.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/refusal.h"
#include "protocol/outcome.h"
#include "protocol/tool_list.h"

namespace subako::protocol {

class Conversation {
 public:
  // `checked_arguments` as check_arguments() made them. `ids` outlives the conversation.
  [[nodiscard]] static Conversation call(Ids& ids, std::string_view tool, std::string_view checked_arguments);
  [[nodiscard]] static Conversation upload(Ids& ids);

  Conversation(Conversation&&) noexcept;
  Conversation& operator=(Conversation&&) noexcept;
  ~Conversation();

  // All request bytes written so far, from the first; the reader keeps its own position. Grows only inside write().
  [[nodiscard]] std::string_view input() const;
  // Everything asked has been answered: after input() comes end of file (C5).
  [[nodiscard]] bool input_closed() const;

  enum class Next { kGoOn, kStop };  // kStop: a violation or a full stdout; end the guest now
  // The guest wrote `bytes` to stdout. Counts L4 over all of them.
  [[nodiscard]] Next write(std::span<const std::byte> bytes);
  // The guest has exited: bytes after the last newline are a line too (C6). Not for a guest that trapped or was ended:
  // half a line would hide why.
  void end_of_output();

  [[nodiscard]] const Transcript& transcript() const;

  // Of an upload whose outcome is Answered: the tools, or why they are refused (all of them, U4). After a refused
  // server/discover or a 17th page nothing more is asked: the guest is let go, and the refusals say why.
  [[nodiscard]] const ToolList& tools() const;
  [[nodiscard]] const Refusals& refusals() const;
  [[nodiscard]] const Warnings& warnings() const;

 private:
  struct State;
  explicit Conversation(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace subako::protocol
