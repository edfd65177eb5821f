#include "child/frames.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <cstring>
#include <thread>

#include "base/few_descriptors_test.h"
#include "base/limits.h"

namespace subako::child {
namespace {

struct Pair {
  Fd left, right;
  Pair() {
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    left = Fd(fds[0]);
    right = Fd(fds[1]);
  }
};

std::string header(uint32_t body, uint32_t descriptors) {
  std::string out(8, '\0');
  std::memcpy(out.data(), &body, 4);
  std::memcpy(out.data() + 4, &descriptors, 4);
  return out;
}

void raw_send(int socket, std::string_view bytes, const std::vector<int>& fds = {}) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(253 * sizeof(int))> control{};
  iovec iov{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &iov;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
    cmsghdr* c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
    std::memcpy(CMSG_DATA(c), fds.data(), fds.size() * sizeof(int));
  }
  ASSERT_EQ(sendmsg(socket, &message, MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
}

Fd null() {
  return Fd(open("/dev/null", O_RDWR | O_CLOEXEC));
}

ino_t inode(const Fd& fd) {
  struct stat s{};
  EXPECT_EQ(fstat(fd.get(), &s), 0);
  return s.st_ino;
}

Frame frame(std::string body, std::vector<Fd> fds = {}) {
  return {std::move(body), std::move(fds)};
}

TEST(Frames, arrive_whole_however_they_are_cut) {
  const std::string wire = header(5, 0) + "hello" + header(0, 0) + header(3, 0) + "abc";
  for (size_t cut = 0; cut <= wire.size(); ++cut) {
    Pair pair;
    FrameReader reader;
    std::vector<std::string> bodies;
    const auto drain = [&] {
      for (;;) {
        auto got = reader.read_some(pair.right.get());
        ASSERT_TRUE(got) << got.error().message;
        for (Frame& f : got->frames) bodies.push_back(std::move(f.body));
        if (got->state != FrameReader::State::kMore) break;
      }
    };
    if (cut > 0) raw_send(pair.left.get(), std::string_view(wire).substr(0, cut));
    drain();
    if (cut < wire.size()) raw_send(pair.left.get(), std::string_view(wire).substr(cut));
    drain();
    EXPECT_EQ(bodies, (std::vector<std::string>{"hello", "", "abc"})) << "cut at " << cut;
  }
}

TEST(Frames, descriptors_come_with_their_frame) {
  Pair pair;
  FrameWriter writer;
  std::vector<Fd> files;
  files.push_back(Fd(memfd_create("a", MFD_CLOEXEC)));
  files.push_back(Fd(memfd_create("b", MFD_CLOEXEC)));
  const ino_t first = inode(files[0]);
  const ino_t second = inode(files[1]);
  std::vector<Fd> one;
  one.push_back(std::move(files[0]));
  std::vector<Fd> other;
  other.push_back(std::move(files[1]));
  other.push_back(null());
  ASSERT_TRUE(writer.push(frame("none")));
  ASSERT_TRUE(writer.push(frame("one", std::move(one))));
  ASSERT_TRUE(writer.push(frame("none again")));
  ASSERT_TRUE(writer.push(frame("two", std::move(other))));
  EXPECT_EQ(*writer.flush(pair.left.get()), FrameWriter::State::kDone);
  EXPECT_EQ(writer.queued_bytes(), 0U);

  FrameReader reader;
  std::vector<Frame> frames;
  while (frames.size() < 4) {
    auto got = reader.read_some(pair.right.get());
    ASSERT_TRUE(got) << got.error().message;
    for (Frame& f : got->frames) frames.push_back(std::move(f));
  }
  EXPECT_TRUE(frames[0].descriptors.empty());
  ASSERT_EQ(frames[1].descriptors.size(), 1U);
  EXPECT_EQ(inode(frames[1].descriptors[0]), first);
  EXPECT_NE(fcntl(frames[1].descriptors[0].get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_TRUE(frames[2].descriptors.empty());
  ASSERT_EQ(frames[3].descriptors.size(), 2U);
  EXPECT_EQ(inode(frames[3].descriptors[0]), second);
}

TEST(Frames, a_large_one_passes_through_a_full_socket) {
  Pair pair;
  FrameWriter writer;
  std::string body(limits::kFrameBytes, 'x');
  body.back() = 'y';
  std::vector<Fd> fds;
  for (uint32_t i = 0; i < limits::kFrameDescriptors; ++i) fds.push_back(null());
  ASSERT_TRUE(writer.push(frame(body, std::move(fds))));
  FrameReader reader;
  std::vector<Frame> frames;
  bool blocked = false;
  while (frames.empty()) {
    const auto flushed = writer.flush(pair.left.get());
    ASSERT_TRUE(flushed);
    blocked = blocked || *flushed == FrameWriter::State::kWouldBlock;
    auto got = reader.read_some(pair.right.get());
    ASSERT_TRUE(got) << got.error().message;
    for (Frame& f : got->frames) frames.push_back(std::move(f));
  }
  EXPECT_TRUE(blocked);
  EXPECT_EQ(frames[0].body, body);
  EXPECT_EQ(frames[0].descriptors.size(), limits::kFrameDescriptors);
}

TEST(Frames, too_much_is_refused_before_it_is_sent) {
  FrameWriter writer;
  EXPECT_EQ(writer.push(frame(std::string(limits::kFrameBytes + 1, 'x'))).error().code, Code::kTooLarge);
  std::vector<Fd> fds;
  for (uint32_t i = 0; i <= limits::kFrameDescriptors; ++i) fds.push_back(null());
  EXPECT_EQ(writer.push(frame("", std::move(fds))).error().code, Code::kTooLarge);
  EXPECT_TRUE(writer.empty());
}

TEST(Frames, a_hostile_sender_is_an_error) {
  const Fd file = null();
  struct Row {
    const char* name;
    std::string bytes;
    size_t fds;
  };
  for (const Row& row :
       {Row{"too long", header(8U * 1024 * 1024 + 1, 0), 0}, Row{"longest", header(~0U, 0), 0},
        Row{"too many descriptors announced", header(0, 65), 0},
        Row{"all descriptors announced", header(0, ~0U), 0},
        Row{"more than announced", header(1, 1) + "x", 2},
        Row{"more than announced, body to come", header(9, 1) + "x", 2},
        Row{"fewer than announced", header(1, 2) + "x", 1}, Row{"a flood", header(1, 0) + "x", 253}}) {
    Pair pair;
    raw_send(pair.left.get(), row.bytes, std::vector<int>(row.fds, file.get()));
    FrameReader reader;
    EXPECT_FALSE(reader.read_some(pair.right.get())) << row.name;
    Pair blocking;
    raw_send(blocking.left.get(), row.bytes, std::vector<int>(row.fds, file.get()));
    blocking.left.reset();
    EXPECT_FALSE(receive_frame(blocking.right.get())) << row.name;
  }
}

TEST(Frames, descriptors_without_room_are_their_frames_misfortune) {
  Pair pair;
  FrameWriter writer;
  const auto push = [&](const std::string& body, size_t descriptors) {
    Frame frame{body, {}};
    for (size_t i = 0; i < descriptors; ++i) frame.descriptors.push_back(null());
    ASSERT_TRUE(writer.push(std::move(frame)));
  };
  push("none", 0);
  push("three", 3);
  push("one", 1);
  push("none again", 0);
  ASSERT_TRUE(writer.flush(pair.left.get()));
  std::vector<Frame> frames;
  {
    Fd next = null();
    const auto room_for_one = static_cast<rlim_t>(next.get()) + 1;
    next.reset();
    const FewDescriptors few(room_for_one);
    FrameReader reader;
    while (frames.size() < 4) {
      auto got = reader.read_some(pair.right.get());
      ASSERT_TRUE(got) << got.error().message;
      for (Frame& frame : got->frames) frames.push_back(std::move(frame));
    }
  }
  const std::vector<std::string> bodies{"none", "three", "one", "none again"};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(frames[i].body, bodies[i]);
    EXPECT_EQ(frames[i].lost, i == 1);
    EXPECT_EQ(frames[i].descriptors.size(), i == 2 ? 1U : 0U);
  }
}

TEST(Frames, a_flood_of_descriptors_without_a_frame_is_stopped) {
  const Fd file = null();
  Pair pair;
  FrameReader reader;
  const std::string wire = header(100, 64);
  size_t taken = 0;
  for (const char byte : wire) {
    raw_send(pair.left.get(), std::string_view(&byte, 1), std::vector<int>(40, file.get()));
    if (!reader.read_some(pair.right.get())) break;
    ++taken;
  }
  EXPECT_LT(taken, 3U);
}

TEST(Frames, the_end_is_clean_only_between_frames) {
  for (const auto& [bytes, clean] :
       {std::pair<std::string, bool>{"", true}, {"\x01", false}, {header(2, 0) + "a", false}}) {
    Pair pair;
    if (!bytes.empty()) raw_send(pair.left.get(), bytes);
    pair.left.reset();
    FrameReader reader;
    auto got = reader.read_some(pair.right.get());
    if (got && got->state != FrameReader::State::kClosed) got = reader.read_some(pair.right.get());
    EXPECT_EQ(got.has_value(), clean);
    if (got) {
      EXPECT_EQ(got->state, FrameReader::State::kClosed);
    }
  }
}

TEST(Frames, an_end_that_leaves_ours_unread_is_an_end) {
  Pair pair;
  raw_send(pair.right.get(), "unread");
  raw_send(pair.left.get(), header(1, 0) + "x");
  pair.left.reset();
  FrameReader reader;
  const auto got = reader.read_some(pair.right.get());
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->frames.size(), 1U);
  const auto end = reader.read_some(pair.right.get());
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->state, FrameReader::State::kClosed);
}

TEST(Frames, nothing_there_would_block) {
  Pair pair;
  FrameReader reader;
  EXPECT_EQ(reader.read_some(pair.right.get())->state, FrameReader::State::kWouldBlock);
}

TEST(Frames, writing_to_the_gone_is_an_error_without_a_signal) {
  Pair pair;
  pair.right.reset();
  FrameWriter writer;
  ASSERT_TRUE(writer.push(frame("x")));
  EXPECT_FALSE(writer.flush(pair.left.get()));
  EXPECT_FALSE(send_frame(pair.left.get(), frame("x")));
}

TEST(Frames, blocking_both_ways) {
  Pair pair;
  std::jthread sender([&] {
    std::vector<Fd> fds;
    fds.push_back(null());
    EXPECT_TRUE(send_frame(pair.left.get(), frame(std::string(3'000'000, 'z'), std::move(fds))));
    EXPECT_TRUE(send_frame(pair.left.get(), frame("last")));
    pair.left.reset();
  });
  auto large = receive_frame(pair.right.get());
  ASSERT_TRUE(large && *large);
  EXPECT_EQ((*large)->body.size(), 3'000'000U);
  EXPECT_EQ((*large)->descriptors.size(), 1U);
  EXPECT_EQ((*receive_frame(pair.right.get()))->body, "last");
  EXPECT_FALSE(*receive_frame(pair.right.get()));
}

}  // namespace
}  // namespace subako::child
