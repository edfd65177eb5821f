// A guest's stderr: the last 64 KiB kept (spec: C7, L5), and passed on live with at most 64 KiB under way. A slow reader
// never blocks the guest: what doesn't fit is left out and counted, and the reader is told where. What is left out last is
// told by core, from what is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace subako::worker {

class StderrLog {
 public:
  explicit StderrLog(bool live) : live_(live) {}

  void write(std::span<const std::byte> bytes);

  // What is to be sent now, if anything: `left_out` bytes were dropped before `text`.
  struct Piece {
    uint64_t left_out = 0;
    std::string text;
  };
  [[nodiscard]] std::optional<Piece> take_live();
  // The reader has taken so many bytes of earlier pieces.
  void taken(uint64_t bytes);

  [[nodiscard]] std::string kept() const;
  [[nodiscard]] uint64_t left_out() const { return written_ - ring_.size(); }  // written before what is kept

 private:
  void keep(std::string_view bytes);

  bool live_;
  std::string ring_;  // up to 64 KiB; begins at start_ once it is full
  size_t start_ = 0;
  uint64_t written_ = 0;
  Piece waiting_;           // to be sent
  uint64_t dropped_ = 0;    // after what is in waiting_
  uint64_t under_way_ = 0;  // sent and not yet taken
};

}  // namespace subako::worker
