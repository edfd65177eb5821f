// Builder processes that decode pictures, one picture to a process (spec: R5, docs/decisions/0006); private
// to core.
#pragma once

#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/asio.h"
#include "core/channel.h"
#include "core/node.h"
#include "core/picture.h"
#include "core/picture_source.h"
#include "core/signal.h"

namespace subako::core {

// The pictures of one result: they have their time together, and are cancelled together. Owned together by
// who asks and by the coroutines of its pictures.
struct PictureBatch {
  std::chrono::steady_clock::duration left;  // of its time, which passes while any of its builders runs
  bool cancelled = false;
  uint32_t running = 0;
  Time since;              // it runs, where it does
  uint64_t last_turn = 0;  // results take turns: one of many pictures holds up nobody
};
using PictureBatchPtr = std::shared_ptr<PictureBatch>;

// Owned together by the Node and the coroutines of its pictures.
class PictureBuilders : public std::enable_shared_from_this<PictureBuilders> {
 public:
  PictureBuilders(asio::io_context& io, NodeOptions options) : io_(io), options_(std::move(options)) {}

  [[nodiscard]] PictureBatchPtr batch();

  // `source` opens the picture when its turn has come, so that what waits holds no file. The error completes
  // a note: the picture can't be shown. A builder that crashed, was over its limits or lied is such a reason,
  // too.
  [[nodiscard]] Task<std::expected<ShownPicture, std::string>> prepare(std::function<PictureSource()> source,
                                                                       PictureWish wish,
                                                                       PictureBatchPtr batch);
  // What of the batch still waits or runs ends at once.
  void cancel(PictureBatch& batch);
  // All of them, and those to come.
  void stop();
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  class Turn;
  struct Waiting {  // in the frame that waits
    PictureBatch& batch;
    uint64_t ticket;
    Signal woken;
    bool has_turn = false;
  };
  // False: it is over before it began.
  Task<bool> wait_for_turn(PictureBatchPtr batch);
  [[nodiscard]] bool over(const PictureBatch& batch) const;
  // Turns that are free, to those who are next.
  void give_turns();
  void begin_turn(PictureBatch& batch);
  void end_turn(PictureBatch& batch);
  void wake(const PictureBatch& batch);

  asio::io_context& io_;
  NodeOptions options_;
  uint32_t taken_ = 0;  // turns: builders that may run
  std::vector<Waiting*> queue_;
  uint64_t next_number_ = 1;  // of tickets and turns
  std::map<Channel*, const PictureBatch*> running_;
  bool stopped_ = false;
};

}  // namespace subako::core
