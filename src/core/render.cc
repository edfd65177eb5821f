#include "core/render.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "protocol/json.h"

namespace subako::core {

namespace {

std::optional<protocol::CallResult> result_of(const CallRecord& record) {
  const auto* answered = std::get_if<protocol::Answered>(&record.outcome);
  if (answered == nullptr) return std::nullopt;
  const auto value = json::parse(answered->result);
  if (!value) return std::nullopt;
  auto result = protocol::read_call_result(*value);
  if (!result) return std::nullopt;
  return *std::move(result);
}

protocol::ViewBlock block(protocol::ViewBlock::Kind kind, std::string text) {
  protocol::ViewBlock out;
  out.kind = kind;
  out.text = std::move(text);
  return out;
}

}  // namespace

std::string told_stderr(std::string_view stderr_kept) {
  // Replacing an invalid byte makes it longer: cut again.
  const std::string text = utf8::lossy(utf8::tail(stderr_kept, limits::kStderrToldBytes));
  return std::string(utf8::tail(text, limits::kStderrToldBytes));
}

bool is_error(const CallRecord& record) {
  const auto result = result_of(record);
  return result && result->is_error;
}

std::vector<protocol::ViewBlock> view_of(const CallRecord& record) {
  using Kind = protocol::ViewBlock::Kind;
  if (const auto result = result_of(record)) return protocol::view_of(*result, record.data_enabled);
  if (std::holds_alternative<protocol::WasCancelled>(record.outcome)) {
    return {block(Kind::kNote, "[the call was cancelled]")};
  }
  return {block(Kind::kText, protocol::crash_text_for_model(told_stderr(record.stderr_kept)))};
}

}  // namespace subako::core
