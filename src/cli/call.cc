// subako call: one call of one tool, and what the model would read of it.
#include "base/quote.h"
#include "base/utf8.h"
#include "cli/call_inputs.h"
#include "cli/commands.h"
#include "cli/drawn_output.h"
#include "cli/human.h"
#include "cli/intake.h"
#include "cli/seen_call.h"
#include "core/render.h"
#include "protocol/request.h"

namespace subako::cli {

namespace {

std::string refused_json(const Refusals& refusals, std::string_view stderr_tail) {
  json::Writer out(json::Writer::Style::kIndented);
  out.begin_object().key("outcome").string("refused").key("refusals");
  write_refusals(out, refusals, stderr_tail);
  out.end_object();
  return std::move(out).text() + "\n";
}

Exit tell_refused(const CallOptions& options, const Terminal& terminal, const Intake& intake) {
  if (options.json) return write_out(refused_json(intake.refusals, intake.stderr_tail), Exit::kRefused);
  write_err(refusal_text(intake, terminal.colour));
  return Exit::kRefused;
}

// Of the call rather than the bundle.
Exit tell_refused(const CallOptions& options, const Terminal& terminal, Refusal refusal) {
  if (options.json) return write_out(refused_json({std::move(refusal)}, {}), Exit::kRefused);
  Intake intake;
  intake.refusals.push_back(std::move(refusal));
  write_err(refusal_text(intake, terminal.colour));
  return Exit::kRefused;
}

Refusal unlisted(const core::CheckedPackage& package, const std::string& tool) {
  std::vector<std::string_view> names;
  std::string all;
  for (const protocol::Tool& listed : package.tools) {
    names.push_back(listed.name);
    all += (all.empty() ? "" : ", ") + listed.name;
  }
  const std::string_view near = nearest(tool, names);
  std::string hint = near.empty() ? "" : "did you mean " + std::string(near) + "? ";
  return {"C11", "tool \"" + utf8::lossy(tool) + "\"",
          "the package " + package.built->name + " lists no such tool", hint + "it offers " + all};
}

void write_picture(json::Writer& out, const core::ShownPicture& picture, const std::string& file) {
  out.key("picture").begin_object();
  out.key("media_type").string(protocol::picture_media_type(picture.format));
  out.key("width")
      .uint64(picture.width)
      .key("height")
      .uint64(picture.height)
      .key("bytes")
      .uint64(picture.size);
  out.key("source_width").uint64(picture.source_width).key("source_height").uint64(picture.source_height);
  out.key("first_frame").boolean(picture.first_frame);
  if (!file.empty()) out.key("file").string(file);
  out.end_object();
}

void write_view(json::Writer& out, const SeenCall& seen) {
  out.begin_array();
  for (const SeenLine& line : seen.lines) {
    const protocol::ViewBlock& block = line.seen.block;
    out.begin_object()
        .key("kind")
        .string(protocol::view_kind_name(block.kind))
        .key("text")
        .string(block.text);
    if (line.seen.picture) write_picture(out, *line.seen.picture, line.file);
    out.end_object();
  }
  out.end_array();
}

void write_crash(json::Writer& out, const core::CallRecord& record) {
  const auto* crash = std::get_if<protocol::Crash>(&record.outcome);
  if (crash == nullptr) {
    out.null();
    return;
  }
  out.begin_object()
      .key("cause")
      .string(protocol::cause_name(crash->cause))
      .key("message")
      .string(crash->message);
  out.key("out_of_memory").boolean(crash->out_of_memory);
  out.key("stderr_tail").string(core::told_stderr(record.stderr_kept)).key("backtrace").begin_array();
  for (const std::string& frame : crash->backtrace) out.string(frame);
  out.end_array().end_object();
}

std::string_view outcome_name(const protocol::Outcome& outcome) {
  if (std::holds_alternative<protocol::Answered>(outcome)) return "answered";
  return std::holds_alternative<protocol::Crash>(outcome) ? "crashed" : "cancelled";
}

void write_http(json::Writer& out, const std::vector<core::HttpExchange>& http) {
  out.begin_array();
  for (const core::HttpExchange& exchange : http) {
    out.begin_object().key("origin").string(exchange.origin).key("status").uint64(exchange.status);
    out.key("error").string(exchange.error).key("ms").number(exchange.ms).end_object();
  }
  out.end_array();
}

void write_volume(json::Writer& out, const core::Measures& measures) {
  if (!measures.volume) {
    out.null();
    return;
  }
  out.begin_object().key("bytes").uint64(measures.volume->bytes).key("entries").uint64(measures.volume->entries);
  out.key("full").boolean(measures.volume_full != core::VolumeFull::kNo).end_object();
}

std::string record_json(const core::CallRecord& record, const SeenCall& seen, const Intake& intake) {
  json::Writer out(json::Writer::Style::kIndented);
  out.begin_object().key("outcome").string(outcome_name(record.outcome)).key("result");
  const auto* answered = std::get_if<protocol::Answered>(&record.outcome);
  answered != nullptr ? out.raw(answered->result) : out.null();
  out.key("view");
  write_view(out, seen);
  out.key("crash");
  write_crash(out, record);
  out.key("cached").boolean(intake.built->cached);
  out.key("timings_ms").begin_object();
  write_build_times(out, *intake.built);
  out.key("check").number(intake.check.total_ms);
  write_run_times(out, record.measures);
  out.end_object();
  out.key("cpu_ms").number(record.measures.cpu_ms);
  out.key("peak_memory_bytes").uint64(record.measures.peak_memory_bytes);
  out.key("written_bytes").uint64(record.measures.written_bytes).key("volume");
  write_volume(out, record.measures);
  out.key("http");
  write_http(out, record.measures.http);
  out.end_object();
  return std::move(out).text() + "\n";
}

Exit status_of(const core::CallRecord& record) {
  if (const auto* crash = std::get_if<protocol::Crash>(&record.outcome)) {
    return crash->cause == protocol::Cause::kHost ? Exit::kFault : Exit::kCrashed;
  }
  if (std::holds_alternative<protocol::WasCancelled>(record.outcome)) return Exit::kCancelled;
  return core::is_error(record) ? Exit::kToolError : Exit::kAnswered;
}

// The cause is for people: the model doesn't read it.
void tell_crash(const protocol::Crash& crash, bool colour) {
  std::string text = coloured("crashed", Colour::kRed, colour) + " [" +
                     std::string(protocol::cause_name(crash.cause)) +
                     "]: " + utf8::escape_for_people(crash.message) + "\n";
  for (const std::string& frame : crash.backtrace) text += "    at " + utf8::escape_for_people(frame) + "\n";
  write_err(text);
}

// The guest was told ENOSPC; whatever it made of that, people are told why.
void tell_full_volume(const core::Measures& measures, bool colour) {
  if (measures.volume_full == core::VolumeFull::kNo) return;
  const std::string holds = measures.volume_full == core::VolumeFull::kBytes
                                ? human_bytes(measures.volume_most.bytes) + " of files"
                                : grouped(measures.volume_most.entries) + " files, folders and links";
  write_err(coloured("note", Colour::kYellow, colour) + ": the Volume was full: it may hold " + holds +
            "; delete something in it\n");
}

Exit tell_record(const core::CallRecord& record, const SeenCall& seen, const Terminal& terminal) {
  if (const auto* crash = std::get_if<protocol::Crash>(&record.outcome)) tell_crash(*crash, terminal.colour);
  tell_full_volume(record.measures, terminal.colour);
  const Exit status = status_of(record);
  if (status == Exit::kCancelled) return status;
  std::string text;
  std::optional<DrawnOutput> out;  // from the first picture that is drawn
  for (const SeenLine& line : seen.lines) {
    std::string words = line.seen.block.text;
    if (!line.file.empty()) words += " saved as " + line.file;
    if (terminal.out) words = utf8::escape_for_people(words);
    if (!words.ends_with('\n')) words += "\n";
    text += words;
    if (!line.drawn) continue;
    auto drawing = drawing_of(line, seen.how, terminal);
    if (!drawing) {
      say_error(drawing.error().message);
      continue;
    }
    if (!out) out.emplace();
    if (!out->text(text) || !out->drawing(*drawing)) break;
    text.clear();
  }
  if (!out) return write_out(text, status);
  (void)out->text(text);
  return out->exit(status);
}

struct Inputs {
  std::chrono::milliseconds timeout = limits::kDefaultTimeout;
  std::vector<core::SkillTree> skills;
  PictureOptions pictures;
};

// What can be found wrong without looking at the bundle.
Result<Inputs> read_inputs(const CallOptions& options) {
  Inputs inputs;
  if (!options.timeout.empty()) {
    TRY(inputs.timeout, parse_timeout(options.timeout));
  }
  TRY(inputs.skills, open_skills(options.skills));
  TRY(inputs.pictures, picture_options(options));
  return inputs;
}

Result<std::string> checked_arguments(const std::string& given) {
  TRY(const std::string text, read_arguments(given));
  // An empty shell variable or file is a slip, not a wish.
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return fail(Code::kInvalid, "the arguments are empty, and so no JSON object");
  }
  return protocol::check_arguments(text);
}

Exit run_call(const CallOptions& options, const Terminal& terminal, Inputs inputs, std::string arguments) {
  auto session = Session::open(terminal, options.no_cache ? Session::Cache::kNone : Session::Cache::kUsed,
                               options.sandbox);
  if (!session) return report(session.error());
  Progress progress(terminal.err);
  const auto intake = take_in(**session, options.bundle, progress);
  progress.clear();
  if (!intake) return report(intake.error());
  if (!intake->package) return tell_refused(options, terminal, *intake);
  const core::CheckedPackage& package = *intake->package;
  if (package.find(options.tool) == nullptr)
    return tell_refused(options, terminal, unlisted(package, options.tool));

  auto volume = open_volume(options.volume, options.data, (*session)->scratch(), &(*session)->sandbox());
  if (!volume) return report(volume.error());
  const auto folder = open_picture_folder(inputs.pictures);
  if (!folder) return report(folder.error());
  for (core::SkillTree& skill : inputs.skills) {
    auto handed = (*session)->sandbox().hand_folder(skill.folder.get(), child::Access::kRead);
    if (!handed) return report(handed.error());
    volume->trees.skills.push_back({std::move(skill.name), *std::move(handed)});
  }
  core::CallRequest request;
  request.package = &package;
  request.tool = options.tool;
  request.arguments = std::move(arguments);
  request.timeout = inputs.timeout;
  request.trees = &volume->trees;
  const auto record = (*session)->call(std::move(request), progress);
  if (!record) return report(record.error());
  const auto seen = see_call(**session, *record, volume->trees, inputs.pictures, *folder, terminal, progress);
  // Before anything is written: a reader that doesn't read holds us up, and a signal must end us then.
  volume->temporary.reset();
  session->reset();
  if (!seen) return report(seen.error());
  const Exit status = options.json ? write_out(record_json(*record, *seen, *intake), status_of(*record))
                                   : tell_record(*record, *seen, terminal);
  return seen->not_saved ? report(*seen->not_saved) : status;
}

}  // namespace

Exit call(const CallOptions& options, const Terminal& terminal) {
  auto inputs = read_inputs(options);
  if (!inputs) return report(inputs.error());
  auto arguments = checked_arguments(options.arguments);
  if (!arguments && (arguments.error().code == Code::kInvalid || arguments.error().code == Code::kTooLarge)) {
    return tell_refused(options, terminal,
                        Refusal{"C10", "arguments", arguments.error().message,
                                "pass one JSON object, such as '{\"name\":\"Ann\"}'"});
  }
  if (!arguments) return report(arguments.error());
  return run_call(options, terminal, *std::move(inputs), *std::move(arguments));
}

}  // namespace subako::cli
