// An owned file descriptor of the host. A guest's descriptor number is another thing (wasi/descriptors.h).
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

namespace subako {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Fd() { reset(); }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  void reset() {
    // Not close(): where there are threads, glibc's is a cancellation point, which is a sixth of its time.
    if (fd_ >= 0) ::syscall(SYS_close, std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

}  // namespace subako
