#include "core/module_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>
#include <vector>

#include "base/few_descriptors_test.h"

namespace subako::core {
namespace {

namespace fs = std::filesystem;

const GiveUp kGoOn = false;

ModuleKey key_of(std::string_view module, std::string_view identity = "this build") {
  return ModuleKey(sha256_of(module), identity);
}

Fd file_of(std::string_view bytes) {
  Fd file(memfd_create("compiled", MFD_CLOEXEC));
  while (!bytes.empty()) {
    const ssize_t n = write(file.get(), bytes.data(), bytes.size());
    if (n <= 0) std::abort();
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return file;
}

std::string text_of(int file) {
  std::string text(static_cast<size_t>(lseek(file, 0, SEEK_END)), '\0');
  EXPECT_EQ(pread(file, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  return text;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// 0400 keeps out all but root.
void write_file(const fs::path& path, std::string_view bytes) {
  fs::permissions(path, fs::perms::owner_write, fs::perm_options::add);
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

void set_age(const fs::path& path, time_t seconds) {
  const timespec then{.tv_sec = time(nullptr) - seconds, .tv_nsec = 0};
  const timespec times[2] = {then, then};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW), 0);
}

class ModuleCacheTest : public testing::Test {
 protected:
  ModuleCacheTest() {
    std::string pattern = (fs::temp_directory_path() / "module-cache-test-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~ModuleCacheTest() override { fs::remove_all(folder_); }

  [[nodiscard]] ModuleCache cache(uint64_t bound = limits::kCacheBytes) const {
    auto opened = ModuleCache::open(folder_, bound);
    EXPECT_TRUE(opened) << opened.error().message;
    return *std::move(opened);
  }
  void store(const ModuleKey& key, std::string_view bytes) const {
    const auto stored = cache().store(key, file_of(bytes).get(), kGoOn);
    ASSERT_TRUE(stored) << stored.error().message;
  }
  [[nodiscard]] std::string find(const ModuleKey& key) const {
    const auto found = cache().find(key, kGoOn);
    return found ? text_of(found->get()) : "(a miss)";
  }
  [[nodiscard]] fs::path entry(const ModuleKey& key) const { return fs::path(folder_) / key.hex(); }
  [[nodiscard]] std::vector<std::string> asides() const {
    std::vector<std::string> names;
    for (const auto& found : fs::directory_iterator(folder_)) {
      if (found.path().filename().string().starts_with(".aside-")) names.push_back(found.path().string());
    }
    return names;
  }
  std::string folder_;
};

TEST_F(ModuleCacheTest, what_is_stored_is_found) {
  const ModuleKey key = key_of("module");
  EXPECT_EQ(find(key), "(a miss)");
  store(key, "native code");
  EXPECT_EQ(find(key), "native code");
  EXPECT_EQ(find(key_of("another module")), "(a miss)");
  EXPECT_EQ(find(key_of("module", "another build")), "(a miss)");
  store(key, "newer code");
  EXPECT_EQ(find(key), "newer code");
  EXPECT_TRUE(asides().empty());
  EXPECT_EQ(cache().usage().entries, 1U);
}

TEST_F(ModuleCacheTest, to_look_makes_no_folder) {
  const auto there = ModuleCache::open_existing(folder_);
  ASSERT_TRUE(there && *there);
  EXPECT_EQ((*there)->usage().entries, 0U);
  for (const std::string& path : {folder_ + "/a", folder_ + "/a/b"}) {
    const auto missing = ModuleCache::open_existing(path);
    ASSERT_TRUE(missing) << missing.error().message;
    EXPECT_FALSE(*missing);
  }
  EXPECT_TRUE(fs::is_empty(folder_));
  std::ofstream(folder_ + "/file") << "x";
  EXPECT_FALSE(ModuleCache::open_existing(folder_ + "/file"));
  EXPECT_FALSE(ModuleCache::open_existing(folder_ + "/file/under"));
  if (geteuid() != 0) GTEST_SKIP() << "only root can give folders away";
  fs::create_directory(folder_ + "/theirs");
  ASSERT_EQ(lchown((folder_ + "/theirs").c_str(), 12345, 12345), 0);
  EXPECT_FALSE(ModuleCache::open_existing(folder_ + "/theirs/a")) << "it would not be made there";
}

TEST_F(ModuleCacheTest, it_is_for_its_owner_alone) {
  const mode_t before = umask(0);
  const std::string made = folder_ + "/a/b";
  EXPECT_TRUE(ModuleCache::open(made));
  store(key_of("module"), "code");
  umask(before);
  const auto mode = [](const fs::path& path) {
    struct stat s{};
    EXPECT_EQ(stat(path.c_str(), &s), 0) << path;
    return s.st_mode & 0777U;
  };
  EXPECT_EQ(mode(folder_ + "/a"), 0700U);
  EXPECT_EQ(mode(made), 0700U);
  EXPECT_EQ(mode(entry(key_of("module"))), 0700U);
  EXPECT_EQ(mode(entry(key_of("module")) / "module"), 0400U);
  const auto found = cache().find(key_of("module"), kGoOn);
  ASSERT_TRUE(found);
  EXPECT_EQ(write(found->get(), "x", 1), -1) << "opened for reading only";
}

TEST_F(ModuleCacheTest, an_entry_cut_anywhere_is_a_miss) {
  const ModuleKey key = key_of("module");
  const std::string code(300, 'c');
  for (const char* file : {"module", "checksum"}) {
    store(key, code);
    const std::string whole = read_file(entry(key) / file);
    ASSERT_GT(whole.size(), 100U);
    for (size_t length = 0; length < whole.size(); ++length) {
      store(key, code);
      write_file(entry(key) / file, std::string_view(whole).substr(0, length));
      ASSERT_EQ(find(key), "(a miss)") << file << " cut at " << length;
      ASSERT_FALSE(fs::exists(entry(key))) << "it is gone";
    }
    store(key, code);
    write_file(entry(key) / file, whole + "x");
    EXPECT_EQ(find(key), "(a miss)") << file << " with more at its end";
    store(key, code);
    fs::remove(entry(key) / file);
    EXPECT_EQ(find(key), "(a miss)") << "without its " << file;
  }
}

TEST_F(ModuleCacheTest, an_entry_with_a_flipped_bit_is_a_miss) {
  const ModuleKey key = key_of("module");
  std::mt19937 random(7);
  std::string code(300, '\0');
  for (char& c : code) c = static_cast<char>(random());
  for (const char* file : {"module", "checksum"}) {
    store(key, code);
    const std::string whole = read_file(entry(key) / file);
    for (size_t at = 0; at < whole.size(); ++at) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
      store(key, code);
      write_file(entry(key) / file, damaged);
      ASSERT_EQ(find(key), "(a miss)") << file << " at " << at;
    }
  }
  store(key, code);
  EXPECT_EQ(find(key), code);
}

TEST_F(ModuleCacheTest, a_large_entry_damaged_anywhere_is_a_miss) {
  const ModuleKey key = key_of("module");
  const std::string code(3 * limits::kMiB + 7, 'c');
  for (const size_t at : {size_t{0}, code.size() / 2, code.size() - 1}) {
    store(key, code);
    EXPECT_EQ(find(key).size(), code.size());
    std::string damaged = code;
    damaged[at] = 'd';
    write_file(entry(key) / "module", damaged);
    EXPECT_EQ(find(key), "(a miss)") << at;
  }
}

TEST_F(ModuleCacheTest, an_entry_under_another_key_is_a_miss) {
  store(key_of("mine"), "my code");
  store(key_of("yours"), "your code");
  fs::remove_all(entry(key_of("yours")));
  fs::rename(entry(key_of("mine")), entry(key_of("yours")));
  EXPECT_EQ(find(key_of("yours")), "(a miss)");
}

TEST_F(ModuleCacheTest, links_and_what_is_no_entry_are_misses) {
  const ModuleKey key = key_of("module");
  const fs::path elsewhere = fs::path(folder_) / "elsewhere";
  store(key, "code");
  fs::rename(entry(key), elsewhere);
  fs::create_directory_symlink(elsewhere, entry(key));
  EXPECT_EQ(find(key), "(a miss)");
  EXPECT_TRUE(fs::exists(elsewhere / "module")) << "what a link leads to is not ours to remove";

  for (const char* file : {"module", "checksum"}) {
    store(key, "code");
    fs::remove(entry(key) / file);
    fs::create_symlink(elsewhere / file, entry(key) / file);
    EXPECT_EQ(find(key), "(a miss)") << file;
    store(key, "code");
    fs::remove(entry(key) / file);
    ASSERT_EQ(mkfifo((entry(key) / file).c_str(), 0600), 0);
    EXPECT_EQ(find(key), "(a miss)") << file << " is a pipe";
  }
  std::ofstream(entry(key)) << "a file";
  EXPECT_EQ(find(key), "(a miss)");
  std::ofstream(entry(key)) << "a file";
  store(key, "code");
  EXPECT_EQ(find(key), "code") << "it takes the place of what is none";
  EXPECT_TRUE(asides().empty());
}

TEST_F(ModuleCacheTest, an_entry_that_others_may_change_is_a_miss) {
  const ModuleKey key = key_of("module");
  for (const char* what : {"", "module", "checksum"}) {
    store(key, "code");
    fs::permissions(entry(key) / what, fs::perms::group_write, fs::perm_options::add);
    EXPECT_EQ(find(key), "(a miss)") << what;
  }
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  for (const char* what : {"", "module", "checksum"}) {
    store(key, "code");
    ASSERT_EQ(lchown((entry(key) / what).c_str(), 12345, 12345), 0);
    EXPECT_EQ(find(key), "(a miss)") << what;
  }
}

TEST_F(ModuleCacheTest, a_folder_that_is_not_ours_alone_is_not_used) {
  const auto error = [](const std::string& path) {
    const auto opened = ModuleCache::open(path);
    return opened ? "(opened)" : opened.error().message;
  };
  EXPECT_EQ(error(folder_), "(opened)");
  EXPECT_EQ(error(folder_ + "//"), "(opened)");
  for (const auto others : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(folder_, others, fs::perm_options::add);
    EXPECT_EQ(error(folder_),
              "others may write to the folder " + folder_ + ": it must be for its owner alone (chmod 700)");
    fs::permissions(folder_, fs::perms::owner_all);
  }
  const std::string link = folder_ + "/link";
  fs::create_directory(folder_ + "/real");
  fs::create_directory_symlink(folder_ + "/real", link);
  for (const char* slashes : {"", "/", "//"}) {
    EXPECT_EQ(error(link + slashes),
              "the folder " + link + " is a symbolic link; name the folder that it leads to");
  }
  std::ofstream(folder_ + "/file") << "x";
  EXPECT_EQ(error(folder_ + "/file"), "opening the folder " + folder_ + "/file: Not a directory");
  EXPECT_EQ(error(folder_ + "/file/under"), "opening the folder " + folder_ + "/file/under: Not a directory");
  EXPECT_EQ(error("/proc/nowhere/modules"), "making the folder /proc/nowhere: No such file or directory");
  if (geteuid() != 0) GTEST_SKIP() << "only root can give folders away";
  ASSERT_EQ(lchown((folder_ + "/real").c_str(), 12345, 12345), 0);
  EXPECT_EQ(error(folder_ + "/real"), "the folder " + folder_ + "/real belongs to another user");
  EXPECT_EQ(error(folder_ + "/real/a/b"), "the folder " + folder_ + "/real belongs to another user");
  EXPECT_FALSE(fs::exists(folder_ + "/real/a"));
}

// As who isn't root: root's are for that.
TEST_F(ModuleCacheTest, it_is_made_where_others_cannot_replace_it) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give folders away";
  ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
  const struct {
    const char* name;
    uid_t owner;
    mode_t mode;
    bool good;
  } rows[] = {{"own", 12345, 0775, true},     {"theirs", 4711, 0777, false},      {"root_open", 0, 0777, false},
              {"root_sticky", 0, 01777, true}, {"unknown_sticky", 65534, 01777, true}, {"unknown_open", 65534, 0777, false}};
  for (const auto& row : rows) {
    const std::string path = folder_ + "/" + row.name;
    ASSERT_EQ(mkdir(path.c_str(), 0700), 0);
    ASSERT_EQ(chown(path.c_str(), row.owner, row.owner), 0);
    ASSERT_EQ(chmod(path.c_str(), row.mode), 0);
    const pid_t pid = fork();
    if (pid == 0) {
      if (setresuid(12345, 12345, 12345) != 0) _exit(3);
      const auto opened = ModuleCache::open(path + "/a/b");
      _exit(opened ? 0 : opened.error().code == Code::kDenied ? 1 : 2);
    }
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), row.good ? 0 : 1) << row.name;
  }
}

TEST_F(ModuleCacheTest, what_was_used_longest_ago_goes_first) {
  const std::string code(100'000, 'c');
  const ModuleCache small = cache(350'000);  // three, with what the disk needs for each
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(small.store(key_of(std::to_string(i)), file_of(code).get(), kGoOn));
    set_age(entry(key_of(std::to_string(i))) / "module", 1000 * (3 - i));
  }
  EXPECT_EQ(small.usage().entries, 3U);
  EXPECT_EQ(find(key_of("0")), code) << "the oldest is used again";
  ASSERT_TRUE(small.store(key_of("3"), file_of(code).get(), kGoOn));
  EXPECT_EQ(small.usage().entries, 3U);
  EXPECT_LE(small.usage().bytes, 350'000U);
  EXPECT_EQ(find(key_of("1")), "(a miss)");
  for (const char* kept : {"0", "2", "3"}) EXPECT_EQ(find(key_of(kept)), code) << kept;
  // One that needs the place of several, and one that is there already.
  ASSERT_TRUE(small.store(key_of("4"), file_of(std::string(300'000, 'l')).get(), kGoOn));
  EXPECT_EQ(small.usage().entries, 1U);
  ASSERT_TRUE(small.store(key_of("4"), file_of(std::string(310'000, 'l')).get(), kGoOn));
  EXPECT_EQ(find(key_of("4")).size(), 310'000U);
  const auto too_large = small.store(key_of("5"), file_of(std::string(350'000, 'l')).get(), kGoOn);
  ASSERT_FALSE(too_large);
  EXPECT_EQ(too_large.error().code, Code::kTooLarge);
  EXPECT_EQ(find(key_of("4")).size(), 310'000U) << "nothing went for it";
}

TEST_F(ModuleCacheTest, a_use_is_noted_once_a_minute) {
  const ModuleKey key = key_of("module");
  store(key, "code");
  const auto age = [&] {
    struct stat s{};
    stat((entry(key) / "module").c_str(), &s);
    return time(nullptr) - s.st_mtim.tv_sec;
  };
  set_age(entry(key) / "module", 30);
  EXPECT_EQ(find(key), "code");
  EXPECT_GE(age(), 30);
  set_age(entry(key) / "module", 90);
  EXPECT_EQ(find(key), "code");
  EXPECT_LT(age(), 30);
}

// As after a clock was put back: what lies ahead would stay the newest, and an unfinished entry young for ever.
TEST_F(ModuleCacheTest, a_time_to_come_is_none) {
  const ModuleKey key = key_of("module");
  store(key, "code");
  set_age(entry(key) / "module", -86'400);
  EXPECT_EQ(find(key), "code");
  struct stat s{};
  ASSERT_EQ(stat((entry(key) / "module").c_str(), &s), 0);
  EXPECT_LE(s.st_mtim.tv_sec, time(nullptr));
  const std::string aside = folder_ + "/.aside-0123456789abcdef";
  fs::create_directory(aside);
  set_age(aside, -86'400);
  store(key_of("another"), "code");
  EXPECT_FALSE(fs::exists(aside));
}

TEST_F(ModuleCacheTest, one_in_use_stays_whole) {
  const ModuleKey key = key_of("module");
  store(key, "old code");
  const auto in_use = cache().find(key, kGoOn);
  store(key, "new code");
  EXPECT_EQ(text_of(in_use->get()), "old code");
  cache().remove(key);
  EXPECT_EQ(text_of(in_use->get()), "old code");
  EXPECT_EQ(find(key), "(a miss)");
  cache().remove(key);
}

TEST_F(ModuleCacheTest, a_machine_short_of_descriptors_costs_no_entry) {
  const ModuleKey key = key_of("module");
  store(key, "code");
  const ModuleCache opened = cache();
  const int next = dup(0);
  ASSERT_GE(next, 0);
  close(next);
  for (int spare = 0; spare <= 3; ++spare) {
    const FewDescriptors few(static_cast<rlim_t>(next + spare));
    EXPECT_EQ(opened.find(key, kGoOn).has_value(), spare == 3) << spare;
  }
  EXPECT_EQ(find(key), "code");
}

// Where no disk without permissions can be had, a umask that takes them away stands in for it.
TEST_F(ModuleCacheTest, a_disk_that_does_not_keep_permissions_is_not_used) {
  fs::permissions(folder_, fs::perms(0755));
  EXPECT_TRUE(ModuleCache::open(folder_));
  const mode_t before = umask(0300);
  const auto opened = ModuleCache::open(folder_);
  umask(before);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::kUnsupported);
  EXPECT_NE(opened.error().message.find("doesn't keep the permissions of files"), std::string::npos)
      << opened.error().message;
  EXPECT_TRUE(asides().empty());
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(ModuleCacheTest, giving_up_leaves_nothing) {
  const GiveUp give_up = true;
  EXPECT_EQ(cache().store(key_of("module"), file_of("code").get(), give_up).error().code, Code::kCancelled);
  EXPECT_TRUE(asides().empty());
  store(key_of("module"), "code");
  EXPECT_FALSE(cache().find(key_of("module"), give_up));
  EXPECT_EQ(find(key_of("module")), "code") << "not known to be bad";
}

TEST_F(ModuleCacheTest, a_full_disk_is_an_error_that_leaves_nothing) {
  const pid_t pid = fork();
  if (pid == 0) {
    (void)signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 100'000, .rlim_max = 100'000};
    const Fd large = file_of(std::string(200'000, 'c'));
    const Fd small = file_of(std::string(90'000, 'c'));
    const ModuleCache kept = cache();
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(2);
    if (kept.store(key_of("large"), large.get(), kGoOn)) _exit(3);
    if (!kept.store(key_of("small"), small.get(), kGoOn)) _exit(4);
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(find(key_of("large")), "(a miss)");
  EXPECT_EQ(find(key_of("small")).size(), 90'000U);
  EXPECT_TRUE(asides().empty());
}

TEST_F(ModuleCacheTest, many_at_once) {
  constexpr int kThreads = 8;
  const std::string code(200'000, 'c');
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const ModuleCache mine = cache(700'000);  // less than they store together
      for (int i = 0; i < 40; ++i) {
        const ModuleKey key = key_of(std::to_string((t + i) % 5));
        (void)mine.store(key, file_of(code).get(), kGoOn);
        const auto found = mine.find(key_of(std::to_string(i % 5)), kGoOn);
        if (found && text_of(found->get()) != code) ++wrong;
        if (i % 7 == 0) mine.remove(key);
        if (mine.usage().bytes > 700'000) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(asides().empty());
  store(key_of("0"), code);
  EXPECT_EQ(find(key_of("0")), code);
}

TEST_F(ModuleCacheTest, a_writer_killed_at_any_moment_does_no_harm) {
  const ModuleKey key = key_of("module");
  std::string code(8 * limits::kMiB, '\0');
  std::mt19937 random(11);
  for (size_t i = 0; i < code.size(); i += 97) code[i] = static_cast<char>(random());
  const Fd source = file_of(code);
  int hits = 0;
  for (int round = 0; round < 50; ++round) {
    const pid_t pid = fork();
    if (pid == 0) {
      const ModuleCache mine = cache();
      for (;;) {
        (void)mine.store(key, source.get(), kGoOn);
        mine.remove(key);
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 30'000));
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    const std::string found = find(key);
    if (found == "(a miss)") continue;
    ++hits;
    ASSERT_TRUE(found == code) << "in round " << round;
  }
  EXPECT_FALSE(asides().empty()) << "some were killed in the middle";
  // They may be of somebody alive while they are young.
  store(key_of("other"), "code");
  EXPECT_FALSE(asides().empty());
  for (const std::string& aside : asides()) set_age(aside, 120);
  store(key_of("other"), "code");
  EXPECT_TRUE(asides().empty());
  RecordProperty("hits", hits);
}

TEST_F(ModuleCacheTest, what_somebody_is_writing_stays) {
  const std::string aside = folder_ + "/.aside-0123456789abcdef";
  fs::create_directory(aside);
  std::ofstream(aside + "/module") << "half";
  Fd writer(open(aside.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(flock(writer.get(), LOCK_EX), 0);
  set_age(aside, 7200);
  store(key_of("module"), "code");
  EXPECT_TRUE(fs::exists(aside + "/module"));
  writer.reset();
  store(key_of("module"), "code");
  EXPECT_FALSE(fs::exists(aside));
}

TEST_F(ModuleCacheTest, what_is_unfinished_counts) {
  const std::string code(100'000, 'c');
  const ModuleCache small = cache(350'000);  // three, with what the disk needs for each
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(small.store(key_of(std::to_string(i)), file_of(code).get(), kGoOn));
    set_age(entry(key_of(std::to_string(i))) / "module", 1000 * (2 - i));
  }
  const std::string aside = folder_ + "/.aside-0123456789abcdef";
  fs::create_directory(aside);
  std::ofstream(aside + "/module") << code;
  EXPECT_EQ(small.usage().entries, 2U);
  EXPECT_GT(small.usage().unfinished, 100'000U);
  EXPECT_LT(small.usage().unfinished, 130'000U);
  ASSERT_TRUE(small.store(key_of("2"), file_of(code).get(), kGoOn));
  EXPECT_TRUE(fs::exists(aside)) << "it is young: somebody may be writing it";
  EXPECT_LE(small.usage().bytes + small.usage().unfinished, 350'000U);
  EXPECT_EQ(find(key_of("0")), "(a miss)") << "the oldest made room";
  EXPECT_EQ(find(key_of("1")), code);
  EXPECT_EQ(find(key_of("2")), code);
  set_age(aside, 120);
  ASSERT_TRUE(small.store(key_of("3"), file_of(code).get(), kGoOn));
  EXPECT_EQ(small.usage().unfinished, 0U);
  EXPECT_EQ(small.usage().entries, 3U) << "what a dead writer left took nobody's room";
}

TEST_F(ModuleCacheTest, a_lock_that_is_never_given_back_keeps_nobody_waiting) {
  store(key_of("module"), "code");
  Fd holder(open((folder_ + "/.lock").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(flock(holder.get(), LOCK_EX), 0);
  EXPECT_EQ(find(key_of("module")), "code") << "finding needs no lock";
  const auto stored = cache().store(key_of("other"), file_of("code").get(), kGoOn);
  ASSERT_FALSE(stored);
  EXPECT_EQ(stored.error().code, Code::kUnavailable);
  EXPECT_TRUE(asides().empty());
}

TEST_F(ModuleCacheTest, what_lies_there_and_is_not_ours_is_left_alone) {
  std::ofstream(folder_ + "/notes.txt") << "mine";
  fs::create_directory(folder_ + "/" + std::string(63, 'a'));
  const ModuleCache small = cache(20'000);
  ASSERT_TRUE(small.store(key_of("0"), file_of("code").get(), kGoOn));
  ASSERT_TRUE(small.store(key_of("1"), file_of("code").get(), kGoOn));
  EXPECT_EQ(small.usage().entries, 1U);
  EXPECT_TRUE(fs::exists(folder_ + "/notes.txt"));
  EXPECT_TRUE(fs::exists(folder_ + "/" + std::string(63, 'a')));
}

TEST(ModuleCachePlace, is_named_by_the_environment) {
  const auto set = [](const char* name, const char* value) {
    value == nullptr ? unsetenv(name) : setenv(name, value, 1);
  };
  struct Row {
    const char* named;
    const char* xdg;
    const char* home;
    const char* path;  // null: none
  };
  // A home that isn't there is Debian's word for none.
  for (const Row& row :
       {Row{nullptr, nullptr, "/usr", "/usr/.cache/subako/modules"}, Row{nullptr, "/x", "/usr", "/x/subako/modules"},
        Row{nullptr, "relative", "/usr", "/usr/.cache/subako/modules"}, Row{nullptr, "", "/usr", "/usr/.cache/subako/modules"},
        Row{"/c", "/x", "/usr", "/c"}, Row{"c", "/x", "/usr", "c"}, Row{"", "/x", "/usr", nullptr},
        Row{nullptr, nullptr, nullptr, nullptr}, Row{nullptr, nullptr, "", nullptr},
        Row{nullptr, nullptr, "/nonexistent", nullptr}, Row{nullptr, nullptr, "/etc/passwd", nullptr}}) {
    set("SUBAKO_CACHE_DIR", row.named);
    set("XDG_CACHE_HOME", row.xdg);
    set("HOME", row.home);
    const auto place = ModuleCache::default_place();
    ASSERT_EQ(place.has_value(), row.path != nullptr);
    if (!place) continue;
    EXPECT_EQ(place->path, row.path);
    EXPECT_EQ(place->named, row.named != nullptr);
  }
}

TEST(ModuleKey, is_of_all_that_it_is_made_from) {
  EXPECT_EQ(key_of("m", "i").hex(), key_of("m", "i").hex());
  EXPECT_EQ(key_of("m", "i").hex().size(), 64U);
  EXPECT_NE(key_of("m", "i").hex(), key_of("n", "i").hex());
  EXPECT_NE(key_of("m", "i").hex(), key_of("m", "j").hex());
}

TEST(Digest, is_sha256_of_the_whole_module) {
  EXPECT_EQ(hex_of(sha256_of("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const std::string large(3 * limits::kMiB + 5, 'x');
  for (const std::string& bytes : {std::string(), std::string("abc"), large}) {
    const Fd file(memfd_create("module", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    ASSERT_EQ(write(file.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    EXPECT_EQ(sha256_of_sealed(file.get(), kGoOn).error().message, "a module is hashed before it is sealed");
    ASSERT_EQ(fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_WRITE), 0);
    const auto hash = sha256_of_sealed(file.get(), kGoOn);
    ASSERT_TRUE(hash);
    EXPECT_EQ(*hash, sha256_of(bytes));
    const GiveUp give_up = true;
    EXPECT_EQ(sha256_of_sealed(file.get(), give_up).has_value(), bytes.empty());
  }
  EXPECT_EQ(sha256_of_sealed(-1, kGoOn).error().message, "reading a module: Bad file descriptor");
}

}  // namespace
}  // namespace subako::core
