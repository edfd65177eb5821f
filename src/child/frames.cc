#include "child/frames.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "base/limits.h"

namespace subako::child {

namespace {

constexpr size_t kHeaderBytes = 8;
constexpr size_t kReadBytes = 64 * limits::kKiB;
constexpr size_t kKernelDescriptors =
    253;  // SCM_MAX_FD: room for all that one message can carry, so that none is cut off

struct Header {
  uint32_t body = 0;
  uint32_t descriptors = 0;
};

void put_u32(std::string& out, uint32_t value) {
  for (unsigned shift = 0; shift < 32; shift += 8) out += static_cast<char>((value >> shift) & 0xffU);
}

uint32_t get_u32(std::string_view bytes) {
  uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i) value |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  return value;
}

Result<Header> read_header(std::string_view bytes) {
  const Header header{get_u32(bytes), get_u32(bytes.substr(4))};
  if (header.body > limits::kFrameBytes) {
    return fail(Code::kTooLarge, "a frame of " + std::to_string(header.body) +
                                     " bytes was announced; at most " + std::to_string(limits::kFrameBytes) +
                                     " are taken");
  }
  if (header.descriptors > limits::kFrameDescriptors) {
    return fail(Code::kTooLarge, "a frame with " + std::to_string(header.descriptors) +
                                     " descriptors was announced; at most " +
                                     std::to_string(limits::kFrameDescriptors) + " are taken");
  }
  return header;
}

std::unexpected<Error> unannounced() {
  return fail(Code::kInvalid, "a frame carries more descriptors than it announced");
}

struct Chunk {
  size_t bytes = 0;  // 0: closed
  bool would_block = false;
  bool lost = false;  // descriptors that came with these bytes; then none of them is there
};

// Descriptors of a message, owned; false where the kernel cut some off.
bool collect(msghdr& message, std::deque<Fd>& out) {
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof fd);
      out.emplace_back(fd);
    }
  }
  return (message.msg_flags & MSG_CTRUNC) == 0;
}

Result<Chunk> receive(int socket, char* out, size_t size, int flags, std::deque<Fd>& descriptors) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kKernelDescriptors * sizeof(int))> control;
  iovec iov{out, size};
  msghdr message{};
  message.msg_iov = &iov;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t n = 0;
  do {
    n = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Chunk{0, true};
  // Closed with something of ours unread; what it sent before has been read by now.
  if (n < 0 && errno == ECONNRESET) return Chunk{};
  if (n < 0) return std::unexpected(system_error("reading from the other process", errno));
  std::deque<Fd> arrived;
  const bool complete = collect(message, arrived);
  if (complete) std::ranges::move(arrived, std::back_inserter(descriptors));
  return Chunk{static_cast<size_t>(n), false, !complete};
}

struct Sent {
  size_t bytes = 0;
  bool would_block = false;
};

Result<Sent> send_some(int socket, std::string_view bytes, const std::vector<Fd>& descriptors, int flags) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(limits::kFrameDescriptors * sizeof(int))> control{};
  iovec iov{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &iov;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
    cmsghdr* c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    for (size_t i = 0; i < descriptors.size(); ++i) {
      const int fd = descriptors[i].get();
      std::memcpy(CMSG_DATA(c) + i * sizeof(int), &fd, sizeof fd);
    }
  }
  ssize_t n = 0;
  do {
    n = sendmsg(socket, &message, flags | MSG_NOSIGNAL);
  } while (n < 0 && errno == EINTR);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Sent{0, true};
  if (n < 0) return std::unexpected(system_error("writing to the other process", errno));
  return Sent{static_cast<size_t>(n), false};
}

Result<std::string> wire(const Frame& frame) {
  if (frame.body.size() > limits::kFrameBytes || frame.descriptors.size() > limits::kFrameDescriptors) {
    return fail(Code::kTooLarge, "a message of " + std::to_string(frame.body.size()) + " bytes and " +
                                     std::to_string(frame.descriptors.size()) +
                                     " descriptors is too large for one frame (" +
                                     std::to_string(limits::kFrameBytes) + " bytes, " +
                                     std::to_string(limits::kFrameDescriptors) + " descriptors)");
  }
  std::string bytes;
  bytes.reserve(kHeaderBytes + frame.body.size());
  put_u32(bytes, static_cast<uint32_t>(frame.body.size()));
  put_u32(bytes, static_cast<uint32_t>(frame.descriptors.size()));
  bytes += frame.body;
  return bytes;
}

std::vector<Fd> take(std::deque<Fd>& from, size_t count) {
  std::vector<Fd> out;
  for (; count > 0; --count) {
    out.push_back(std::move(from.front()));
    from.pop_front();
  }
  return out;
}

