#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "protocol/call_result.h"

namespace subako::protocol {
namespace {

TEST(VolumeUri, names_a_path_beneath_the_volume) {  // spec: R3
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"volume:///tmp/chart.png", "tmp/chart.png"},
      {"VOLUME:///tmp/chart.png", "tmp/chart.png"},
      {"volume:///data/a/b.png", "data/a/b.png"},
      {"volume:///tmp/%E5%9B%B3%20a%2Bb.webp", "tmp/図 a+b.webp"},
      {"volume:///tmp/many/%E5%9B%B3%200%20%2B%20%25.png", "tmp/many/図 0 + %.png"},
      {"volume:///tmp/図 a.png", "tmp/図 a.png"},
      {"volume:///tmp//odd/./jpeg-named.png", "tmp/odd/jpeg-named.png"},
      {"volume:////tmp/%2e/a.png/", "tmp/a.png"},
      {"volume:///t%6dp/a%0Ab.png", "tmp/a\nb.png"},
      {"volume:///tmp/%2525.png", "tmp/%25.png"},
      {"volume:///tmp/...", "tmp/..."},
      {"volume:///tmp/a%3fb%23.png", "tmp/a?b#.png"},
  };
  for (const auto& [uri, path] : rows) EXPECT_EQ(volume_path(uri, true), path) << uri;
}

TEST(VolumeUri, anything_else_names_none) {  // spec: R3
  for (const std::string& uri : std::vector<std::string>{"",
                                                         "volume",
                                                         "volume:",
                                                         "volume://",
                                                         "volume:///",
                                                         "volume:///tmp",
                                                         "volume:///tmp/",
                                                         "volume:///tmp/.",
                                                         "volume:/tmp/a.png",
                                                         "volume:tmp/a.png",
                                                         "volume://host/tmp/a.png",
                                                         "volume://localhost/tmp/a.png",
                                                         "volume:///etc/passwd",
                                                         "volume:///../etc/passwd",
                                                         "volume:///tmp/../../../../etc/passwd",
                                                         "volume:///tmp/../tmp/a.png",
                                                         "volume:///tmp/%2e%2E/a.png",
                                                         "volume:///tmp/.%2e/a.png",
                                                         "volume:///tmp/a%2Fb.png",
                                                         "volume:///tmp/a%2fb.png",
                                                         "volume:///tmp%2Fa.png",
                                                         "volume:///tmp/a%00.png",
                                                         std::string("volume:///tmp/a\0.png", 20),
                                                         "volume:///tmp/a.png?x",
                                                         "volume:///tmp/a.png#x",
                                                         "volume:///tmp/a%.png",
                                                         "volume:///tmp/a%2",
                                                         "volume:///tmp/a%zz.png",
                                                         "volume:///tmp/a%+1.png",
                                                         "volume:///tmp/%ff.png",
                                                         "volume:///TMP/a.png",
                                                         "volume:///package/logo.png",
                                                         "file:///tmp/a.png",
                                                         "https://example.com/a.png",
                                                         " volume:///tmp/a.png",
                                                         "volumes:///tmp/a.png"}) {
    EXPECT_EQ(volume_path(uri, true), std::nullopt) << uri;
  }
}

TEST(VolumeUri, data_is_there_only_where_enabled) {  // spec: R3
  EXPECT_EQ(volume_path("volume:///data/a.png", true), "data/a.png");
  EXPECT_EQ(volume_path("volume:///data/a.png", false), std::nullopt);
  EXPECT_EQ(volume_path("volume:///tmp/data/a.png", false), "tmp/data/a.png");
}

}  // namespace
}  // namespace subako::protocol
