// zlib's inflate as an object. It neither reads nor bounds anything by itself: the callers count.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "bundle/step.h"

namespace subako::bundle {

class Inflate {
 public:
  enum class Format { kGzip, kRaw };  // kGzip: header and trailer too, with the CRC and the size checked
  enum class State { kGoing, kEnd, kDamaged };
  struct Progress {
    size_t taken = 0;  // bytes of the input used up
    size_t given = 0;  // bytes of the output filled
    State state = State::kGoing;
    std::string why;  // of kDamaged
  };

  [[nodiscard]] static Result<Inflate> make(Format format);

  // kGoing with nothing taken and nothing given: it wants input.
  [[nodiscard]] Result<Progress> step(std::string_view in, std::span<char> out);
  // For the next stream, after kEnd.
  void restart();

 private:
  struct Stream;
  struct Ender {
    void operator()(Stream* stream) const;
  };
  explicit Inflate(std::unique_ptr<Stream, Ender> stream) : stream_(std::move(stream)) {}

  std::unique_ptr<Stream, Ender> stream_;
};

}  // namespace subako::bundle
