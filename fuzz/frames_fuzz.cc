// Any bytes and any descriptors from the other process (child/frames.h). Whoever reads them, in pieces or waiting, gets the same
// frames, each with as many descriptors as it announced, or an error; none is left open. What a FrameWriter sends through a
// socket that is always full arrives as it was.
//
// The first byte is 'r' for raw pieces, each with the number of its descriptors, or 'w' for frames to be written.
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/limits.h"
#include "child/frames.h"
#include "guest_world.h"
#include "input.h"
#include "require.h"

using namespace subako;
using child::Frame;
using child::FrameReader;
using child::FrameWriter;
using fuzz::Input;
using fuzz::require;

namespace {

constexpr size_t kPieces = 60;
constexpr size_t kMostDescriptors = 253;  // that one message can carry

struct Pair {
  Pair() {
    std::array<int, 2> fds{};
    require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) == 0,
            "there is a pair of sockets");
    ours = Fd(fds[0]);
    theirs = Fd(fds[1]);
  }
  Fd ours, theirs;
};

Fd any_file() {
  return Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

struct Piece {
  std::string_view bytes;
  size_t descriptors = 0;
};

void send(int socket, const Piece& piece, int file) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostDescriptors * sizeof(int))> control{};
  iovec iov{const_cast<char*>(piece.bytes.data()), piece.bytes.size()};
  msghdr message{};
  message.msg_iov = &iov;
  message.msg_iovlen = 1;
  if (piece.descriptors > 0) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(piece.descriptors * sizeof(int));
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(piece.descriptors * sizeof(int));
    for (size_t i = 0; i < piece.descriptors; ++i)
      std::memcpy(CMSG_DATA(head) + i * sizeof(int), &file, sizeof file);
  }
  require(
      ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(piece.bytes.size()),
      "a piece is sent");
}

struct Got {
  std::vector<Frame> frames;
  bool error = false;
};

bool readable(int socket) {
  pollfd one{.fd = socket, .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, 0) == 1;
}

// Reads all that there is, as a loop of events does; false after an error.
bool drain(FrameReader& reader, int socket, Got& got) {
  for (;;) {
    auto some = reader.read_some(socket);
    if (!some) {
      require(!some.error().message.empty(), "an error says something");
      got.error = true;
      return false;
    }
    for (Frame& frame : some->frames) got.frames.push_back(std::move(frame));
    if (some->state == FrameReader::State::kClosed) return true;
    // The kernel ends a read where other descriptors begin.
    if (some->state == FrameReader::State::kWouldBlock && !readable(socket)) return true;
  }
}

Got read_in_pieces(const std::vector<Piece>& pieces, int file) {
  Pair pair;
  FrameReader reader;
  Got got;
  for (const Piece& piece : pieces) {
    send(pair.ours.get(), piece, file);
    if (!drain(reader, pair.theirs.get(), got)) return got;
  }
  pair.ours.reset();
  (void)drain(reader, pair.theirs.get(), got);
  return got;
}

Got read_waiting(const std::vector<Piece>& pieces, int file) {
  Pair pair;
  Got got;
  for (const Piece& piece : pieces) send(pair.ours.get(), piece, file);
  pair.ours.reset();
  for (;;) {
    auto frame = child::receive_frame(pair.theirs.get());
    got.error = !frame;
    if (!frame || !*frame) return got;
    got.frames.push_back(std::move(**frame));
  }
}

uint32_t number_at(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

struct Expected {
  std::string_view body;
  uint32_t descriptors = 0;
};

// What the bytes say, as long as they say what they may.
std::vector<Expected> frames_in(std::string_view bytes, bool& error) {
  std::vector<Expected> frames;
  while (bytes.size() >= 8) {
    const uint32_t length = number_at(bytes, 0);
    const uint32_t descriptors = number_at(bytes, 4);
    error = length > limits::kFrameBytes || descriptors > limits::kFrameDescriptors;
    if (error || bytes.size() - 8 < length) break;
    frames.push_back({bytes.substr(8, length), descriptors});
    bytes.remove_prefix(8 + length);
  }
  error = error || !bytes.empty();  // cut off
  return frames;
}

void check(const Got& got, const std::vector<Expected>& expected, bool error, bool any_descriptors) {
  require(got.frames.size() <= expected.size(), "a frame is what the bytes say");
  for (size_t i = 0; i < got.frames.size(); ++i) {
    require(got.frames[i].body == expected[i].body, "a body is what was sent");
    require(got.frames[i].descriptors.size() == expected[i].descriptors, "a frame has what it announced");
    for (const Fd& fd : got.frames[i].descriptors)
      require((::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC) != 0, "a descriptor is closed on exec");
  }
  if (error) require(got.error, "what breaks the rules is an error");
  if (!got.error) require(got.frames.size() == expected.size(), "all frames arrive");
  const bool announced =
      std::ranges::any_of(expected, [](const Expected& frame) { return frame.descriptors > 0; });
  if (!error && !any_descriptors && !announced) require(!got.error, "what keeps the rules is no error");
}

void raw(Input input, int file) {
  std::vector<Piece> pieces;
  std::string all;
  bool any_descriptors = false;
  while (!input.empty() && pieces.size() < kPieces) {
    const size_t descriptors = std::min<size_t>(input.byte(), kMostDescriptors);
    const std::string_view bytes = input.take(input.byte());
    if (bytes.empty()) continue;
    pieces.push_back({bytes, descriptors});
    all += bytes;
    any_descriptors = any_descriptors || descriptors > 0;
  }
  bool error = false;
  const auto expected = frames_in(all, error);
  check(read_in_pieces(pieces, file), expected, error, any_descriptors);
  check(read_waiting(pieces, file), expected, error, any_descriptors);
}

void written(Input input, int file) {
  Pair pair;
  const int small = 4096;
  ::setsockopt(pair.ours.get(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
  FrameWriter writer;
  FrameReader reader;
  std::vector<Expected> sent;
  std::vector<std::string> bodies;
  Got got;
  bodies.reserve(kPieces);
  while (!input.empty() && bodies.size() < kPieces) {
    const size_t descriptors = input.byte();
    const size_t length = input.number(2);
    bodies.push_back(std::string(input.take(input.byte())) + std::string(length, '.'));
    Frame frame{bodies.back(), {}};
    for (size_t i = 0; i < descriptors; ++i) frame.descriptors.emplace_back(::dup(file));
    const bool pushed = writer.push(std::move(frame)).has_value();
    require(pushed == (descriptors <= limits::kFrameDescriptors), "what the reader would refuse isn't sent");
    if (pushed) sent.push_back({bodies.back(), static_cast<uint32_t>(descriptors)});
    if (descriptors % 2 == 0)
      require(writer.flush(pair.ours.get()).has_value() && drain(reader, pair.theirs.get(), got),
              "it goes on");
  }
  while (!writer.empty())
    require(writer.flush(pair.ours.get()).has_value() && drain(reader, pair.theirs.get(), got), "it goes on");
  require(writer.queued_bytes() == 0, "nothing is left");
  pair.ours.reset();
  (void)drain(reader, pair.theirs.get(), got);
  check(got, sent, false, true);
  require(!got.error && got.frames.size() == sent.size(), "all that was sent arrives");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Fd file = any_file();
  Input input(data, size);
  const size_t descriptors = fuzz::open_descriptors();
  if (input.byte() == 'w')
    written(input, file.get());
  else
    raw(input, file.get());
  require(fuzz::open_descriptors() == descriptors, "no descriptor is left over");
  return 0;
}
