#include "protocol/manifest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/limits.h"

namespace subako::protocol {
namespace {

TEST(Manifest, is_read) {  // spec: B2
  for (const char* abi : {"1", "1.0", "1e0", "10E-1"}) {
    const auto read = read_manifest(std::string("{\"abi\": ") + abi +
                                    ", \"name\": \"my-pack_1\", \"description\": \"説明\"}\r\n");
    ASSERT_TRUE(read.has_value()) << abi << ": " << read.error()[0].message;
    EXPECT_EQ(read->manifest.name, "my-pack_1");
    EXPECT_EQ(read->manifest.description, "説明");
    EXPECT_TRUE(read->warnings.empty());
  }
  EXPECT_EQ(read_manifest(R"({"abi":1,"name":"a"})")->manifest.description, std::nullopt);
  EXPECT_EQ(read_manifest(R"({"abi":1,"name":"a","description":null})")->manifest.description, std::nullopt);
  EXPECT_EQ(read_manifest(R"({"abi":1,"name":"a","description":""})")->manifest.description, "");
}

TEST(Manifest, bounds_are_inclusive) {  // spec: B2
  const auto with = [](const std::string& name, const std::string& description) {
    return read_manifest(R"({"abi":1,"name":")" + name + R"(","description":")" + description + "\"}");
  };
  std::string thousand;
  for (int i = 0; i < 1024; ++i) thousand += "語";
  EXPECT_TRUE(with(std::string(64, 'a'), thousand).has_value());
  EXPECT_FALSE(with(std::string(65, 'a'), "").has_value());
  EXPECT_FALSE(with("a", thousand + "x").has_value());
  std::string padded = R"({"abi":1,"name":"a"})";
  padded.resize(limits::kManifestBytes, ' ');
  EXPECT_TRUE(read_manifest(padded).has_value());
  EXPECT_FALSE(read_manifest(padded + " ").has_value());
}

TEST(Manifest, refusals_say_what_was_found) {  // spec: B2
  struct Row {
    std::string text;
    std::vector<std::string> found;
  };
  for (const Row& row :
       std::vector<Row>{{"", {"isn't JSON: line 1, column 1"}},
                        {"{\n  \"abi\": 1,\n  \"名\": x}", {"line 3, column 8: expected a value"}},
                        {"\xef\xbb\xbf{\"abi\":1,\"name\":\"a\"}", {"byte order mark"}},
                        {"{\"abi\":1,\"name\":\"\xff\"}", {"not UTF-8"}},
                        {"[1]", {"no JSON object but [1]"}},
                        {R"({"abi":"1","name":"a"})", {"must be the number 1, but is \"1\""}},
                        {R"({"abi":2,"name":"a"})", {"but is 2"}},
                        {R"({"abi":null,"name":"a"})", {"but is null"}},
                        {R"({"abi":true,"name":"a"})", {"but is true"}},
                        {R"({"name":"a"})", {"no \"abi\""}},
                        {R"({"abi":1})", {"no \"name\""}},
                        {R"({"abi":1,"name":""})", {"is empty"}},
                        {R"({"abi":1,"name":"My Pack"})", {"has a character that is not allowed, \"M\""}},
                        {R"({"abi":1,"name":"a\u001b"})", {"not allowed, \"\\x1b\""}},
                        {R"({"abi":1,"name":"日本"})", {"not allowed, \"日\""}},
                        {R"({"abi":1,"name":7})", {"no string but 7"}},
                        {R"({"abi":1,"name":"a","description":[]})", {"no string but []"}},
                        {R"({"abi":0,"name":"A","description":1})", {"but is 0", "\"A\"", "no string but 1"}},
                        {R"({"name":"a","functions":[{"name":"f"}]})", {"SDK 0.2.0"}}}) {
    const auto read = read_manifest(row.text);
    ASSERT_FALSE(read.has_value()) << row.text;
    ASSERT_EQ(read.error().size(), row.found.size()) << row.text;
    for (size_t i = 0; i < row.found.size(); ++i) {
      EXPECT_EQ(read.error()[i].rule, "B2");
      EXPECT_EQ(read.error()[i].where, "subako-package.json");
      EXPECT_NE(read.error()[i].message.find(row.found[i]), std::string::npos) << read.error()[i].message;
      EXPECT_FALSE(read.error()[i].hint.empty());
    }
  }
}

TEST(Manifest, other_members_are_warnings) {  // spec: B2
  const auto read = read_manifest(R"({"abi":1,"name":"a","version":"1.0","functions":[],"name":"b"})");
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->manifest.name, "b");
  ASSERT_EQ(read->warnings.size(), 3U);
  EXPECT_NE(read->warnings[0].message.find("\"version\""), std::string::npos);
  EXPECT_NE(read->warnings[1].message.find("\"functions\""), std::string::npos);
  EXPECT_NE(read->warnings[2].message.find("more than once"), std::string::npos);
  std::string many = R"({"abi":1,"name":"a")";
  for (int i = 0; i < 3000; ++i) many += ",\"m" + std::to_string(i) + "\":0";
  EXPECT_EQ(read_manifest(many + "}")->warnings.size(), limits::kReportedRefusals + 1);
}

}  // namespace
}  // namespace subako::protocol
