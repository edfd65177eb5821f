// Whoever sends a guest's HTTP requests: an interface, so that nothing here knows the network (spec: H).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace subako::guest_http {

class Backend {
 public:
  virtual ~Backend() = default;
  // The JSON answer (H4) to the JSON of a request (H2), or none as long as there is none: it is asked again with the same
  // text. Forgets the request once it has answered. Never blocks.
  [[nodiscard]] virtual std::optional<std::string> answer(std::string_view request) = 0;
};

// A grant without network: `host_not_allowed` for every well-formed request, as at upload (U1).
class DenyAll final : public Backend {
 public:
  [[nodiscard]] std::optional<std::string> answer(std::string_view request) override;
};

}  // namespace subako::guest_http
