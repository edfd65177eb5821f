// What a child that has been taken over can reach (docs/security.md): nothing, in each tier, as root and as another user. And the probes
// can tell: without the sandbox they do reach it.
//
// `escape_test --as ID` becomes that user first, where it is root.
#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "child/frames.h"
#include "child/own_mounts.h"
#include "child/sandbox.h"
#include "child/spawn.h"
#include "core/session_volume.h"
#include "escape/probes.h"

namespace subako::escape {
namespace {

using child::Tier;

// A machine's other tenants: files, and listeners of each kind.
class Host {
 public:
  explicit Host(bool data) {
    char made[] = "/tmp/subako-escape-XXXXXX";
    folder_ = mkdtemp(made);
    for (const auto& [folder, file] :
         {std::pair{"volume/tmp", "mine"}, {"volume/data", "theirs"}, {"package", "asset"}, {"other", "secret"}, {"code", "module"}}) {
      std::filesystem::create_directories(folder_ + "/" + folder);
      std::ofstream(folder_ + "/" + folder + "/" + file) << std::string(8192, 'x');
    }
    if (!data) std::ofstream(folder_ + "/volume/secret") << "x";
    abstract_ = folder_.substr(1);
    listen_unix(unix_, folder_ + "/listener", false);
    listen_unix(hidden_, abstract_, true);
    listen_tcp();
  }
  ~Host() { std::filesystem::remove_all(folder_); }

