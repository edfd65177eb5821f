#include <algorithm>
#include <numeric>

#include "base/result.h"
#include "wasi/functions.h"

namespace subako::wasi {

namespace {

// Each string ends with a NUL.
size_t text_size(const std::vector<std::string>& strings) {
  return std::accumulate(strings.begin(), strings.end(), size_t{0},
                         [](size_t sum, const std::string& one) { return sum + one.size() + 1; });
}

Reply give_sizes(const std::vector<std::string>& strings, OutPtr<uint32_t> count, OutPtr<uint32_t> bytes) {
  count.set(static_cast<uint32_t>(strings.size()));
  bytes.set(static_cast<uint32_t>(text_size(strings)));
  return {};
}

Reply give(const std::vector<std::string>& strings, GuestMemory memory, uint32_t pointers, uint32_t text) {
  TRY(const auto at, GuestArray<uint32_t>::take(memory, pointers, static_cast<uint32_t>(strings.size())));
  TRY(const auto to, memory.bytes(text, text_size(strings)));
  size_t used = 0;
  for (size_t i = 0; i < strings.size(); ++i) {
    const auto bytes = std::as_bytes(std::span(strings[i].c_str(), strings[i].size() + 1));
    at.set(i, text + static_cast<uint32_t>(used));
    std::ranges::copy(bytes, to.subspan(used).begin());
    used += bytes.size();
  }
  return {};
}

}  // namespace

Reply args_sizes_get(Host& host, OutPtr<uint32_t> count, OutPtr<uint32_t> bytes) {
  return give_sizes(host.arguments(), count, bytes);
}

Reply args_get(Host& host, GuestMemory memory, uint32_t pointers, uint32_t text) {
  return give(host.arguments(), memory, pointers, text);
}

Reply environ_sizes_get(Host& host, OutPtr<uint32_t> count, OutPtr<uint32_t> bytes) {
  return give_sizes(host.environment(), count, bytes);
}

Reply environ_get(Host& host, GuestMemory memory, uint32_t pointers, uint32_t text) {
  return give(host.environment(), memory, pointers, text);
}

}  // namespace subako::wasi
