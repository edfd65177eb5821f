// Bombs, cuts and random damage: nothing crashes, nothing wrong is accepted, nothing lands outside the output
// folder.
#include <random>

#include "bundle/asset_folder.h"
#include "bundle/bundle_fixture.h"

namespace subako::bundle {
namespace {

using testing::Assets;
using testing::gzip;
using testing::kManifest;
using testing::kModule;
using testing::read_bytes;
using testing::Scratch;
using testing::told;

// `mib` MiB of zeros as a gzip member of a thousandth of the size; a tar's header can go before it as another
// member.
std::string gzip_zeros(int mib) {
  return gzip(std::string(static_cast<size_t>(mib) << 20U, '\0'));
}

struct Counting final : AssetSink {
  Result<void> module(std::string_view) override { return {}; }
  Result<void> folder(const std::string&) override { return {}; }
  Result<void> open(const std::string&) override { return {}; }
  Result<void> write(std::string_view more) override {
    bytes += more.size();
    return {};
  }
  Result<void> close() override { return {}; }
  uint64_t bytes = 0;
};

TEST(Bomb, is_stopped_at_the_bound) {  // spec: B3
  const std::string over = "the bundle unpacks to more than 64 MiB";
  const int64_t claimed = int64_t{8} << 30;
  const std::string zeros = gzip_zeros(66);
  for (const char* path :
       {"assets/bomb", ".DS_Store", "../bomb", "src/bomb", "module.wasm", "subako-package.json"}) {
    Counting assets;
    const Unpacking unpacking =
        read_bytes(gzip(testing::tar_header({path, "", '0', "", claimed - 1})) + zeros, assets);
    EXPECT_NE(told(unpacking).find(over), std::string::npos) << path << told(unpacking);
    EXPECT_LE(assets.bytes, 64U << 20U);
  }
  EXPECT_EQ(told(gzip_zeros(130)), "B3 : the gzip file unpacks to more than 128 MiB\n");
  EXPECT_NE(told(testing::zip_with({{"assets/bomb", std::string(65 << 20, '\0')}})).find(over),
            std::string::npos);
  EXPECT_NE(told(testing::zip_with({{"assets/bomb", std::string(1 << 20, '\0'), 8, 0, 0100644, 100}}))
                .find("larger than"),
            std::string::npos);
}

TEST(Bomb, exactly_the_bound_is_fine) {  // spec: L12
  const uint64_t rest = (64U << 20U) - kManifest.size() - kModule.size();
  Counting assets;
  EXPECT_EQ(told(read_bytes(testing::tar_with({{"assets/x", std::string(rest, 'x')}}), assets)), "accepted");
  EXPECT_EQ(assets.bytes, rest);
  EXPECT_NE(told(testing::tar_with({{"assets/x", std::string(rest + 1, 'x')}})), "accepted");
}

TEST(Bomb, of_many_entries_is_stopped) {  // spec: B1
  std::string files = testing::tar_entry({"subako-package.json", std::string(kManifest)}) +
                      testing::tar_entry({"module.wasm", kModule});
  for (int i = 0; i < 10'000; ++i) files += testing::tar_header({"assets/" + std::to_string(i), ""});
  const std::string end(1024, '\0');
  EXPECT_EQ(told(files + end), "accepted");
  EXPECT_NE(
      told(files + testing::tar_header({"assets/one_more", ""}) + end).find("more than 10000 asset files"),
      std::string::npos);

  std::string folders;
  const std::string folder = testing::tar_header({"assets/d/", "", '5'});
  for (int i = 0; i <= 100'000; ++i) folders += folder;
  EXPECT_NE(told(folders + end).find("more than 100000 entries"), std::string::npos);

  std::string implied;
  for (int i = 0; i < 2000; ++i) {
    std::string path = "assets/" + std::to_string(i);
    while (path.size() < 1000) path += "/abcdefgh";
    implied +=
        testing::tar_entry({"", testing::pax_record("path", path), 'x'}) + testing::tar_header({"x", ""});
  }
  Counting nowhere;
  EXPECT_NE(told(read_bytes(implied + end, nowhere)).find("more than 100000 files and folders"),
            std::string::npos);
}

struct Sample {
  const char* name;
  std::string bytes;
};

std::vector<Sample> samples() {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "line " + std::to_string(i * 7919) + "\n";
  const std::string plain =
      testing::tar_with({{"assets/d/a", text},
                         {"h", testing::pax_record("path", "assets/" + std::string(120, 'p')), 'x'},
                         {"x", "pax"},
                         {"assets/e/", "", '5'}});
  return {
      {"tar", plain},
      {"tar.gz", gzip(plain)},
      {"zip", testing::zip_with(
                  {{"assets/d/a", text}, {"assets/s", "stored", 0, 8}, {"assets/e/", "", 0, 0, 040755}})}};
}

TEST(Cut, at_every_length_never_passes_for_another_bundle) {  // spec: B1
  for (const Sample& sample : samples()) {
    Assets whole;
    ASSERT_EQ(told(read_bytes(sample.bytes, whole)), "accepted") << sample.name;
    size_t accepted = 0;
    for (size_t length = 0; length < sample.bytes.size(); ++length) {
      Assets assets;
      const Unpacking unpacking = read_bytes(std::string_view(sample.bytes).substr(0, length), assets);
      if (!unpacking.bundle) continue;
      ++accepted;  // only of a tar's padding may something be missing
      EXPECT_EQ(assets.files, whole.files) << sample.name << length;
      EXPECT_EQ(assets.module_bytes, kModule);
    }
    EXPECT_EQ(accepted, sample.name == std::string_view("tar") ? 512U : 0U) << sample.name;
  }
}

void mutate(std::string& bytes, std::mt19937& random) {
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  for (size_t n = 1 + below(4); n > 0; --n) {
    const size_t at = below(bytes.size());
    switch (below(5)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1U << below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(random());
        break;
      case 2:
        bytes.erase(at, 1 + below(64));
        break;
      case 3:
        bytes.insert(at, bytes.substr(below(bytes.size()), below(64)));
        break;
      default:
        bytes.replace(at, std::min<size_t>(3, bytes.size() - at), "../",
                      std::min<size_t>(3, bytes.size() - at));
    }
    if (bytes.empty()) bytes = "x";
  }
}

// So that mutations get past the first check of a tar: every header gets a right checksum.
void mend_checksums(std::string& bytes) {
  for (size_t at = 0; at + 512 <= bytes.size(); at += 512) {
    if (std::string_view(bytes).substr(at + 257, 5) != "ustar") continue;
    unsigned sum = 0;
    for (size_t i = 0; i < 512; ++i)
      sum += static_cast<unsigned char>(i >= 148 && i < 156 ? ' ' : bytes[at + i]);
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "%06o", sum);
    bytes.replace(at + 148, 7, std::string_view(text.data(), 7));
  }
}

TEST(Mutation, writes_nothing_outside_and_never_crashes) {  // spec: B3
  std::mt19937 random(20260728);                            // NOLINT: the same every time
  for (const Sample& sample : samples()) {
    const Scratch around;
    const auto out = around.path() / "a/b/out";
    for (int i = 0; i < 700; ++i) {
      std::filesystem::remove_all(out);
      std::filesystem::create_directories(out);
      const Fd out_fd(::open(out.c_str(), O_RDONLY | O_DIRECTORY));
      std::string bytes = sample.bytes;
      mutate(bytes, random);
      if (sample.name == std::string_view("tar") && i % 2 == 0) mend_checksums(bytes);
      const Fd module = testing::file_of("");
      AssetFolder assets(out_fd.get(), module.get());
      const Fd bundle = testing::file_of(bytes);
      const auto unpacking = read_archive(bundle.get(), assets);
      ASSERT_TRUE(unpacking) << sample.name << i << unpacking.error().message;
    }
    std::filesystem::remove_all(out);
    size_t left = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::recursive_directory_iterator(around.path()))
      ++left;
    EXPECT_EQ(left, 2U) << sample.name;
  }
}

}  // namespace
}  // namespace subako::bundle
