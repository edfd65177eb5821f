#include "engine/identity.h"

#include <gtest/gtest.h>

namespace subako::engine {
namespace {

TEST(Identity, is_the_same_for_every_engine_of_this_build) {
  const auto one = Engine::for_running(1);
  const auto many = Engine::for_running(8);
  ASSERT_TRUE(one && many);
  EXPECT_EQ(identity(*one), identity(*many));
  EXPECT_TRUE(identity(*one).starts_with("20:")) << "a build id of 20 bytes";
  EXPECT_GT(identity(*one).size(), 100U) << "and what Wasmtime says";
}

// What a builder compiles a worker loads: they must agree on what the key of a kept module says.
TEST(Identity, compiling_and_running_agree) {
  const auto compiles = Engine::for_compiling();
  const auto runs = Engine::for_running(2);
  ASSERT_TRUE(compiles && runs);
  EXPECT_EQ(compiles->compatibility(), runs->compatibility());
  EXPECT_NE(compiles->compatibility().find("48.0.8"), std::string::npos) << "Wasmtime's version";
}

}  // namespace
}  // namespace subako::engine
