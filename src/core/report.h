// What a child reports, from its message to our data; private to core, pure. A child is hostile: what it
// couldn't have said honestly is an error (the text completes "the worker "), and its sender is ended; what
// is merely too long is cut off.
#pragma once

#include <expected>
#include <string>

#include "child/messages.pb.h"
#include "core/call.h"
#include "core/package.h"

namespace subako::core {

[[nodiscard]] Refusals refusals_of(const google::protobuf::RepeatedPtrField<child::Refusal>& reported);
[[nodiscard]] Warnings warnings_of(const google::protobuf::RepeatedPtrField<child::Warning>& reported);

// The outcome, stderr and measures of a call; queue and load are left to the caller.
[[nodiscard]] std::expected<CallRecord, std::string> call_record_of(child::Ended ended);

struct UploadReport {
  std::variant<std::vector<protocol::Tool>, Refused> verdict;
  std::optional<protocol::Crash> host_fault;  // the run failed, but not by the guest
  bool cancelled = false;
  Warnings warnings;
  Measures measures;
};
// A crash of the guest is a refusal (U2), by the rule that it broke; then come those from before it.
[[nodiscard]] std::expected<UploadReport, std::string> upload_report_of(child::Ended ended);

// Of the builder that unpacked; the compiled module and the files are left to the caller.
[[nodiscard]] std::expected<BuiltPackage, std::string> unpacked_of(const child::Unpacked& unpacked);
// Of the builder that compiled.
[[nodiscard]] std::expected<void, std::string> add_compiled(BuiltPackage& package,
                                                            const child::Compiled& compiled);

}  // namespace subako::core
