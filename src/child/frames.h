// Frames between core and a child: a length, a body and descriptors over a Unix stream socket.
//
// On the wire: u32 bytes of the body, u32 descriptors, both little endian, then the body; the descriptors
// ride (SCM_RIGHTS) with the first byte of their frame. Both sides treat the other as hostile: a frame over
// limits::kFrameBytes or kFrameDescriptors, or one with more or fewer descriptors than it announced, is an
// Error, after which the connection is of no use and must be dropped. Descriptors that the kernel had no room for are their one frame's
// misfortune. Nothing is allocated by an announced
// length. No loop of events in here: FrameReader and FrameWriter never block and their caller polls;
// send_frame and receive_frame block.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace subako::child {

struct Frame {
  std::string body;
  std::vector<Fd> descriptors;  // close-on-exec
  bool lost = false;            // descriptors that it announced: this process had too many files open. Then there are none
};

class FrameReader {
 public:
  enum class State {
    kMore,        // there may be more to read at once
    kWouldBlock,  // wait until the socket is readable
    kClosed,      // the other side has closed between two frames; in the middle of one it is an Error
  };
  struct Received {
    std::vector<Frame> frames;  // complete, in order
    State state = State::kMore;
  };

  // Reads once (at most 64 KiB) without blocking.
  [[nodiscard]] Result<Received> read_some(int socket);

 private:
  [[nodiscard]] Result<std::vector<Frame>> take_frames();

  std::string buffer_;
  std::deque<Fd> descriptors_;  // received and not yet matched to a frame
  bool lost_ = false;           // those of the next frame that announces more than there are
};

class FrameWriter {
 public:
  enum class State { kDone, kWouldBlock };

  // Refuses (kTooLarge) what the reader would refuse.
  [[nodiscard]] Result<void> push(Frame frame);
  // Writes what it can without blocking. An Error means that the other side is gone.
  [[nodiscard]] Result<State> flush(int socket);
  [[nodiscard]] size_t queued_bytes() const { return queued_bytes_; }
  [[nodiscard]] bool empty() const { return queue_.empty(); }

 private:
  struct Pending {
    std::string bytes;  // header and body
    std::vector<Fd> descriptors;
  };
  std::deque<Pending> queue_;
  size_t offset_ = 0;  // written of the first
  size_t queued_bytes_ = 0;
};

// Blocking, for a side that does one thing at a time. Don't mix with a FrameReader or FrameWriter on the same
// socket.
[[nodiscard]] Result<void> send_frame(int socket, Frame frame);
// None: the other side has closed between two frames.
[[nodiscard]] Result<std::optional<Frame>> receive_frame(int socket);

}  // namespace subako::child
