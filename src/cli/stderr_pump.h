// Carries a guest's live stderr to ours without ever waiting for its reader on the loop; private to
// session.cc.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "cli/stderr_text.h"
#include "cli/terminal.h"
#include "core/asio.h"
#include "core/call.h"

namespace subako::cli {

class StderrPump final : public core::CallWatch {
 public:
  StderrPump(core::asio::io_context& io, const Terminal& terminal, Progress& progress);

  void counting_volume() override { progress_.show("counting the Volume"); }
  void started() override { progress_.show("running"); }
  void stderr_arrived(uint64_t left_out, std::string_view text) override;
  // Ends the text; on_drained is called once all has been written, at once where it has.
  void finish(std::function<void()> on_drained);

 private:
  struct Piece {
    std::string text;
    uint32_t credit = 0;  // bytes of the guest's that it stands for
  };
  void write_what_fits();
  [[nodiscard]] ssize_t write_some(std::string_view text) const;
  void wait_until_writable();

  Progress& progress_;
  StderrText text_;
  Fd own_;  // our own non-blocking opening of the stream behind standard error, where there can be one
  int fd_;
  bool never_blocks_;
  bool is_socket_ = false;
  std::optional<core::asio::posix::stream_descriptor> descriptor_;  // what to wait on
  std::deque<Piece> queue_;                                         // bounded by the credit
  size_t offset_ = 0;                                               // written of the first
  bool waiting_ = false;
  bool closed_ = false;  // the reader is gone
  std::function<void()> on_drained_;
};

}  // namespace subako::cli
