#include "guest_http/backend.h"

#include "base/limits.h"
#include "protocol/json.h"

namespace subako::guest_http {

namespace {

std::string error(std::string_view kind, std::string_view message) {
  std::string text = R"({"error":{"kind":)";
  json::append_quoted(text, kind);
  text += R"(,"message":)";
  json::append_quoted(text, message);
  text += "}}";
  return text;
}

}  // namespace

std::optional<std::string> DenyAll::answer(std::string_view request) {
  if (request.empty()) return error("invalid_request", "the request is empty");
  if (request.size() > limits::kHttpRequestBytes) {
    return error("invalid_request", "the request is larger than 8 MiB; send a large body as a file");
  }
  const auto parsed = json::parse(request);
  if (!parsed) {
    return error("invalid_request", "the request is not JSON: " + parsed.error().what + " at byte " +
                                        std::to_string(parsed.error().offset));
  }
  if (!parsed->is(json::Kind::kObject)) return error("invalid_request", "the request is no JSON object");
  return error("host_not_allowed", "this function's grant allows no network access");
}

}  // namespace subako::guest_http
