#include "base/write_all.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "base/fd.h"

namespace subako {
namespace {

TEST(WriteAll, goes_on_after_a_part_and_after_a_signal) {
  struct sigaction action{};
  action.sa_handler = [](int) {};  // without SA_RESTART: a write that waits is interrupted
  struct sigaction before{};
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const Fd from(ends[0]);
  Fd to(ends[1]);
  std::string sent(1 << 20, '\0');
  for (size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i * 7 % 251);
  std::string got;
  const pthread_t writer = pthread_self();
  std::jthread reader([&] {
    std::string piece(10'000, '\0');
    for (ssize_t n = 1; n > 0; got.append(piece, 0, static_cast<size_t>(std::max<ssize_t>(n, 0)))) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (got.size() < sent.size() / 2) (void)pthread_kill(writer, SIGUSR1);
      n = read(from.get(), piece.data(), piece.size());
    }
  });
  const auto written = write_all(to.get(), sent, "writing");
  to.reset();
  reader.join();
  (void)sigaction(SIGUSR1, &before, nullptr);
  EXPECT_TRUE(written);
  EXPECT_EQ(got, sent);
}

TEST(WriteAll, tells_why_not) {
  EXPECT_EQ(write_all(-1, "x", "keeping it").error().message, "keeping it: Bad file descriptor");
  EXPECT_TRUE(write_all(-1, "", "keeping it")) << "nothing to write";
  const Fd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full.valid());
  const auto written = write_all(full.get(), "x", "keeping it");
  EXPECT_EQ(written.error().message, "keeping it: No space left on device");
  EXPECT_EQ(written.error().code, Code::kUnavailable);
}

}  // namespace
}  // namespace subako
