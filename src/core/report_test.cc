#include "core/report.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/limits.h"

namespace subako::core {
namespace {

TEST(Report, measures_are_made_finite) {
  child::Ended ended;
  ended.mutable_answered()->set_result(R"({"content":[]})");
  ended.mutable_measured()->set_run_ms(std::nan(""));
  ended.mutable_measured()->set_cpu_ms(-1);
  ended.mutable_measured()->set_exit_ms(INFINITY);
  ended.mutable_measured()->set_start_ms(2.5);
  const auto record = call_record_of(ended);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->measures.run_ms, 0);
  EXPECT_EQ(record->measures.cpu_ms, 0);
  EXPECT_EQ(record->measures.exit_ms, 0);
  EXPECT_EQ(record->measures.start_ms, 2.5);
}

TEST(Report, a_result_stays_as_the_guest_spelt_it) {  // spec: R1
  child::Ended ended;
  const std::string result = R"({ "content":[], "structuredContent": 1e400, "x":-0.0 })";
  ended.mutable_answered()->set_result(result);
  const auto record = call_record_of(ended);
  ASSERT_TRUE(record) << record.error();
  EXPECT_EQ(std::get<protocol::Answered>(record->outcome).result, result);
}

TEST(Report, a_crash_at_upload_names_its_rule) {  // spec: U2
  for (const auto& [cause, rule] :
       std::vector<std::pair<std::string, std::string>>{{"timeout", "U1"},
                                                        {"stdout_limit", "L4"},
                                                        {"no_exit", "C8"},
                                                        {"not_a_message", "C6"},
                                                        {"trap", "C9"},
                                                        {"exit_code", "C9"},
                                                        {"jsonrpc_error", "C9"}}) {
    child::Ended ended;
    ended.mutable_crashed()->set_cause(cause);
    ended.mutable_crashed()->set_message("said so");
    auto report = upload_report_of(ended);
    ASSERT_TRUE(report) << cause;
    EXPECT_EQ(std::get<Refused>(report->verdict).refusals.at(0).rule, rule) << cause;
    EXPECT_FALSE(std::get<Refused>(report->verdict).refusals.at(0).hint.empty()) << cause;
  }
}

TEST(Report, a_crash_at_upload_comes_before_what_was_refused_before_it) {  // spec: U4
  child::Ended ended;
  ended.mutable_crashed()->set_cause("exit_code");
  ended.mutable_crashed()->set_message("exited with code 7");
  for (const char* rule : {"U2", "U3"}) ended.mutable_crashed()->add_refusals()->set_rule(rule);
  ended.mutable_crashed()->add_warnings()->set_rule("U3");
  auto report = upload_report_of(ended);
  ASSERT_TRUE(report);
  const auto& refused = std::get<Refused>(report->verdict);
  std::string rules;
  for (const Refusal& refusal : refused.refusals) rules += refusal.rule + " ";
  EXPECT_EQ(rules, "C9 U2 U3 ");
  EXPECT_EQ(refused.warnings.size(), 1U);
  EXPECT_EQ(report->warnings.size(), 1U);
}

TEST(Report, a_backtrace_is_bounded) {
  child::Ended ended;
  ended.mutable_crashed()->set_cause("trap");
  for (int i = 0; i < 2000; ++i) ended.mutable_crashed()->add_backtrace(std::string(20'000, 'f'));
  const auto record = call_record_of(ended);
  const auto& crash = std::get<protocol::Crash>(record->outcome);
  EXPECT_EQ(crash.backtrace.size(), 1000U);
  EXPECT_LT(crash.backtrace.at(0).size(), 17'000U);
}

TEST(Report, a_name_that_none_can_have_is_no_package) {  // spec: B2
  for (const char* name : {"", "A", "a/b", "../x", "a b"}) {
    child::Unpacked unpacked;
    unpacked.set_name(name);
    EXPECT_FALSE(unpacked_of(unpacked)) << name;
  }
}

TEST(Report, a_builder_announces_no_more_than_there_can_be) {  // spec: L12 M6
  child::Unpacked unpacked;
  unpacked.set_name("sample");
  unpacked.set_module_bytes(limits::kBundleBytes);
  unpacked.set_asset_files(limits::kAssetFiles);
  EXPECT_TRUE(unpacked_of(unpacked));
  unpacked.set_module_bytes(limits::kBundleBytes + 1);
  EXPECT_FALSE(unpacked_of(unpacked));
  unpacked.set_module_bytes(UINT64_MAX);
  EXPECT_FALSE(unpacked_of(unpacked));
  unpacked.set_module_bytes(1);
  unpacked.set_asset_bytes(limits::kBundleBytes + 1);
  EXPECT_FALSE(unpacked_of(unpacked));
  unpacked.set_asset_bytes(0);
  unpacked.set_asset_files(limits::kAssetFiles + 1);
  EXPECT_FALSE(unpacked_of(unpacked));

  BuiltPackage package;
  child::Compiled compiled;
  compiled.set_compiled_bytes(limits::kCompiledBytes);
  EXPECT_TRUE(add_compiled(package, compiled));
  EXPECT_EQ(package.compiled_bytes, limits::kCompiledBytes);
  for (const uint64_t bytes : {uint64_t{0}, limits::kCompiledBytes + 1, UINT64_MAX}) {
    compiled.set_compiled_bytes(bytes);
    EXPECT_FALSE(add_compiled(package, compiled)) << bytes;
  }
  compiled.set_compiled_bytes(1);
  compiled.set_identity(std::string(limits::kEngineIdentityBytes + 1, 'i'));
  EXPECT_FALSE(add_compiled(package, compiled));
}

}  // namespace
}  // namespace subako::core
