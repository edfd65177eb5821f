#include "engine/module_check.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/wat.h"

namespace subako::engine {
namespace {

using testing::wat;

abi::Answer<uint32_t> never_called(void*, abi::GuestMemory, std::span<const uint64_t>) { return 0U; }

// Two host functions stand for all: the real tables have tests of their own.
const std::vector<abi::Import>& host_functions() {
  static const std::vector<abi::Import> rows{
      {"wasi_snapshot_preview1", "fd_close", {{abi::ValueType::kI32}, 1, true}, false, never_called},
      {"wasi_snapshot_preview1", "proc_exit", {{abi::ValueType::kI32}, 1, false}, false, never_called}};
  return rows;
}

Refusals check(std::span<const std::byte> wasm) {
  const std::span<const abi::Import> table(host_functions());
  return check_module(wasm, std::span(&table, 1));
}

std::string rules(const Refusals& refusals) {
  std::string text;
  for (const Refusal& r : refusals) text += (text.empty() ? "" : " ") + r.rule;
  return text;
}

std::vector<std::byte> bytes(std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

constexpr std::string_view kBody = R"((memory (export "memory") 1) (func (export "_start")))";

std::string module(std::string_view fields) { return "(module " + std::string(fields) + ")"; }

TEST(ModuleCheck, accepts_a_command_and_what_is_more) {  // spec: M2
  for (const std::string& fields :
       {std::string(kBody), std::string(kBody) + "(func $s) (start $s)", std::string(kBody) + "(func (export \"extra\"))",
        std::string(R"((import "wasi_snapshot_preview1" "fd_close" (func (param i32) (result i32))))") + std::string(kBody),
        std::string(R"((memory (export "memory") 1 65536) (func (export "_start")))"),
        std::string(R"((memory (export "memory") 8192) (func (export "_start")))")}) {
    EXPECT_EQ(rules(check(wat(module(fields)))), "") << fields;
  }
}

TEST(ModuleCheck, says_what_a_file_is_that_is_no_core_module) {  // spec: M1
  struct Row {
    std::string_view bytes;
    std::string_view word;
  };
  using namespace std::string_view_literals;
  for (const Row& row :
       {Row{"", "empty"}, Row{"\0as"sv, "doesn't begin"}, Row{"\0asm\1"sv, "inside its header"},
        Row{"\x7f" "ELF\2\1\1\0\0\0"sv, "native program"}, Row{"\0asm\x0d\0\1\0"sv, "component"}, Row{"\0asm\x0d\0\1\0\0\5\4name"sv, "component"},
        Row{"\0asm\2\0\0\0"sv, "version 2"}, Row{"  (module)", "text"}, Row{"(component)", "text"}, Row{"hello there", "no WebAssembly"}}) {
    const Refusals refusals = check(bytes(row.bytes));
    ASSERT_EQ(rules(refusals), "M1") << row.bytes;
    EXPECT_NE(refusals[0].message.find(row.word), std::string::npos) << refusals[0].message;
  }
}

TEST(ModuleCheck, asks_for_start_and_memory) {  // spec: M2
  struct Row {
    std::string fields;
    std::string_view rules;
    std::string_view word;
  };
  for (const Row& row : std::vector<Row>{
           {R"((memory (export "memory") 1))", "M2", "no function _start"},
           {R"((memory (export "memory") 1) (func (export "_initialize")))", "M2", "reactor"},
           {R"((memory (export "memory") 1) (func (export "_start") (result i32) i32.const 0))", "M2", "() -> i32"},
           {R"((memory (export "memory") 1) (func (export "_start") (param i64)))", "M2", "(i64) -> ()"},
           {R"((memory (export "memory") 1) (global (export "_start") i32 (i32.const 0)))", "M2", "a global"},
           {R"((memory (export "mem") 1) (func (export "_start")))", "M2", "\"mem\""},
           {R"((func (export "_start")))", "M2", "no memory"},
           {R"((func (export "memory")) (func (export "_start")))", "M2", "not a memory"},
           {R"((memory 1))", "M2 M2", "_start"}}) {
    const Refusals refusals = check(wat(module(row.fields)));
    ASSERT_EQ(rules(refusals), row.rules) << row.fields;
    EXPECT_NE(refusals[0].message.find(row.word), std::string::npos) << refusals[0].message;
    EXPECT_FALSE(refusals[0].hint.empty());
  }
}

TEST(ModuleCheck, lists_every_import_that_is_not_offered) {  // spec: M3
  const Refusals refusals = check(wat(module(std::string(R"(
    (import "wasi_snapshot_preview1" "fd_close" (func (param i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "fd_close" (func (param i32) (result i32)))
    (import "wasi_snapshot_preview1" "proc_exit" (func (param i32) (result i32)))
    (import "wasi_snapshot_preview1" "sock_connect" (func))
    (import "wasi_unstable" "fd_close" (func (param i32) (result i32)))
    (import "wasi:cli/environment@0.2.0" "get" (func))
    (import "env" "g" (global i32))
    (import "env" "t" (table 1 funcref))
    (import "env" "missing" (func)))") + std::string(kBody))));
  ASSERT_EQ(rules(refusals), "M3 M3 M3 M3 M3 M3 M3 M3");
  EXPECT_NE(refusals[0].message.find("(i32, i32) -> i32"), std::string::npos) << refusals[0].message;
  EXPECT_NE(refusals[0].message.find("the host has (i32) -> i32"), std::string::npos) << refusals[0].message;
  EXPECT_EQ(refusals[2].where, "import wasi_snapshot_preview1.sock_connect");
  EXPECT_NE(refusals[3].hint.find("preview 1"), std::string::npos);
  EXPECT_NE(refusals[4].hint.find("preview 2"), std::string::npos);
}

TEST(ModuleCheck, a_flood_of_wrong_imports_is_counted_not_listed) {  // spec: M3
  std::string fields;
  for (int i = 0; i < 5000; ++i) fields += "(import \"env\" \"f" + std::to_string(i) + "\" (func))";
  const Refusals refusals = check(wat(module(fields + std::string(kBody))));
  EXPECT_EQ(refusals.size(), 101U);
  EXPECT_NE(refusals.back().message.find("4900 more"), std::string::npos) << refusals.back().message;
}

TEST(ModuleCheck, names_the_feature_that_is_not_webassembly_2) {  // spec: M4
  struct Row {
    std::string_view fields;
    std::string_view feature;
  };
  for (const Row& row : {
           Row{R"((memory (export "memory") 1 1 shared) (func (export "_start")))", "threads"},
           Row{R"((memory (export "memory") 1) (func (export "_start") (drop (i32.atomic.load (i32.const 0)))))", "threads"},
           Row{R"((memory (export "memory") 1) (tag) (func (export "_start") throw 0))", "exceptions"},
           Row{R"((memory (export "memory") 1) (func $f) (func (export "_start") return_call $f))", "tail calls"},
           Row{R"((memory (export "memory") i64 1) (func (export "_start")))", "memory64"},
           Row{R"((memory (export "memory") 1) (memory 1) (func (export "_start")))", "multi-memory"},
           Row{R"((memory (export "memory") 1) (global i32 (i32.add (i32.const 1) (i32.const 2))) (func (export "_start")))",
               "extended constant expressions"},
       }) {
    const Refusals refusals = check(wat(module(row.fields), "--enable-all --no-check"));
    ASSERT_EQ(rules(refusals), "M4") << row.fields;
    EXPECT_NE(refusals[0].message.find("it uses " + std::string(row.feature)), std::string::npos) << refusals[0].message;
    EXPECT_TRUE(refusals[0].where.starts_with("module.wasm byte ")) << refusals[0].where;
  }
}

TEST(ModuleCheck, refuses_what_is_not_valid) {  // spec: M4
  const Refusals refusals = check(wat(
      module(R"((memory (export "memory") 1) (func (export "_start") i64.const 1 i32.const 1 i32.add drop))"), "--no-check"));
  ASSERT_EQ(rules(refusals), "M4");
  EXPECT_NE(refusals[0].message.find("not valid"), std::string::npos) << refusals[0].message;
}

TEST(ModuleCheck, bounds_memory_and_tables_by_what_they_start_with) {  // spec: M5
  struct Row {
    std::string fields;
    std::string_view rules;
  };
  std::string many_tables(kBody);
  for (int i = 0; i < 101; ++i) many_tables += "(table 1 funcref)";
  for (const Row& row : std::vector<Row>{
           {R"((memory (export "memory") 8193) (func (export "_start")))", "M5"},
           {R"((memory (export "memory") 65536) (func (export "_start")))", "M5"},
           {std::string(kBody) + "(table 1000000 funcref)", ""},
           {std::string(kBody) + "(table 1000001 funcref)", "M5"},
           {std::string(kBody) + "(table 600000 funcref) (table 600000 externref)", "M5"},
           {std::string(kBody) + "(table 1 4294967295 funcref)", ""},
           {std::string(kBody) + "(table 4294967295 funcref)", "M5"},
           {std::string(kBody) + "(table 4294967295 4294967295 externref)", "M5"},
           {many_tables, "M5"}}) {
    EXPECT_EQ(rules(check(wat(module(row.fields)))), row.rules) << row.fields.substr(0, 100);
  }
}

TEST(ModuleCheck, a_module_cut_or_changed_anywhere_never_gets_through_as_a_crash) {  // spec: M6
  const std::vector<std::byte> good = wat(module(std::string(
      R"((import "wasi_snapshot_preview1" "fd_close" (func (param i32) (result i32))) (table 3 funcref))") +
      std::string(kBody)));
  ASSERT_TRUE(check(good).empty());
  for (size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(check(std::span(good).first(length)).empty()) << length;
  }
  for (size_t at = 0; at < good.size(); ++at) {
    for (const unsigned value : {0x00U, 0x01U, 0x7fU, 0x80U, 0xffU}) {
      std::vector<std::byte> bad = good;
      bad[at] = static_cast<std::byte>(value);
      (void)check(bad);
    }
  }
}

}  // namespace
}  // namespace subako::engine