  [[nodiscard]] Fd open_folder(const char* name) const {
    return Fd(open((folder_ + "/" + name).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  [[nodiscard]] Fd module() const {
    return Fd(open((folder_ + "/code/module").c_str(), O_RDONLY | O_CLOEXEC));
  }
  [[nodiscard]] std::string told() const {
    return std::to_string(getpid()) + " " + std::to_string(port_) + " " + folder_ + "/other/secret " +
           folder_ + "/listener " + abstract_;
  }

 private:
  static void listen_unix(Fd& on, const std::string& name, bool abstract) {
    on = Fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    memcpy(address.sun_path + (abstract ? 1 : 0), name.data(), name.size());
    EXPECT_EQ(bind(on.get(), reinterpret_cast<sockaddr*>(&address),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + 1)),
              0);
    EXPECT_EQ(listen(on.get(), 8), 0);
  }
  void listen_tcp() {
    tcp_ = Fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(tcp_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(tcp_.get(), 8), 0);
    EXPECT_EQ(getsockname(tcp_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }

  std::string folder_;
  std::string abstract_;
  Fd unix_, hidden_, tcp_;
  uint16_t port_ = 0;
};

// The errno of each probe in a child; 0: it worked. `sandbox` null: nothing keeps it in.
std::map<std::string, int> probe(child::Sandbox* sandbox, const char* role) {
  const bool data = std::string_view(role) == "with-data";
  const Host host(data);
  child::SpawnOptions options;
  options.executable = ESCAPE_CHILD;
  options.arguments = {role};
  if (sandbox != nullptr) options.cell = sandbox->cell();
  auto child = child::spawn(options);
  EXPECT_TRUE(child) << child.error().message;
  if (!child) return {};
  child::Frame frame{host.told(), {}};
  const auto hand = [&frame](Result<Fd> fd) {
    EXPECT_TRUE(fd) << fd.error().message;
    if (fd) frame.descriptors.push_back(*std::move(fd));
  };
  auto volume = core::SessionVolume::open(host.open_folder("volume"), data, "volume", sandbox);
  EXPECT_TRUE(volume) << volume.error().message;
  if (!volume) return {};
  hand(std::move(volume->tmp));
  hand(child::hand_folder(sandbox, host.open_folder("package").get(), child::Access::kRead));
  hand(child::hand_file(sandbox, host.module().get()));
  EXPECT_TRUE(child::send_frame(child->socket(), std::move(frame)));
  auto answer = child::receive_frame(child->socket());
  const auto status = child->wait_exit();
  EXPECT_TRUE(answer && *answer) << "the child said nothing and " << child::exit_sentence(status);
  std::map<std::string, int> errors;
  if (!answer || !*answer) return errors;
  std::istringstream lines((*answer)->body);
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.find(' ');
    errors[line.substr(space + 1)] = line[0] == '+' ? 0 : std::atoi(line.c_str() + 1);
  }
  EXPECT_EQ(errors.size(), (data ? escapes_with_data() : escapes()).size() + necessities().size());
  return errors;
}

// Null: this machine has no such tier, which is a failure where SUBAKO_NEEDS_TIERS="namespaces landlock" names it.
std::shared_ptr<child::Sandbox> find(Tier tier) {
  auto found = child::Sandbox::find(SUBAKO_CHILD, tier, "/tmp");
  const char* const needed = std::getenv("SUBAKO_NEEDS_TIERS");
  if (found) {
    std::cout << "tried in the tier " << child::tier_name(tier) << "\n";
  } else if (needed != nullptr && std::string_view(needed).find(child::tier_name(tier)) != std::string_view::npos) {
    ADD_FAILURE() << "SUBAKO_NEEDS_TIERS asks for a tier that isn't there: " << found.error().message;
  } else {
    std::cout << found.error().message << "\n";
  }
  return found ? *found : nullptr;
}

class Escape : public testing::TestWithParam<std::pair<Tier, const char*>> {};

TEST_P(Escape, nothing_works_but_what_is_needed) {
  const auto [tier, role] = GetParam();
  const auto sandbox = find(tier);
  if (!sandbox) GTEST_SKIP() << "this machine has no such tier: " << child::tier_name(tier);
  const auto errors = probe(sandbox.get(), role);
  for (const Probe& one : necessities())
    EXPECT_EQ(errors.at(one.name), 0) << one.name << ": " << strerror(errors.at(one.name));
  for (const Probe& one : escapes()) {
    if (tier > one.needs) continue;
    EXPECT_NE(errors.at(one.name), 0) << one.name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    , Escape,
    testing::Values(std::pair{Tier::kNamespaces, "worker"}, std::pair{Tier::kNamespaces, "builder"},
                    std::pair{Tier::kLandlock, "worker"}, std::pair{Tier::kLandlock, "builder"}),
    [](const auto& one) { return std::string(child::tier_name(one.param.first)) + "_" + one.param.second; });

// tmp/ and data/ lie beside each other on one mount, and nothing else does.
TEST(EscapeWithData, leads_to_the_folder_around_both_at_most) {
  bool tried = false;
  for (const Tier tier : {Tier::kNamespaces, Tier::kLandlock}) {
    const auto sandbox = find(tier);
    if (!sandbox) continue;
    tried = true;
    const auto errors = probe(sandbox.get(), "with-data");
    for (const Probe& one : escapes_with_data()) EXPECT_NE(errors.at(one.name), 0) << child::tier_name(tier) << ": " << one.name;
  }
  const auto errors = probe(nullptr, "with-data");
  for (const Probe& one : escapes_with_data()) EXPECT_EQ(errors.at(one.name), 0) << one.name << ": " << strerror(errors.at(one.name));
  if (!tried) GTEST_SKIP() << "this machine has neither tier";
}

// As one that isn't shut in: judged by their ends are limits (spec: M6) and crashes.
TEST(ShutIn, ends_are_told_as_ever) {
  bool tried = false;
  for (const Tier tier : {Tier::kNamespaces, Tier::kLandlock}) {
    const auto sandbox = find(tier);
    if (!sandbox) continue;
    tried = true;
    for (const auto& [how, sentence] : {std::pair{"abort", "was killed by signal 6 (Aborted)"},
                                        {"fault", "was killed by signal 11 (Segmentation fault)"},
                                        {"spin", "passed its limit of CPU time"}}) {
#ifdef __SANITIZE_ADDRESS__
      if (std::string_view(how) == "fault") continue;  // a sanitizer makes an exit of it
#endif
      child::SpawnOptions options;
      options.executable = ESCAPE_CHILD;
      options.arguments = {how};
      options.cpu_limit = std::chrono::seconds(1);
      options.cell = sandbox->cell();
      auto child = child::spawn(options);
      ASSERT_TRUE(child) << child.error().message;
      EXPECT_EQ(child::exit_sentence(child->wait_exit()), sentence) << child::tier_name(tier);
    }
  }
  if (!tried) GTEST_SKIP() << "this machine has neither tier";
}

// Its parent's death is told by a signal that doesn't come where the child was not yet shut in.
TEST(ShutIn, ends_with_its_parent) {
  const auto sandbox = find(Tier::kNamespaces);
  if (!sandbox) GTEST_SKIP() << "this machine has no namespaces";
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    child::SpawnOptions options;
    options.executable = ESCAPE_CHILD;
    options.arguments = {"worker"};
    options.cell = sandbox->cell();
    const auto child = child::spawn(options);
    const pid_t pid = child ? child->pid() : -1;
    (void)!write(ends[1], &pid, sizeof pid);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(parent, &status, 0), parent);
  pid_t child = -1;
  ASSERT_EQ(read(ends[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  ASSERT_GT(child, 0);
  const Fd held(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  if (held.valid()) {
    pollfd watched{.fd = held.get(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&watched, 1, 5000), 1);
  }
  for (const int end : ends) close(end);
}

TEST(EscapeProbes, bite_where_nothing_keeps_the_child_in) {
  const auto errors = probe(nullptr, "worker");
  const bool root = geteuid() == 0;
  // What needs root, or a kernel that allows it to others.
  const std::set<std::string> of_root{"write to another session's Volume",
                                      "core_pattern",
                                      "open a file by its handle",
                                      "a device",
                                      "give a file away",
                                      "become root",
                                      "perf",
                                      "bpf",
                                      "userfaultfd",
                                      "the kernel's log",
                                      "mount",
                                      "begin a mount",
                                      "copy a mount",
                                      "copy the root's mount",
                                      "chroot",
                                      "unmount",
                                      "another's namespace",
                                      "a mount namespace",
                                      "make a read-only mount writable"};
  // Refused by the machine itself here and there: a descriptor that isn't a mount of its own, another's memory (Yama).
  const std::set<std::string> by_luck{"copy a mount",
                                      "make a read-only mount writable",
                                      "execute what is open",
                                      "read core's memory",
                                      "core's memory",
                                      "keys",
                                      "take a descriptor of core's",
                                      "io_uring",
                                      "perf",
                                      "userfaultfd",
                                      "extended attributes",
                                      "any ioctl",
                                      "open the module for writing",
                                      "unmount",
                                      "signal everybody"};
  size_t bit = 0;
  for (const Probe& one : escapes()) {
    bit += errors.at(one.name) == 0 ? 1 : 0;
    if (one.needs == Tier::kNone || by_luck.contains(one.name) || (!root && of_root.contains(one.name)))
      continue;
    EXPECT_EQ(errors.at(one.name), 0) << one.name << ": " << strerror(errors.at(one.name));
  }
  EXPECT_GE(bit * 10, escapes().size() * (root ? 8 : 6)) << bit << " of " << escapes().size();
}

bool become(unsigned id) {
  return setgroups(0, nullptr) == 0 && setresgid(id, id, id) == 0 && setresuid(id, id, id) == 0 &&
         prctl(PR_SET_DUMPABLE, 1) == 0;  // as a process is that was started so
}

}  // namespace
}  // namespace subako::escape

constexpr int kSkipped = 77;  // CMakeLists.txt: SKIP_RETURN_CODE

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc == 3 && std::string_view(argv[1]) == "--as") {
    if (geteuid() != 0) {
      std::cout << "skipped: only root can become another user\n";
      return kSkipped;
    }
    if (!subako::escape::become(static_cast<unsigned>(std::atoi(argv[2])))) return 2;
    if (access(ESCAPE_CHILD, X_OK) != 0) {
      std::cout << "skipped: another user can't reach " << ESCAPE_CHILD << "\n";
      return kSkipped;
    }
  }
  if (const auto mounts = subako::child::take_own_mounts(); !mounts)
    std::cout << mounts.error().message << "\n";
  return RUN_ALL_TESTS();
}
