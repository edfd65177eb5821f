#include "core/report.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/limits.h"
#include "base/utf8.h"
#include "core/render.h"
#include "protocol/call_result.h"
#include "protocol/json.h"
#include "protocol/names.h"

namespace subako::core {

namespace {

using Misbehaviour = std::unexpected<std::string>;

std::string clip(std::string_view text, size_t most = limits::kReportedTextBytes) {
  if (text.size() <= most) return std::string(text);
  size_t end = most;
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xc0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + "…";
}

double duration(double ms) {
  return std::isfinite(ms) && ms > 0 ? ms : 0;
}

// Calls `take` for at most kReportedItems; returns how many were left out.
template <class Items, class Take>
size_t each(const Items& items, const Take& take) {
  size_t n = 0;
  for (const auto& item : items) {
    if (n++ == limits::kReportedItems) break;
    take(item);
  }
  return static_cast<size_t>(items.size()) -
         std::min<size_t>(static_cast<size_t>(items.size()), limits::kReportedItems);
}

Measures measures_of(const child::Measured& from) {
  Measures to;
  to.instantiate_ms = duration(from.instantiate_ms());
  to.start_ms = duration(from.start_ms());
  to.run_ms = duration(from.run_ms());
  to.exit_ms = duration(from.exit_ms());
  to.cpu_ms = duration(from.cpu_ms());
  to.peak_memory_bytes = from.peak_memory_bytes();
  to.written_bytes = from.written_bytes();
  to.volume_full = from.volume_full() == child::Measured::BYTES     ? VolumeFull::kBytes
                   : from.volume_full() == child::Measured::ENTRIES ? VolumeFull::kEntries
                                                                    : VolumeFull::kNo;
  each(from.http(), [&](const child::HttpExchange& exchange) {
    to.http.push_back(
        {clip(exchange.origin()), exchange.status(), clip(exchange.error()), duration(exchange.ms())});
  });
  return to;
}

std::expected<protocol::Crash, std::string> crash_of(const child::Crashed& from) {
  const auto cause = protocol::cause_from_name(from.cause());
  if (!cause) return Misbehaviour("named a cause of a crash that there isn't");
  protocol::Crash crash;
  crash.cause = *cause;
  crash.message = clip(from.message());
  crash.out_of_memory = from.out_of_memory();
  each(from.backtrace(), [&](const std::string& frame) { crash.backtrace.push_back(clip(frame)); });
  return crash;
}

std::expected<protocol::Outcome, std::string> call_outcome(child::Ended& ended) {
  switch (ended.outcome_case()) {
    case child::Ended::kCrashed: {
      TRY(protocol::Crash crash, crash_of(ended.crashed()));
      return crash;
    }
    case child::Ended::kCancelled:
      return protocol::WasCancelled{};
    case child::Ended::kAnswered: {
      const auto value = json::parse(ended.answered().result());
      if (!value || !value->is(json::Kind::kObject))
        return Misbehaviour("passed on an answer that is no JSON object");
      if (!protocol::read_call_result(*value))
        return Misbehaviour("passed on an answer that is no CallToolResult");
      return protocol::Answered{std::move(*ended.mutable_answered()->mutable_result())};
    }
    default:
      return Misbehaviour("ended a call without an outcome");
  }
}

// The tools as a page of tools/list: the rules of U3 are checked again on this side.
std::expected<std::string, std::string> page_of(const child::Answered& answered) {
  if (static_cast<size_t>(answered.tools_size()) > limits::kTools)
    return Misbehaviour("listed too many tools");
  std::string page = R"({"tools":[)";
  for (const child::Tool& from : answered.tools()) {
    protocol::Tool tool;
    tool.name = from.name();
    tool.input_schema = from.input_schema();
    if (from.has_description()) tool.description = from.description();
    const auto given = [](bool has, const std::string& text) {
      return has ? std::optional(text) : std::nullopt;
    };
    tool.output_schema = given(from.has_output_schema(), from.output_schema());
    tool.title = given(from.has_title(), from.title());
    tool.annotations = given(from.has_annotations(), from.annotations());
    tool.icons = given(from.has_icons(), from.icons());
    tool.meta = given(from.has_meta(), from.meta());
    for (const auto& part : {std::optional(tool.input_schema), tool.output_schema, tool.title,
                             tool.annotations, tool.icons, tool.meta}) {
      if (part && !json::parse(*part)) return Misbehaviour("listed a tool that is no JSON");
    }
    if (page.back() == '}') page += ',';
    page += protocol::tool_json(tool);
  }
  return page + "]}";
}

std::expected<std::vector<protocol::Tool>, std::string> tools_of(const child::Answered& answered) {
  TRY(const std::string page, page_of(answered));
  const auto value = json::parse(page);
  if (!value) return Misbehaviour("listed a tool that is no JSON");
  protocol::ToolList list;
  (void)list.add_page(*value);
  list.finish();
  if (!list.refusals().empty())
    return Misbehaviour("listed tools that break rule " + list.refusals().front().rule);
  return list.tools();
}

std::string rule_of(const protocol::Crash& crash) {
  if (crash.out_of_memory) return "L2";
  switch (crash.cause) {
    case protocol::Cause::kTimeout:
      return "U1";
    case protocol::Cause::kStdoutLimit:
      return "L4";
    case protocol::Cause::kNoExit:
      return "C8";
    case protocol::Cause::kNotAMessage:
      return "C6";
    case protocol::Cause::kBadResult:
      return "U2";
    default:
      return "C9";
  }
}

std::string hint_of(const protocol::Crash& crash) {
  if (crash.out_of_memory) return "let the start-up need less memory: an instance has 512 MiB in all";
  switch (crash.cause) {
    case protocol::Cause::kTimeout:
      return "do less before the first read of stdin: start-up and all answers of the upload check have 10 s";
    case protocol::Cause::kNotAMessage:
    case protocol::Cause::kStdoutLimit:
      return "write nothing but JSON-RPC messages to stdout; logs belong on stderr";
    case protocol::Cause::kNoExit:
      return "return from main when stdin is at its end";
    case protocol::Cause::kNoAnswer:
      return "read requests from stdin until it ends, and answer each with one line on stdout";
    default:
      return "mend the package so that it answers server/discover and tools/list; its stderr may say more";
  }
}

Refusal refusal_of(const protocol::Crash& crash) {
  std::string message = crash.message;
  for (const std::string& frame : crash.backtrace) message += "\n    at " + frame;
  return {rule_of(crash), "upload check", std::move(message), hint_of(crash)};
}

}  // namespace

Refusals refusals_of(const google::protobuf::RepeatedPtrField<child::Refusal>& reported) {
  Refusals out;
  const size_t left_out = each(reported, [&](const child::Refusal& r) {
    out.push_back({clip(r.rule()), clip(r.where()), clip(r.message()), clip(r.hint())});
  });
  if (left_out > 0) {
    out.push_back({out.back().rule, "", std::to_string(left_out) + " more reasons are left out here", ""});
  }
  return out;
}

Warnings warnings_of(const google::protobuf::RepeatedPtrField<child::Warning>& reported) {
  Warnings out;
  const size_t left_out = each(reported, [&](const child::Warning& w) {
    out.push_back({clip(w.rule()), clip(w.where()), clip(w.message())});
  });
  if (left_out > 0) {
    out.push_back({out.back().rule, "", std::to_string(left_out) + " more warnings are left out here"});
  }
  return out;
}

std::expected<CallRecord, std::string> call_record_of(child::Ended ended) {
  if (ended.stderr().size() > limits::kStderrKeptBytes) return Misbehaviour("kept more stderr than it may");
  CallRecord record;
  TRY(record.outcome, call_outcome(ended));
  record.stderr_left_out = ended.stderr_left_out();
  record.measures = measures_of(ended.measured());
  record.stderr_kept = std::move(*ended.mutable_stderr());
  return record;
}

std::expected<UploadReport, std::string> upload_report_of(child::Ended ended) {
  if (ended.stderr().size() > limits::kStderrKeptBytes) return Misbehaviour("kept more stderr than it may");
  UploadReport report;
  report.measures = measures_of(ended.measured());
  const std::string tail = told_stderr(ended.stderr());
  if (ended.has_cancelled()) {
    report.cancelled = true;
  } else if (ended.has_crashed()) {
    TRY(protocol::Crash crash, crash_of(ended.crashed()));
    if (crash.cause == protocol::Cause::kHost) {
      report.host_fault = std::move(crash);
    } else {
      // What it broke before it crashed is told too (U4).
      report.warnings = warnings_of(ended.crashed().warnings());
      Refused refused{{refusal_of(crash)}, report.warnings, tail};
      std::ranges::move(refusals_of(ended.crashed().refusals()), std::back_inserter(refused.refusals));
      report.verdict = std::move(refused);
    }
  } else if (ended.has_answered()) {
    report.warnings = warnings_of(ended.answered().warnings());
    if (ended.answered().refusals_size() > 0) {
      report.verdict = Refused{refusals_of(ended.answered().refusals()), report.warnings, tail};
    } else {
      TRY(report.verdict, tools_of(ended.answered()));
    }
  } else {
    return Misbehaviour("ended an upload check without an outcome");
  }
  return report;
}

std::expected<BuiltPackage, std::string> unpacked_of(const child::Unpacked& unpacked) {
  const std::string& name = unpacked.name();
  if (protocol::name_fault(name)) return Misbehaviour("gave a package a name that none can have");
  if (unpacked.has_description() && utf8::count(unpacked.description()) > limits::kDescriptionChars) {
    return Misbehaviour("gave a package a description that is too long");
  }
  if (unpacked.module_bytes() > limits::kBundleBytes || unpacked.asset_bytes() > limits::kBundleBytes ||
      unpacked.asset_files() > limits::kAssetFiles) {
    return Misbehaviour("announced more than a bundle can hold");
  }
  BuiltPackage out;
  out.name = name;
  if (unpacked.has_description()) out.description = unpacked.description();
  out.module_bytes = unpacked.module_bytes();
  out.asset_bytes = unpacked.asset_bytes();
  out.asset_files = unpacked.asset_files();
  out.times.unpack_ms = duration(unpacked.unpack_ms());
  out.warnings = warnings_of(unpacked.warnings());
  return out;
}

std::expected<void, std::string> add_compiled(BuiltPackage& package, const child::Compiled& compiled) {
  if (compiled.compiled_bytes() == 0) return Misbehaviour("wrote no compiled module");
  if (compiled.compiled_bytes() > limits::kCompiledBytes)
    return Misbehaviour("announced a larger compiled module than there may be");
  if (compiled.identity().size() > limits::kEngineIdentityBytes)
    return Misbehaviour("said too much of what it runs");
  package.compiled_bytes = compiled.compiled_bytes();
  package.times.validate_ms = duration(compiled.validate_ms());
  package.times.compile_ms = duration(compiled.compile_ms());
  return {};
}

}  // namespace subako::core
