// What all forms of a bundle have in common, over ordinary archives written by libarchive.
#include "bundle/reader.h"

#include <archive.h>
#include <archive_entry.h>

#include "bundle/asset_folder.h"
#include "bundle/bundle_fixture.h"

namespace subako::bundle {
namespace {

using testing::Assets;
using testing::kManifest;
using testing::kModule;
using testing::read_bytes;
using testing::TarEntry;
using testing::told;

struct Files {
  const char* path;
  std::string bytes;
};

std::string archived(int (*format)(::archive*), bool gzipped, const std::vector<Files>& files) {
  std::string out(4 << 20, '\0');
  size_t used = 0;
  ::archive* writer = archive_write_new();
  format(writer);
  if (gzipped) archive_write_add_filter_gzip(writer);
  archive_write_open_memory(writer, out.data(), out.size(), &used);
  for (const Files& file : files) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, file.path);
    archive_entry_set_mtime(entry, 1'700'000'000, 123'456'789);  // pax needs a header for the fraction
    const bool folder = std::string_view(file.path).ends_with('/');
    archive_entry_set_filetype(entry, folder ? AE_IFDIR : AE_IFREG);
    archive_entry_set_perm(entry, folder ? 0755 : 0600);
    archive_entry_set_size(entry, static_cast<la_int64_t>(file.bytes.size()));
    EXPECT_EQ(archive_write_header(writer, entry), ARCHIVE_OK) << archive_error_string(writer);
    archive_write_data(writer, file.bytes.data(), file.bytes.size());
    archive_entry_free(entry);
  }
  archive_write_close(writer);
  archive_write_free(writer);
  out.resize(used);
  return out;
}

struct Form {
  const char* name;
  int (*format)(::archive*);
  bool gzipped;
};
constexpr Form kForms[] = {
    {"ustar", archive_write_set_format_ustar, false}, {"ustar.gz", archive_write_set_format_ustar, true},
    {"pax", archive_write_set_format_pax, false},     {"pax.gz", archive_write_set_format_pax, true},
    {"gnu", archive_write_set_format_gnutar, false},  {"gnu.gz", archive_write_set_format_gnutar, true},
    {"v7", archive_write_set_format_v7tar, false},    {"zip", archive_write_set_format_zip, false},
};

TEST(Reader, takes_every_form) {  // spec: B1
  std::string noise;
  for (uint32_t i = 0, x = 1; i < 700'000; ++i)
    noise += static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  for (const Form& form : kForms) {
    const std::string bytes = archived(form.format, form.gzipped,
                                       {{"./", ""},
                                        {"./subako-package.json", std::string(kManifest)},
                                        {"assets/", ""},
                                        {"assets/empty/", ""},
                                        {"assets/a/b.bin", noise},
                                        {"assets/zero", ""},
                                        {"module.wasm", kModule}});
    Assets assets;
    const Unpacking unpacking = read_bytes(bytes, assets);
    ASSERT_EQ(told(unpacking), "accepted") << form.name;
    EXPECT_EQ(unpacking.bundle->manifest.name, "greet");
    EXPECT_EQ(unpacking.bundle->manifest_text, kManifest);
    EXPECT_EQ(assets.module_bytes, kModule);
    EXPECT_EQ(unpacking.bundle->module_bytes, kModule.size());
    EXPECT_EQ(unpacking.bundle->asset_files, 2U);
    EXPECT_EQ(unpacking.bundle->asset_bytes, noise.size());
    EXPECT_TRUE(unpacking.warnings.empty()) << form.name;
    const std::map<std::string, std::string> expected = {
        {"a/", ""}, {"a/b.bin", noise}, {"empty/", ""}, {"zero", ""}};
    EXPECT_EQ(assets.files, expected) << form.name;
  }
}

TEST(Reader, takes_long_names) {  // spec: B3
  std::string path = "assets";
  while (path.size() < 1024 - 10) path += "/abcdefghi";
  for (const Form& form : kForms) {
    if (std::string_view(form.name).starts_with("ustar") || std::string_view(form.name) == "v7") continue;
    const std::string bytes = archived(
        form.format, form.gzipped,
        {{"subako-package.json", std::string(kManifest)}, {"module.wasm", kModule}, {path.c_str(), "x"}});
    Assets assets;
    ASSERT_EQ(told(read_bytes(bytes, assets)), "accepted") << form.name;
    EXPECT_TRUE(assets.files.contains(path.substr(7))) << form.name;
  }
}

TEST(Reader, writes_assets_to_a_folder) {  // spec: B1
  const testing::Scratch out;
  const Fd out_fd = out.open();
  const Fd module = testing::file_of("");
  AssetFolder assets(out_fd.get(), module.get());
  const Fd bundle =
      testing::file_of(testing::gzip(testing::tar_with({{"assets/a/日本.txt", "hi"}, {"assets/b", ""}})));
  const auto unpacking = read_bundle(bundle.get(), assets);
  ASSERT_TRUE(unpacking);
  EXPECT_EQ(told(*unpacking), "accepted");
  EXPECT_EQ(out.read("a/日本.txt"), "hi");
  EXPECT_EQ(testing::bytes_of(module), kModule);
  EXPECT_TRUE(std::filesystem::exists(out.path() / "b"));
}

TEST(Reader, tells_what_is_missing) {  // spec: B1
  EXPECT_EQ(told(testing::tar({{"module.wasm", kModule}})),
            "B1 subako-package.json: the bundle has no file of this name\n");
  EXPECT_EQ(told(testing::tar({{"subako-package.json", std::string(kManifest)}})),
            "B1 module.wasm: the bundle has no file of this name\n");
  EXPECT_EQ(told(testing::tar({})), "B1 : the bundle is empty\n");
  EXPECT_EQ(told(testing::Zip().done()), "B1 : the bundle is empty\n");
  EXPECT_EQ(told(testing::gzip(testing::tar({}))), "B1 : the bundle is empty\n");
}

TEST(Reader, names_one_wrapping_folder) {  // spec: B3
  const std::string wrapped = testing::tar({{"greet/", "", '5'},
                                            {"greet/module.wasm", kModule},
                                            {"greet/subako-package.json", ""},
                                            {"greet/assets/x", ""}});
  EXPECT_EQ(told(wrapped), "B3 greet/module.wasm: everything lies inside the folder \"greet/\"\n");
}

TEST(Reader, skips_what_macos_leaves_behind_with_a_warning) {  // spec: B3
  Assets assets;
  const Unpacking unpacking = read_bytes(
      testing::tar_with(
          {{".DS_Store", "x"}, {"__MACOSX/", "", '5'}, {"__MACOSX/._a", "x"}, {"assets/._b", "x"}}),
      assets);
  EXPECT_EQ(told(unpacking), "accepted");
  EXPECT_TRUE(assets.files.empty());
  ASSERT_EQ(unpacking.warnings.size(), 1U);
  EXPECT_EQ(unpacking.warnings[0].where, ".DS_Store");
  EXPECT_NE(unpacking.warnings[0].message.find("4 entries"), std::string::npos);
}

TEST(Reader, refuses_duplicates_however_they_are_spelt) {  // spec: B3
  const std::string twice = "the bundle holds this file twice";
  const std::string both = "the bundle holds a file and a folder of this name";
  struct Row {
    std::vector<TarEntry> more;
    std::string told;
  };
  for (const Row& row : {
           Row{{{"./module.wasm", "x"}}, "B3 ./module.wasm: " + twice + "\n"},
           Row{{{"assets/a", ""}, {"assets//a", ""}}, "B3 assets//a: " + twice + "\n"},
           Row{{{"assets/a", ""}, {"assets/./a", ""}}, "B3 assets/./a: " + twice + "\n"},
           Row{{{"assets/a", ""}, {"assets/a/b", ""}}, "B3 assets/a: " + both + "\n"},
           Row{{{"assets/a/b", ""}, {"assets/a", ""}}, "B3 assets/a: " + both + "\n"},
           Row{{{"assets/a", ""}, {"assets/a/", "", '5'}}, "B3 assets/a: " + both + "\n"},
           Row{{{"assets/a/", "", '5'}, {"assets/a/", "", '5'}}, "accepted"},
           Row{{{"assets/a", ""}, {"assets/A", ""}}, "accepted"},
       }) {
    EXPECT_EQ(told(testing::tar_with(row.more)), row.told);
  }
}

TEST(Reader, tells_every_refusal_at_once) {  // spec: B3
  const std::string text = told(testing::tar({{"/abs", "1"},
                                              {"assets/../../up", "2"},
                                              {"assets/l", "", '2', "/etc/passwd"},
                                              {"src/a.rs", "3"},
                                              {"src/b.rs", "4"},
                                              {"README.md", "5"},
                                              {"subako-package.json", "{}"}}));
  for (const char* part : {"B3 /abs: ", "B3 assets/../../up: ", "B3 assets/l: the entry is a symbolic link",
                           "B3 src/a.rs: a bundle has no file here (nor the 1 more in \"src/\")",
                           "B3 README.md: ", "B1 module.wasm: ", "B2 "}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(Reader, bounds_what_it_tells) {  // spec: B3
  std::vector<TarEntry> many;
  for (int i = 0; i < 1000; ++i) {
    many.push_back({"../" + std::to_string(i), ""});
    many.push_back({"stray" + std::to_string(i), ""});
  }
  Assets assets;
  const Unpacking unpacking = read_bytes(testing::tar_with(many), assets);
  ASSERT_FALSE(unpacking.bundle);
  EXPECT_LE(unpacking.bundle.error().size(), 51U);
  EXPECT_NE(told(unpacking).find("more refusals"), std::string::npos);
}

TEST(Reader, hands_the_sink_nothing_after_a_refusal) {  // spec: B3
  Assets assets;
  const Unpacking unpacking =
      read_bytes(testing::tar_with({{"assets/a", "1"}, {"../x", ""}, {"assets/b", "2"}}), assets);
  EXPECT_FALSE(unpacking.bundle);
  EXPECT_EQ(assets.files.size(), 1U);
}

TEST(Reader, escapes_hostile_names) {  // spec: B3
  const std::string text = told(testing::tar_with({{"\x1b[2Jevil", ""}}));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("\\x1b[2Jevil"), std::string::npos);
}

TEST(Reader, refuses_a_manifest_that_is_too_large) {  // spec: B2
  const std::string text =
      told(testing::tar({{"subako-package.json", std::string(65537, ' ')}, {"module.wasm", kModule}}));
  EXPECT_EQ(text, "B2 subako-package.json: the manifest is larger than 64 KiB\n");
}

TEST(Reader, says_what_a_file_is_that_is_no_bundle) {  // spec: B1
  struct Row {
    std::string bytes;
    std::string_view told;
  };
  for (const Row& row : {
           Row{"", "the file is empty"},
           Row{kModule, "bare module"},
           Row{std::string("\0asm\x0d\0\x01\0", 8), "component"},
           Row{"(module)", "as text"},
           Row{"{\"abi\":1}", "manifest alone"},
           Row{"BZh91AY", "bzip2"},
           Row{std::string("\xfd"
                           "7zXZ\0",
                           6),
               "xz"},
           Row{"\x7f"
               "ELF",
               "native program"},
           Row{"hello\x1b[0m", "begins with \"hello\\x1b[0m\""},
           Row{"one\n\ttwo", "begins with \"one\\n\\ttwo\""},
           Row{testing::gzip("hello"), "the gzip file's content is no archive"},
           Row{testing::gzip(testing::zip_with({})), "the gzip file's content is a zip"},
           Row{testing::gzip(testing::gzip(testing::tar_with({}))), "is a gzip file itself"},
           Row{std::string(100, '\0'), "no archive"},
       }) {
    const std::string text = told(row.bytes);
    EXPECT_TRUE(text.starts_with("B1 ")) << text;
    EXPECT_NE(text.find(row.told), std::string::npos) << text;
  }
}

TEST(Reader, an_error_is_ours_and_no_refusal) {  // spec: B1
  Assets assets;
  EXPECT_FALSE(read_archive(-1, assets));
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const Fd in(ends[0]);
  const Fd out(ends[1]);
  EXPECT_FALSE(read_bundle(in.get(), assets));
}

}  // namespace
}  // namespace subako::bundle
