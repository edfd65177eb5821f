#include "guest_http/imports.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/limits.h"
#include "guest_http/host.h"

namespace subako::guest_http {
namespace {

// Answers what the test says, when it says so.
struct Scripted final : Backend {
  std::optional<std::string> answer(std::string_view request) override {
    asked.emplace_back(request);
    return reply;
  }
  std::vector<std::string> asked;
  std::optional<std::string> reply;
};

class GuestHttp : public ::testing::Test {
 protected:
  abi::Answer<uint32_t> call(std::string_view name, uint64_t at, uint64_t length) {
    const abi::Import* import = abi::find(imports(), name);
    EXPECT_NE(import, nullptr);
    const std::array<uint64_t, 2> raw{at, length};
    return import->call(&host, abi::GuestMemory(memory), raw);
  }
  int32_t number(std::string_view name, uint64_t at, uint64_t length) {
    const auto answer = call(name, at, length);
    EXPECT_TRUE(answer.has_value()) << name << " must never trap";
    return answer ? static_cast<int32_t>(*answer) : INT32_MIN;
  }
  uint32_t put(std::string_view text, size_t at = 16) {
    std::memcpy(memory.data() + at, text.data(), text.size());
    return static_cast<uint32_t>(text.size());
  }
  std::string got(size_t at, size_t length) {
    return {reinterpret_cast<const char*>(memory.data()) + at, length};
  }

  std::vector<std::byte> memory = std::vector<std::byte>(65536);
  Scripted backend;
  Host host{backend};
};

TEST_F(GuestHttp, is_two_functions_of_two_numbers) {  // spec: M3, H1
  ASSERT_EQ(imports().size(), 2U);
  for (const abi::Import& import : imports()) {
    EXPECT_EQ(import.module, kModule);
    EXPECT_EQ(abi::describe(import.type), "(i32, i32) -> i32");
  }
  EXPECT_TRUE(abi::find(imports(), "request")->waits);
}

TEST_F(GuestHttp, an_answer_is_held_until_it_is_read) {  // spec: H1
  backend.reply = R"({"ok":1})";
  const uint32_t length = put("{}");
  EXPECT_EQ(number("request", 16, length), 8);
  EXPECT_EQ(backend.asked, std::vector<std::string>{"{}"});
  EXPECT_EQ(number("read_response", 100, 8), 0);
  EXPECT_EQ(got(100, 8), R"({"ok":1})");
  EXPECT_EQ(number("read_response", 100, 8), -2);
}

TEST_F(GuestHttp, misuse_is_a_number_checked_in_order_and_keeps_the_answer) {  // spec: H1
  EXPECT_EQ(number("read_response", 0xffffffff, 0xffffffff), -2);  // nothing held, before all else
  backend.reply = "12345";
  ASSERT_EQ(number("request", 16, put("{}")), 5);
  EXPECT_EQ(number("read_response", 0xffffffff, 4), -3);   // the length, before the range
  EXPECT_EQ(number("read_response", 65532, 5), -1);
  EXPECT_EQ(number("read_response", 0xffffffff, 5), -1);
  EXPECT_EQ(number("request", 65535, 2), -1);
  EXPECT_EQ(number("request", 0xffffffff, 0xffffffff), -1);
  EXPECT_EQ(number("request", 65537, 0), -1);
  EXPECT_EQ(backend.asked.size(), 1U) << "a request outside memory is not sent";
  EXPECT_EQ(number("read_response", 65531, 5), 0) << "all of that left the answer held, and the last byte of memory is memory";
  EXPECT_EQ(got(65531, 5), "12345");
}

TEST_F(GuestHttp, a_second_request_replaces_the_answer) {  // spec: H1
  backend.reply = "first";
  ASSERT_EQ(number("request", 16, put("{}")), 5);
  backend.reply = "second";
  ASSERT_EQ(number("request", 16, put("{}")), 6);
  EXPECT_EQ(number("read_response", 0, 5), -3);
  EXPECT_EQ(number("read_response", 0, 6), 0);
  EXPECT_EQ(got(0, 6), "second");
}

TEST_F(GuestHttp, waits_until_there_is_an_answer) {  // spec: C12
  const uint32_t length = put("{}");
  const auto first = call("request", 16, length);
  ASSERT_FALSE(first.has_value());
  EXPECT_TRUE(std::holds_alternative<abi::Wait>(first.error()));
  backend.reply = "x";
  EXPECT_EQ(number("request", 16, length), 1);
}

TEST(DenyAllBackend, tells_a_bad_request_from_one_that_is_not_allowed) {  // spec: U1, H2, H5
  DenyAll deny;
  const auto has = [&](std::string_view request, std::string_view word) {
    const auto answer = deny.answer(request);
    EXPECT_TRUE(answer.has_value());
    EXPECT_NE(answer->find(word), std::string::npos) << *answer;
    EXPECT_TRUE(answer->starts_with(R"({"error":{"kind":")"));
  };
  has(R"({"url":"https://example.com/"})", "host_not_allowed");
  has("", "invalid_request");
  has("{", "invalid_request");
  has("[]", "invalid_request");
  has("\xff", "invalid_request");
  has(std::string(limits::kHttpRequestBytes + 1, ' '), "invalid_request");
  has(std::string(limits::kHttpRequestBytes - 2, ' ') + "{}", "host_not_allowed");
}

}  // namespace
}  // namespace subako::guest_http
