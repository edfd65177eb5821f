#include "child/envelope.h"

#include <google/protobuf/stubs/logging.h>

namespace subako::child {

void silence_decoding() {
  google::protobuf::SetLogHandler(nullptr);
}

}  // namespace subako::child
