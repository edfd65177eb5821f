#include "child/spawn.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <string>
#include <thread>

namespace subako::child {
namespace {

Child start(std::vector<std::string> arguments, SpawnOptions options = {}) {
  options.executable = SPAWN_TEST_CHILD;
  options.arguments = std::move(arguments);
  auto child = spawn(options);
  EXPECT_TRUE(child) << child.error().message;
  return *std::move(child);
}

TEST(Spawn, the_child_has_its_socket_and_nothing_of_ours) {
  (void)signal(SIGPIPE, SIG_IGN);
  const Fd leak(dup(0));
  Child child = start({"describe"});
  std::array<char, 1024> text{};
  const ssize_t n = recv(child.socket(), text.data(), text.size(), 0);
  ASSERT_GT(n, 0);
  EXPECT_EQ(std::string(text.data(), static_cast<size_t>(n)),
            "fd0 fd1 fd2 fd3 in=/dev/null cwd=/ environment=none leader=yes no_new_privs=1 death=9 core=0 "
            "sigpipe=default");
  EXPECT_EQ(child.wait_exit().code, 0);
}

// From here on close_range answers `error` in this process and its children, as on an older kernel or in a
// container that filters it.
bool take_close_range_away(int error) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(program), program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(Spawn, the_child_has_nothing_of_ours_where_close_range_does_not_work) {
  for (const int error : {ENOSYS, EINVAL, EPERM}) {
    const pid_t pid = fork();
    if (pid == 0) {
      if (!take_close_range_away(error)) _exit(2);
      const Fd leak(fcntl(0, F_DUPFD, 500));
      auto child = spawn(
          {.executable = SPAWN_TEST_CHILD, .arguments = {"describe"}, .cpu_limit = {}, .memory_limit = {}});
      std::array<char, 1024> text{};
      if (!child || recv(child->socket(), text.data(), text.size() - 1, 0) <= 0) _exit(3);
      _exit(std::string_view(text.data()).starts_with("fd0 fd1 fd2 fd3 in=") ? 0 : 4);
    }
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) GTEST_SKIP() << "no filter can be set here";
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << strerror(error) << ": " << status;
  }
}

TEST(Spawn, works_where_the_parent_has_no_standard_input) {
  const Fd saved(dup(0));
  close(0);
  std::array<char, 1024> text{};
  {
    Child child = start({"describe"});
    EXPECT_GT(recv(child.socket(), text.data(), text.size() - 1, 0), 0);
  }
  dup2(saved.get(), 0);
  EXPECT_TRUE(std::string_view(text.data()).starts_with("fd0 fd1 fd2 fd3 in=/dev/null "));
}

TEST(Spawn, a_missing_executable_is_one_sentence) {
  const auto child =
      spawn({.executable = "/nowhere/subako-child", .arguments = {}, .cpu_limit = {}, .memory_limit = {}});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().code, Code::kNotFound);
  EXPECT_EQ(child.error().message,
            "starting /nowhere/subako-child (starting the executable): No such file or directory");
}

TEST(Spawn, tells_how_a_child_ended) {
  struct Row {
    std::vector<std::string> arguments;
    std::string sentence;
  };
  for (const Row& row :
       {Row{{"exit", "0"}, "exited with status 0"}, Row{{"exit", "3"}, "exited with status 3"},
        Row{{"signal", "11"}, "was killed by signal 11 (Segmentation fault)"},
        Row{{"signal", "6"}, "was killed by signal 6 (Aborted)"}, Row{{"exit", "77"}, "ran out of memory"}}) {
    Child child = start(row.arguments);
    EXPECT_EQ(exit_sentence(child.wait_exit()), row.sentence);
    EXPECT_EQ(exit_sentence(*child.poll_exit()), row.sentence) << "told again";
  }
}

#ifndef __SANITIZE_ADDRESS__
// Ours may be a terminal, to be read from, or a log, to be cut; its flags would be everybody's.
TEST(Spawn, the_childs_stderr_is_not_ours) {
  const int flags = fcntl(STDERR_FILENO, F_GETFL);
  Child child = start({"say"});
  const ExitStatus status = child.wait_exit();  // nobody has read meanwhile
  EXPECT_EQ(status.code, 5);
  EXPECT_EQ(status.said.size(), kSaidBytes);
  EXPECT_TRUE(status.said.starts_with("first\n"));
  const std::string sentence = exit_sentence(status);
  EXPECT_TRUE(sentence.starts_with("exited with status 5; it said \"first")) << sentence;
  EXPECT_EQ(sentence.find('\x1b'), std::string::npos);
  EXPECT_LT(sentence.size(), 300U);
  EXPECT_EQ(fcntl(STDERR_FILENO, F_GETFL), flags);
}
#endif

TEST(Spawn, an_end_that_somebody_else_has_seen_is_no_success) {
  Child child = start({"exit", "3"});
  int status = 0;
  ASSERT_EQ(waitpid(child.pid(), &status, 0), child.pid());
  const auto end = child.poll_exit();
  ASSERT_TRUE(end);
  EXPECT_FALSE(end->known);
  EXPECT_EQ(exit_sentence(*end), "ended, but how is unknown (something else waited for it)");
  EXPECT_FALSE(child.wait_exit().known) << "told again";
}

TEST(Spawn, limits_hold) {  // spec: M6
  Child spinning =
      start({"spin"},
            {.executable = {}, .arguments = {}, .cpu_limit = std::chrono::seconds(1), .memory_limit = {}});
  Child large =
      start({"allocate"}, {.executable = {}, .arguments = {}, .cpu_limit = {}, .memory_limit = 1UL << 30U});
  Child wordy =
      start({"write"},
            {.executable = {}, .arguments = {}, .cpu_limit = {}, .memory_limit = {}, .file_limit = 4096});
  EXPECT_EQ(exit_sentence(wordy.wait_exit()), "exited with status 9") << "a write beyond the limit of files";
  EXPECT_EQ(exit_sentence(large.wait_exit()), "ran out of memory");
  const ExitStatus status = spinning.wait_exit();
  EXPECT_EQ(exit_sentence(status), "passed its limit of CPU time");
  EXPECT_GE(status.cpu.count(), 900);
}

TEST(Spawn, a_child_let_go_of_is_killed_and_reaped) {
  pid_t pid = -1;
  {
    Child child = start({"sleep"});
    pid = child.pid();
    EXPECT_FALSE(child.poll_exit());
  }
  EXPECT_EQ(kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(Spawn, the_pidfd_tells_of_the_end) {
  Child child = start({"sleep"});
  pollfd watched{child.pidfd(), POLLIN, 0};
  EXPECT_EQ(poll(&watched, 1, 0), 0);
  child.kill();
  EXPECT_EQ(poll(&watched, 1, 5000), 1);
  EXPECT_EQ(child.poll_exit()->signal, SIGKILL);
}

TEST(Spawn, many_threads_start_children_at_once) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int n = 0; n < 5; ++n) EXPECT_EQ(start({"exit", "5"}).wait_exit().code, 5);
    });
  }
}

}  // namespace
}  // namespace subako::child
