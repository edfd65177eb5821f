#include "protocol/discovery.h"

#include <optional>
#include <string>

#include "base/quote.h"
#include "protocol/request.h"

namespace subako::protocol {

namespace {

constexpr const char* kWhere = "server/discover";

std::string found(const std::optional<json::Value>& value) {
  return value ? "is " + shortened(value->raw()) : "is not there";
}

bool names_our_revision(const json::Value& versions) {
  bool named = false;
  json::for_each_element(versions, [&](const json::Value& version) {
    named = version.is(json::Kind::kString) && json::decode_string(version) == kRevision;
    return !named;
  });
  return named;
}

}  // namespace

Refusals check_discovery(const json::Value& result) {
  Refusals refusals;
  const auto versions = json::find(result, "supportedVersions");
  if (!versions || !names_our_revision(*versions)) {
    refusals.push_back(
        {.rule = "U2",
         .where = kWhere,
         .message = "supportedVersions must be a list that contains \"" + std::string(kRevision) +
                    "\", but " + found(versions),
         .hint = "answer server/discover with \"supportedVersions\":[\"" + std::string(kRevision) + "\"]"});
  }
  const auto capabilities = json::find(result, "capabilities");
  const auto tools = capabilities ? json::find(*capabilities, "tools") : std::nullopt;
  if (!tools || !tools->is(json::Kind::kObject)) {
    refusals.push_back({.rule = "U2",
                        .where = kWhere,
                        .message = "capabilities.tools must be an object, but " + found(tools),
                        .hint = "answer server/discover with \"capabilities\":{\"tools\":{}}"});
  }
  return refusals;
}

}  // namespace subako::protocol
