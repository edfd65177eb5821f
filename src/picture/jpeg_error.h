// How libjpeg tells of errors: it jumps back to the setjmp of the caller, with a message kept here. Nothing
// goes to stderr.
//
// Most warnings are about damage that leaves something to see, and viewers show it; but a file that ends too
// early is cut off.
#pragma once

#include <cstddef>
#include <cstdio>
// jpeglib.h needs both.
#include <jerror.h>
#include <jpeglib.h>

#include <array>
#include <csetjmp>
#include <string_view>

namespace subako::picture {

class JpegError {
 public:
  JpegError() {
    jpeg_std_error(&handler_.base);
    handler_.self = this;
    handler_.base.error_exit = on_error;
    handler_.base.emit_message = on_message;
    handler_.base.output_message = [](j_common_ptr) {};
  }
  JpegError(const JpegError&) = delete;
  JpegError& operator=(const JpegError&) = delete;

  [[nodiscard]] jpeg_error_mgr* handler() { return &handler_.base; }
  [[nodiscard]] std::jmp_buf& jump() { return jump_; }  // set it before each call into the library
  [[nodiscard]] const char* message() const { return message_.data(); }
  [[nodiscard]] bool out_of_memory() const { return out_of_memory_; }

  void note(const char* message) { std::snprintf(message_.data(), message_.size(), "%s", message); }
  [[noreturn]] void stop(const char* message) {  // only from beneath a call into the library
    note(message);
    std::longjmp(jump_, 1);
  }

  static JpegError& of(j_common_ptr jpeg) { return *reinterpret_cast<Handler*>(jpeg->err)->self; }

 private:
  struct Handler {
    jpeg_error_mgr base;  // first: libjpeg hands back its address
    JpegError* self;
  };

  static void on_error(j_common_ptr jpeg) {
    JpegError& error = of(jpeg);
    char message[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, message);
    const int code = jpeg->err->msg_code;
    error.out_of_memory_ = code == JERR_OUT_OF_MEMORY || code == JERR_NO_BACKING_STORE;
    error.stop(message);
  }
  static void on_message(j_common_ptr jpeg, int level) {
    if (level >= 0) return;
    if (jpeg->err->msg_code == JWRN_JPEG_EOF) of(jpeg).stop("it ends too early");
    if (jpeg->err->msg_code == JWRN_HIT_MARKER) of(jpeg).stop("its data end before the picture does");
  }

  Handler handler_{};
  std::jmp_buf jump_{};
  std::array<char, 128> message_{};
  bool out_of_memory_ = false;
};

}  // namespace subako::picture
