#include "protocol/request.h"

#include "protocol/json.h"
#include "base/quote.h"

namespace subako::protocol {

namespace {

void append_meta(std::string& out) {
  out += R"("_meta":{"io.modelcontextprotocol/protocolVersion":)";
  json::append_quoted(out, kRevision);
  out += R"(,"io.modelcontextprotocol/clientInfo":{"name":"subako","version":)";
  json::append_quoted(out, SUBAKO_VERSION);
  out += R"(},"io.modelcontextprotocol/clientCapabilities":{}})";
}

// `params` are the members before `_meta`, each with a comma after it.
std::string request(std::string_view id, std::string_view method, std::string_view params) {
  std::string out = R"({"jsonrpc":"2.0","id":)";
  json::append_quoted(out, id);
  out += R"(,"method":)";
  json::append_quoted(out, method);
  out += R"(,"params":{)";
  out += params;
  append_meta(out);
  out += "}}\n";
  return out;
}

}  // namespace

Result<std::string> check_arguments(std::string_view text) {
  if (text.empty()) return "{}";
  // The two last rules are stricter than JSON: an official SDK's parse would break on such a request.
  const json::Rules rules{
      .max_depth = limits::kJsonDepth, .refuse_lone_surrogates = true, .refuse_numbers_outside_double = true};
  const auto parsed = json::parse(text, rules);
  if (!parsed) {
    return fail(Code::kInvalid, "the arguments can't be passed to a function: byte " +
                                    std::to_string(parsed.error().offset) + ": " + parsed.error().what);
  }
  if (!parsed->is(json::Kind::kObject)) {
    return fail(Code::kInvalid, "the arguments must be a JSON object, but are " + shortened(parsed->raw()));
  }
  std::string compact = json::compact(*parsed);
  if (compact.size() > limits::kArgumentsBytes) {
    return fail(Code::kTooLarge, "the arguments are " + grouped(compact.size()) +
                                     " bytes of JSON and may be at most " + grouped(limits::kArgumentsBytes) +
                                     " (1 MiB)");
  }
  return compact;
}

std::string discover_request(std::string_view id) {
  return request(id, "server/discover", {});
}

std::string list_request(std::string_view id, const std::optional<std::string>& cursor) {
  std::string params;
  if (cursor) params = "\"cursor\":" + json::quoted(*cursor) + ",";
  return request(id, "tools/list", params);
}

std::string call_request(std::string_view id, std::string_view tool, std::string_view checked_arguments) {
  std::string params = "\"name\":" + json::quoted(tool) + ",\"arguments\":";
  params += checked_arguments;
  params += ',';
  return request(id, "tools/call", params);
}

}  // namespace subako::protocol
