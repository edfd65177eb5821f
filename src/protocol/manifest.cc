#include "protocol/manifest.h"

#include <algorithm>
#include <set>

#include "base/limits.h"
#include "base/utf8.h"
#include "protocol/json.h"
#include "protocol/names.h"
#include "base/quote.h"

namespace subako::protocol {

namespace {

using json::Kind;
using json::Value;

constexpr const char* kRule = "B2";
constexpr const char* kFile = "subako-package.json";
constexpr const char* kExample =
    "a whole manifest is {\"abi\":1,\"name\":\"my-package\",\"description\":\"What it does.\"}";

Refusal refusal(std::string message, std::string hint) {
  return {.rule = kRule, .where = kFile, .message = std::move(message), .hint = std::move(hint)};
}

std::unexpected<Refusals> refused(std::string message, std::string hint) {
  return std::unexpected(Refusals{refusal(std::move(message), std::move(hint))});
}

// Where people look for it: lines and columns (of characters) from 1.
std::string position(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line = 1 + std::ranges::count(before, '\n');
  const size_t newline = before.rfind('\n');
  const std::string_view in_line = newline == std::string_view::npos ? before : before.substr(newline + 1);
  return "line " + std::to_string(line) + ", column " + std::to_string(1 + utf8::count(in_line));
}

void check_abi(const Value& manifest, Refusals& refusals) {
  constexpr const char* kHint = "write \"abi\":1, a number without quotes";
  const auto abi = json::find(manifest, "abi");
  if (!abi) {
    refusals.push_back(refusal("the manifest has no \"abi\"", kHint));
  } else if (json::decode_number(*abi) != 1.0) {
    refusals.push_back(refusal("\"abi\" must be the number 1, but is " + shortened(abi->raw()), kHint));
  }
}

void read_name(const Value& json, Manifest& manifest, Refusals& refusals) {
  constexpr const char* kHint = "name the package with 1 to 64 of a-z, 0-9, - and _";
  const auto name = json::find(json, "name");
  if (!name) {
    refusals.push_back(refusal("the manifest has no \"name\"", kHint));
    return;
  }
  if (!name->is(Kind::kString)) {
    refusals.push_back(refusal("\"name\" is no string but " + shortened(name->raw()), kHint));
    return;
  }
  manifest.name = json::decode_string(*name);
  if (const auto wrong = name_fault(manifest.name)) {
    refusals.push_back(refusal("the name " + in_quotes(manifest.name) + " " + *wrong, kHint));
  }
}

void read_description(const Value& json, Manifest& manifest, Refusals& refusals) {
  const auto description = json::find_non_null(json, "description");
  if (!description) return;
  if (!description->is(Kind::kString)) {
    refusals.push_back(refusal("\"description\" is no string but " + shortened(description->raw()),
                               "give a string, or leave it out"));
    return;
  }
  manifest.description = json::decode_string(*description);
  if (const size_t characters = utf8::count(*manifest.description); characters > limits::kDescriptionChars) {
    refusals.push_back(refusal("the description is " + grouped(characters) +
                                   " characters long and may have at most " +
                                   grouped(limits::kDescriptionChars),
                               "shorten it"));
  }
}

Warnings odd_members(const Value& manifest) {
  Warnings warnings;
  std::set<std::string> seen;
  size_t more = 0;
  const auto warn = [&](std::string message) {
    if (warnings.size() < limits::kReportedRefusals) {
      warnings.push_back({.rule = kRule, .where = kFile, .message = std::move(message)});
    } else {
      ++more;
    }
  };
  json::for_each_member(manifest, [&](const std::string& name, const Value&) {
    const bool known = name == "abi" || name == "name" || name == "description";
    if (!seen.insert(name).second) {
      warn("the member " + in_quotes(name) + " is there more than once; the last one counts");
    } else if (!known) {
      warn("the member " + in_quotes(name) + " means nothing here and is ignored");
    }
    return true;
  });
  if (more > 0)
    warnings.push_back({.rule = kRule, .where = kFile, .message = "and " + grouped(more) + " more"});
  return warnings;
}

}  // namespace

std::expected<ReadManifest, Refusals> read_manifest(std::string_view text) {
  if (text.size() > limits::kManifestBytes) {
    return refused("the manifest is over " + grouped(limits::kManifestBytes) + " bytes (64 KiB)", kExample);
  }
  if (text.starts_with("\xef\xbb\xbf")) {
    return refused("the manifest begins with a byte order mark, which JSON doesn't have",
                   "save it as UTF-8 without a byte order mark (BOM)");
  }
  const auto json = json::parse(text);
  if (!json) {
    return refused(
        "the manifest isn't JSON: " + position(text, json.error().offset) + ": " + json.error().what,
        kExample);
  }
  if (!json->is(Kind::kObject))
    return refused("the manifest is no JSON object but " + shortened(json->raw()), kExample);
  if (!json::find(*json, "abi") && json::find(*json, "functions")) {
    return refused(
        "the manifest is that of SDK 0.2.0 (\"functions\" and no \"abi\"), which spoke another ABI",
        "rebuild the package with a newer SDK: it writes \"abi\":1, and its functions are asked for by "
        "tools/list");
  }
  ReadManifest read;
  Refusals refusals;
  check_abi(*json, refusals);
  read_name(*json, read.manifest, refusals);
  read_description(*json, read.manifest, refusals);
  if (!refusals.empty()) return std::unexpected(std::move(refusals));
  read.warnings = odd_members(*json);
  return read;
}

}  // namespace subako::protocol
