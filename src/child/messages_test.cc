#include <gtest/gtest.h>

#include "child/envelope.h"
#include "child/messages.pb.h"

namespace subako::child {
namespace {

TEST(Envelope, a_message_survives) {
  ToWorker message;
  message.mutable_start_run()->set_run(7);
  message.mutable_start_run()->mutable_call()->set_arguments("{\"a\":1e400}");
  const auto back = decode<ToWorker>(encode(message));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->start_run().run(), 7U);
  EXPECT_EQ(back->start_run().call().arguments(), "{\"a\":1e400}");
}

TEST(Envelope, refuses_what_is_no_message) {
  silence_decoding();
  testing::internal::CaptureStderr();
  EXPECT_FALSE(decode<FromWorker>("\xff\xff\xff"));
  FromBuilder failed;
  failed.mutable_failed()->set_message("abc");
  std::string body = encode(failed);
  body.back() = '\xff';
  EXPECT_FALSE(decode<FromBuilder>(body)) << "a string that is not UTF-8";
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "who decodes tells it, not protobuf";
}

}  // namespace
}  // namespace subako::child
