// The host object of `subako_http` (spec: H1): the answer that is held between `request` and `read_response`. One for each run,
// used by one thread; the backend outlives it.
#pragma once

#include <optional>
#include <string>

#include "guest_http/backend.h"

namespace subako::guest_http {

struct Host {
  explicit Host(Backend& sends) : backend(sends) {}
  Backend& backend;
  std::optional<std::string> held;
};

}  // namespace subako::guest_http
