#include "bundle/packer.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>

#include <algorithm>

#include "bundle/bundle_fixture.h"

namespace subako::bundle {
namespace {

using testing::Assets;
using testing::kManifest;
using testing::kModule;
using testing::Scratch;
using testing::told;

std::string packed(const Scratch& folder) {
  const Fd in = folder.open();
  const Fd out = testing::file_of("");
  const auto packing = pack_bundle(in.get(), out.get());
  EXPECT_TRUE(packing && packing->bundle);
  const std::string bytes = testing::bytes_of(out);
  EXPECT_EQ(packing->bundle->bytes, bytes.size());
  return bytes;
}

std::string long_path() {
  std::string path = "assets";
  while (path.size() < 300) path += "/abcdefghi";
  return path;
}

void fill(const Scratch& folder, bool backwards) {
  std::vector<std::pair<std::string, std::string>> files = {{"subako-package.json", std::string(kManifest)},
                                                            {"module.wasm", kModule},
                                                            {"assets/a-b", "1"},
                                                            {"assets/a/c", "2"},
                                                            {"assets/" + std::string(97, 'n'), "3"},
                                                            {long_path(), "4"},
                                                            {"assets/日本", std::string(100'000, '5')}};
  if (backwards) std::ranges::reverse(files);
  for (const auto& [path, bytes] : files) folder.write(path, bytes);
  std::filesystem::create_directory(folder.path() / "assets/empty");
}

TEST(Packer, gives_the_same_bytes_for_the_same_tree) {  // spec: B4
  const Scratch one;
  const Scratch two;
  fill(one, false);
  fill(two, true);
  two.write("assets/._junk", "x");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(two.path())) {
    std::filesystem::last_write_time(entry, std::filesystem::file_time_type{} + std::chrono::hours(1));
    std::filesystem::permissions(entry, std::filesystem::perms::owner_all);
  }
  const mode_t before = ::umask(0777);
  const std::string bytes = packed(one);
  ::umask(before);
  EXPECT_EQ(bytes, packed(two));
  EXPECT_EQ(bytes.substr(0, 10), std::string("\x1f\x8b\x08\0\0\0\0\0\x02\xff", 10));
}

TEST(Packer, packs_what_the_reader_takes) {  // spec: B1
  const Scratch folder;
  fill(folder, false);
  Assets direct;
  const Fd fd = folder.open();
  ASSERT_EQ(told(*read_directory(fd.get(), direct)), "accepted");
  Assets through_archive;
  const Unpacking unpacking = testing::read_bytes(packed(folder), through_archive);
  ASSERT_EQ(told(unpacking), "accepted");
  EXPECT_EQ(through_archive.module_bytes, kModule);
  EXPECT_EQ(unpacking.bundle->manifest_text, kManifest);
  EXPECT_EQ(direct.files, through_archive.files);
}

TEST(Packer, writes_what_other_readers_take) {  // spec: B1
  const Scratch folder;
  fill(folder, false);
  const std::string bytes = packed(folder);
  ::archive* reader = archive_read_new();
  archive_read_support_filter_gzip(reader);
  archive_read_support_format_tar(reader);
  ASSERT_EQ(archive_read_open_memory(reader, bytes.data(), bytes.size()), ARCHIVE_OK);
  std::vector<std::string> paths;
  ::archive_entry* entry = nullptr;
  while (archive_read_next_header(reader, &entry) >= ARCHIVE_WARN && archive_entry_mode(entry) != 0) {
    if (const char* path = archive_entry_pathname(entry)) paths.push_back(path);
    EXPECT_EQ(archive_entry_mtime(entry), 0);
    EXPECT_EQ(archive_entry_perm(entry), archive_entry_filetype(entry) == AE_IFDIR ? 0755U : 0644U);
    archive_entry_clear(entry);
  }
  archive_read_free(reader);
  EXPECT_EQ(std::ranges::count(paths, long_path()), 1) << paths.size();
  EXPECT_TRUE(std::ranges::is_sorted(paths));
}

TEST(Packer, refuses_what_the_reader_refuses_and_writes_nothing) {  // spec: B3
  const Scratch folder;
  folder.write_bundle();
  folder.write("src/main.rs", "");
  const Fd in = folder.open();
  const Fd out = testing::file_of("");
  const auto packing = pack_bundle(in.get(), out.get());
  ASSERT_TRUE(packing);
  ASSERT_FALSE(packing->bundle);
  EXPECT_EQ(packing->bundle.error()[0].where, "src/main.rs");
  EXPECT_EQ(testing::bytes_of(out), "");
}

TEST(Packer, warns_and_counts) {  // spec: B3
  const Scratch folder;
  folder.write_bundle();
  folder.write("assets/.DS_Store", "x");
  const Fd in = folder.open();
  const Fd out = testing::file_of("");
  const auto packing = pack_bundle(in.get(), out.get());
  ASSERT_TRUE(packing && packing->bundle);
  EXPECT_EQ(packing->bundle->files, 2U);
  EXPECT_EQ(packing->warnings.size(), 1U);
}

TEST(Packer, a_failed_write_is_an_error_of_ours) {  // spec: B1
  const Scratch folder;
  folder.write_bundle();
  const Fd in = folder.open();
  const Fd full(::open("/dev/full", O_WRONLY));
  const auto packing = pack_bundle(in.get(), full.get());
  ASSERT_FALSE(packing);
  EXPECT_NE(packing.error().message.find("writing the bundle"), std::string::npos);
}

}  // namespace
}  // namespace subako::bundle
