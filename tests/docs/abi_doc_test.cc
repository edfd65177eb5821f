// docs/abi.md lists the host functions as the tables have them. UPDATE=1 rewrites the lists.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "guest_http/imports.h"
#include "wasi/imports.h"

namespace subako {
namespace {

constexpr std::string_view kBegin = "<!-- imports -->\n";
constexpr std::string_view kEnd = "<!-- /imports -->";

std::string table(std::span<const abi::Import> imports) {
  std::string text = "### `" + std::string(imports.front().module) + "`\n\n| function | type | waits |\n|---|---|---|\n";
  for (const abi::Import& import : imports) {
    text += "| `" + std::string(import.name) + "` | `" + abi::describe(import.type) + "` | " +
            (import.waits ? "yes" : "") + " |\n";
  }
  return text + "\n";
}

TEST(AbiDoc, lists_the_imports_that_guests_are_linked_with) {  // spec: M3
  std::ifstream file(ABI_DOC);
  std::string doc((std::istreambuf_iterator<char>(file)), {});
  const size_t begin = doc.find(kBegin);
  const size_t end = doc.find(kEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const std::string want = "\n" + table(wasi::imports()) + table(guest_http::imports());
  const std::string have = doc.substr(begin + kBegin.size(), end - begin - kBegin.size());
  if (std::getenv("UPDATE") != nullptr) {
    doc.replace(begin + kBegin.size(), have.size(), want);
    std::ofstream(ABI_DOC) << doc;
    return;
  }
  EXPECT_EQ(have, want) << "run this test with UPDATE=1";
}

}  // namespace
}  // namespace subako
