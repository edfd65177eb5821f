// What a child that a stranger has taken over would try (docs/security.md), each as one question to the kernel.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "child/tier.h"

namespace subako::escape {

// What the child was handed, and what it should never reach.
struct Target {
  // A session's tmp/, with "mine" in it. Beside it on the host lie "secret" and data/ with "theirs", and beside the folder of all of these
  // "other" with "secret".
  int volume = -1;
  int package = -1;           // a read-only tree, with "asset" in it
  int module = -1;            // a compiled module, open for reading
  pid_t core = -1;            // who started it, as the host counts
  std::string secret;         // a path of the host
  std::string unix_path;      // where somebody of the host listens
  std::string abstract_name;  // likewise, without its leading zero
  uint16_t tcp_port = 0;      // likewise, on 127.0.0.1
};

struct Probe {
  std::string name;
  std::function<bool(const Target&)> works;  // errno says why not
  // Tiers below this one don't promise that it fails.
  child::Tier needs = child::Tier::kLandlock;
};

[[nodiscard]] std::vector<Probe> escapes();
// Where the Volume has data/ too, which lies beside tmp/ on one mount: what is to stay out of reach all the same.
[[nodiscard]] std::vector<Probe> escapes_with_data();
// What a child can't do without.
[[nodiscard]] std::vector<Probe> necessities();

}  // namespace subako::escape