// Fills `out` to `size` bytes; false where the other side closes first.
Result<bool> receive_exactly(int socket, std::string& out, size_t size, std::deque<Fd>& descriptors) {
  while (out.size() < size) {
    const size_t had = out.size();
    out.resize(had + std::min(size - had, kReadBytes));
    TRY(const Chunk chunk, receive(socket, out.data() + had, out.size() - had, 0, descriptors));
    if (chunk.lost) {
      return fail(Code::kUnavailable,
                  "descriptors of a frame were lost: this process has too many open files (ulimit -n)");
    }
    out.resize(had + chunk.bytes);
    if (chunk.bytes == 0) return false;
  }
  return true;
}

std::unexpected<Error> cut_off() {
  return fail(Code::kUnavailable, "the other process closed the connection in the middle of a frame");
}

}  // namespace

Result<std::vector<Frame>> FrameReader::take_frames() {
  std::vector<Frame> frames;
  size_t at = 0;
  while (buffer_.size() - at >= kHeaderBytes) {
    TRY(const Header header, read_header(std::string_view(buffer_).substr(at)));
    if (buffer_.size() - at < kHeaderBytes + header.body) {
      if (descriptors_.size() > header.descriptors) return unannounced();
      break;
    }
    // What the kernel hands over at once belongs to one frame: those before have all of theirs.
    const bool lost = lost_ && header.descriptors > 0 && descriptors_.empty();
    if (descriptors_.size() < header.descriptors && !lost) {
      return fail(Code::kInvalid, "a frame carries fewer descriptors than it announced");
    }
    lost_ = lost_ && !lost;
    frames.push_back({buffer_.substr(at + kHeaderBytes, header.body),
                      lost ? std::vector<Fd>() : take(descriptors_, header.descriptors), lost});
    at += kHeaderBytes + header.body;
  }
  buffer_.erase(0, at);
  // Those of a frame whose header isn't complete may be here already; with no byte of a frame, they belong to
  // none.
  if (descriptors_.size() > (buffer_.empty() ? 0 : limits::kFrameDescriptors)) return unannounced();
  return frames;
}

Result<FrameReader::Received> FrameReader::read_some(int socket) {
  const size_t had = buffer_.size();
  buffer_.resize(had + kReadBytes);
  auto chunk = receive(socket, buffer_.data() + had, kReadBytes, MSG_DONTWAIT, descriptors_);
  buffer_.resize(had + (chunk ? chunk->bytes : 0));
  if (!chunk) return std::unexpected(std::move(chunk).error());
  lost_ = lost_ || chunk->lost;
  if (chunk->would_block) return Received{{}, State::kWouldBlock};
  if (chunk->bytes == 0) {
    if (!buffer_.empty()) return cut_off();
    return Received{{}, State::kClosed};
  }
  TRY(auto frames, take_frames());
  return Received{std::move(frames), chunk->bytes < kReadBytes ? State::kWouldBlock : State::kMore};
}

Result<void> FrameWriter::push(Frame frame) {
  TRY(std::string bytes, wire(frame));
  queued_bytes_ += bytes.size();
  queue_.push_back({std::move(bytes), std::move(frame.descriptors)});
  return {};
}

Result<FrameWriter::State> FrameWriter::flush(int socket) {
  while (!queue_.empty()) {
    Pending& front = queue_.front();
    TRY(const Sent sent,
        send_some(socket, std::string_view(front.bytes).substr(offset_), front.descriptors, MSG_DONTWAIT));
    if (sent.would_block) return State::kWouldBlock;
    front.descriptors.clear();  // they rode with the first byte
    offset_ += sent.bytes;
    queued_bytes_ -= sent.bytes;
    if (offset_ < front.bytes.size()) continue;
    queue_.pop_front();
    offset_ = 0;
  }
  return State::kDone;
}

Result<void> send_frame(int socket, Frame frame) {
  TRY(const std::string bytes, wire(frame));
  for (size_t at = 0; at < bytes.size();) {
    TRY(const Sent sent, send_some(socket, std::string_view(bytes).substr(at), frame.descriptors, 0));
    if (sent.would_block) return fail(Code::kInternal, "send_frame needs a blocking socket");
    frame.descriptors.clear();
    at += sent.bytes;
  }
  return {};
}

Result<std::optional<Frame>> receive_frame(int socket) {
  std::deque<Fd> descriptors;
  std::string bytes;
  TRY(const bool begun, receive_exactly(socket, bytes, kHeaderBytes, descriptors));
  if (!begun && bytes.empty()) return std::nullopt;
  if (!begun) return cut_off();
  TRY(const Header header, read_header(bytes));
  Frame frame;
  TRY(const bool whole, receive_exactly(socket, frame.body, header.body, descriptors));
  if (!whole) return cut_off();
  if (descriptors.size() > header.descriptors) return unannounced();
  if (descriptors.size() < header.descriptors) {
    return fail(Code::kInvalid, "a frame carries fewer descriptors than it announced");
  }
  frame.descriptors = take(descriptors, header.descriptors);
  return frame;
}

}  // namespace subako::child
