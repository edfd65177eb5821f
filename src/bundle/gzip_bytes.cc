#include "bundle/gzip_bytes.h"

#include "base/limits.h"
#include "bundle/archive.h"

namespace subako::bundle {

namespace {
constexpr size_t kBufferBytes = 64 * limits::kKiB;
constexpr char kFirstMagic = '\x1f';
}  // namespace

GzipBytes::GzipBytes(ByteSource& file, Inflate inflate)
    : file_(file), inflate_(std::move(inflate)), buffer_(kBufferBytes) {}

Result<GzipBytes> GzipBytes::open(ByteSource& file) {
  TRY(Inflate inflate, Inflate::make(Inflate::Format::kGzip));
  return GzipBytes(file, std::move(inflate));
}

Step<bool> GzipBytes::refill() {
  if (!input_.empty()) return true;
  TRY(const size_t n, file_.read(buffer_));
  input_ = std::string_view(buffer_.data(), n);
  return n > 0;
}

Step<size_t> GzipBytes::read(std::span<char> out) {
  while (!ended_) {
    TRY(const bool more, refill());
    TRY(Inflate::Progress progress, inflate_.step(input_, out));
    input_.remove_prefix(progress.taken);
    given_ += progress.given;
    if (given_ > limits::kBundleArchiveBytes) {
      return stop(Refusal{"B3", "",
                          "the gzip file unpacks to more than " +
                              std::to_string(limits::kBundleArchiveBytes / limits::kMiB) + " MiB",
                          "leave out what isn't needed"});
    }
    if (progress.state == Inflate::State::kDamaged) {
      return stop(damaged("", "the gzip file is damaged (" + progress.why + ")"));
    }
    if (progress.state == Inflate::State::kEnd) TRY_VOID(after_member());
    if (progress.given > 0) return progress.given;
    if (!more && progress.state == Inflate::State::kGoing && progress.taken == 0) {
      return stop(damaged("", "the gzip file is cut off"));
    }
  }
  return size_t{0};
}

// Another member, padding of zeros, or the end.
Step<void> GzipBytes::after_member() {
  TRY(const bool more, refill());
  if (!more) {
    ended_ = true;
  } else if (input_.front() == kFirstMagic) {
    inflate_.restart();
  } else {
    TRY_VOID(expect_zeros());
    ended_ = true;
  }
  return {};
}

Step<void> GzipBytes::expect_zeros() {
  for (;;) {
    TRY(const bool more, refill());
    if (!more) return {};
    if (input_.find_first_not_of('\0') != std::string_view::npos) {
      return stop(damaged("", "after the end of the gzip file there is something else"));
    }
    input_ = {};
  }
}

}  // namespace subako::bundle
