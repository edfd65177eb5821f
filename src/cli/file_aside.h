// A file that is written aside and takes its place when it is complete; otherwise it leaves nothing behind.
// What stood in that place is replaced; a link there is replaced, not followed.
#pragma once

#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace subako::cli {

class FileAside {
 public:
  // `name` in `folder`, which stays open; AT_FDCWD: wherever `name`, a path, leads. `shown` is what people
  // call it.
  FileAside(int folder, std::string name, std::string shown);
  FileAside(const FileAside&) = delete;
  FileAside& operator=(const FileAside&) = delete;
  ~FileAside();

  [[nodiscard]] int error() const { return error_; }  // the errno of why it can't be written; 0: it can
  [[nodiscard]] int fd() const { return file_.get(); }
  [[nodiscard]] Fd duplicate() const;
  [[nodiscard]] Result<void> put_in_place();

 private:
  int folder_;
  std::string name_;
  std::string aside_;
  std::string shown_;
  Fd file_;
  int error_ = 0;
};

}  // namespace subako::cli
