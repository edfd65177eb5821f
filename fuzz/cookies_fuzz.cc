// fd_readdir with any buffer and any cookie while entries come and go (spec: F2). Who begins at cookie 0 and
// goes on from the cookie of the last whole entry comes to the end, and meets each entry that nobody touched
// exactly once; a cookie that was never handed out finds entries or none, and moves nobody else's place.
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "guest_world.h"
#include "input.h"
#include "require.h"
#include "wasi/host.h"
#include "wasi/imports.h"

using namespace subako;
using fuzz::Input;
using fuzz::require;

namespace {

constexpr size_t kSteps = 64;
constexpr uint32_t kPage = 65536;
constexpr uint32_t kBufferAt = 64;
constexpr uint32_t kMostBuffer = kPage - kBufferAt;
constexpr uint32_t kRoot = 3, kSkills = 4, kOpened = 6;  // the guest's descriptors

std::string passing(uint8_t number) {  // an entry that comes and goes
  return "passing" + std::string(number % 8 * 30, '-') + std::to_string(number % 32);
}

class World {
 public:
  World() {
    folder_.directory("tree");
    for (int i = 0; i < 60; ++i) {
      // All lengths up to the longest name there is.
      std::string name = "stays" + std::to_string(i);
      if (i % 3 == 0) name += std::string(255 - name.size() - static_cast<size_t>(i), 'x');
      if (i % 20 == 0) {
        folder_.directory("tree/" + name);
      } else if (i % 7 == 0) {
        folder_.link("tree/" + name, "nowhere");
      } else {
        folder_.file("tree/" + name, "");
      }
      stays_.insert(name);
    }
  }
  [[nodiscard]] const std::set<std::string>& stays() const { return stays_; }
  [[nodiscard]] Fd open() const { return folder_.open("tree"); }
  void add(const std::string& name) const { folder_.file("tree/" + name, ""); }
  void remove(const std::string& name) const { folder_.remove("tree/" + name); }

 private:
  fuzz::Folder folder_;
  std::set<std::string> stays_;
};

struct Entry {
  uint64_t next = 0;
  std::string name;
};

struct Answer {
  uint32_t used = 0;
  std::vector<Entry> entries;  // the whole ones
};

class Guest {
 public:
  explicit Guest(World& world) : world_(world), memory_(std::make_unique<std::byte[]>(kPage)) {
    host_.emplace(wasi::World{.arguments = {"pack"},
                              .preopens = {{"/volume/tmp", true}, {"/skills", false, false}, {"/skills/a"}}},
                  clock_, streams_, tasks_);
    host_->bind(0, world.open());
    host_->bind(2, world.open());
    // "." once more, with a place of its own.
    memory_[0] = std::byte{'.'};
    require(call("path_open", {kRoot, 0, 0, 1, 0, 0, 0, 0, 4}) == 0 && number_at(4, 4) == kOpened,
            "the directory is opened");
  }
  ~Guest() {
    for (const auto& [name, untouched] : there_) world_.remove(name);
  }

  void step(Input& input) {
    const uint8_t op = input.byte();
    switch (op % 8) {
      case 0:
      case 1:
      case 2:
        return go_on(op % 8 == 0 ? kRoot : kOpened, size_of(input.byte()));
      case 3:
        return add(passing(input.byte()));
      case 4:
        return remove(passing(input.byte()));
      case 5:
        return forged(op & 0x80U ? kSkills : kRoot, input.number(8), size_of(input.byte()));
      case 6:
        // Near those that were handed out.
        return forged(op & 0x80U ? kOpened : kRoot, cookie_ + input.number(1) - 128, size_of(input.byte()));
      default:
        return walk_virtual(size_of(input.byte()));
    }
  }

  // To the end, with no more calls than entries.
  void finish() {
    const size_t most = world_.stays().size() + there_.size() + 40;
    for (size_t calls = 0; walking_; ++calls) {
      require(calls < most, "who goes on comes to the end");
      go_on(kRoot, 400);
    }
  }

 private:
  static uint32_t size_of(uint8_t byte) {
    static constexpr std::array<uint32_t, 8> kSizes{279, 280, 300, 1024, 4096, 5000, 20000, kMostBuffer};
    return byte < 200 ? uint32_t{byte} * 3 : kSizes[byte % 8];
  }

  uint32_t call(std::string_view name, std::vector<uint64_t> words) {
    const abi::Import* import = abi::find(wasi::imports(), name);
    for (int turns = 0; turns < 10; ++turns) {
      const auto answer = import->call(&*host_, abi::GuestMemory({memory_.get(), kPage}), words);
      if (answer) return *answer;
      require(std::holds_alternative<abi::Wait>(answer.error()) && host_->wake().now,
              "it only lets others go on");
    }
    require(false, "a listing is done");
    return 0;
  }

  [[nodiscard]] uint64_t number_at(size_t at, size_t bytes) const {
    uint64_t value = 0;
    std::memcpy(&value, &memory_[at], bytes);
    return value;
  }

  std::optional<Answer> read(uint32_t fd, uint32_t size, uint64_t cookie) {
    std::memset(&memory_[kBufferAt], 0xee, kMostBuffer);
    if (call("fd_readdir", {fd, kBufferAt, size, cookie, 8}) != 0) return std::nullopt;
    Answer answer{static_cast<uint32_t>(number_at(8, 4)), {}};
    require(answer.used <= size, "no more than the buffer is filled");
    for (uint32_t i = size; i < kMostBuffer && i < size + 300; ++i)
      require(memory_[kBufferAt + i] == std::byte{0xee}, "nothing is written behind the buffer");
    for (uint32_t at = 0; answer.used - at >= 24;) {
      const auto length = static_cast<uint32_t>(number_at(kBufferAt + at + 16, 4));
      require(length >= 1 && length <= 255, "a name has 1 to 255 bytes");
      if (answer.used - at - 24 < length) break;
      answer.entries.push_back({number_at(kBufferAt + at, 8),
                                {reinterpret_cast<const char*>(&memory_[kBufferAt + at + 24]), length}});
      at += 24 + length;
    }
    return answer;
  }

  void begin() {
    walking_ = true;
    cookie_ = 0;
    least_ = 0;
    seen_.clear();
    for (auto& [name, untouched] : there_) untouched = true;
    touched_.clear();
  }

  void go_on(uint32_t fd, uint32_t size) {
    if (!walking_) begin();
    size = std::max(size, least_);
    const auto answer = read(fd, size, cookie_);
    require(answer.has_value(), "a cookie that was handed out is known");
    for (const Entry& entry : answer->entries) {
      ++seen_[entry.name];
      cookie_ = entry.next;
      require(cookie_ != 0, "no entry leads back to the start");
      require(is_known(entry.name), "an entry is one that was there", entry.name);
    }
    // As a libc does: room for the largest entry where none fitted.
    least_ = answer->entries.empty() && answer->used == size ? 24 + 255 : 0;
    if (answer->used < size) end();
  }

  [[nodiscard]] bool is_known(const std::string& name) const {
    return name == "." || name == ".." || world_.stays().contains(name) || there_.contains(name) ||
           touched_.contains(name);
  }

  void end() {
    walking_ = false;
    const auto once = [&](const std::string& name) {
      require(seen_[name] == 1, "an entry is met exactly once", name);
    };
    once(".");
    once("..");
    for (const std::string& name : world_.stays()) once(name);
    for (const auto& [name, untouched] : there_)
      if (untouched && !touched_.contains(name)) once(name);
  }

  void add(const std::string& name) {
    if (there_.contains(name)) return;
    world_.add(name);
    there_[name] = false;
    touched_.insert(name);
  }

  void remove(const std::string& name) {
    if (there_.erase(name) == 0) return;
    world_.remove(name);
    touched_.insert(name);
  }

  void forged(uint32_t fd, uint64_t cookie, uint32_t size) {
    const auto answer = read(fd, size, cookie);
    if (!answer) return;
    std::set<std::string> names;
    for (const Entry& entry : answer->entries) {
      require(names.insert(entry.name).second, "one answer has an entry once", entry.name);
      require(fd == kSkills || is_known(entry.name), "an entry is one that was there", entry.name);
    }
  }

  void walk_virtual(uint32_t size) {
    std::vector<std::string> names;
    uint64_t cookie = 0;
    for (int calls = 0;; ++calls) {
      require(calls < 10, "a virtual directory ends");
      const auto answer = read(kSkills, std::max(size, 32U), cookie);
      require(answer.has_value(), "a virtual directory is listed");
      for (const Entry& entry : answer->entries) {
        names.push_back(entry.name);
        require(entry.next > cookie, "cookies grow");
        cookie = entry.next;
      }
      if (answer->used < std::max(size, 32U)) break;
    }
    require(names == std::vector<std::string>{".", "..", "a"}, "a virtual directory has its entries once");
  }

  World& world_;
  std::unique_ptr<std::byte[]> memory_;
  fuzz::HeldClock clock_;
  fuzz::Streams streams_;
  fuzz::Tasks tasks_;
  std::optional<wasi::Host> host_;
  bool walking_ = false;
  uint64_t cookie_ = 0;
  uint32_t least_ = 0;                 // what the buffer must have, as nothing fitted
  std::map<std::string, int> seen_;    // in this walk
  std::map<std::string, bool> there_;  // of those that come and go; since before this walk
  std::set<std::string> touched_;      // in this walk
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static World world;
  Input input(data, size);
  Guest guest(world);
  for (size_t steps = 0; steps < kSteps && !input.empty(); ++steps) guest.step(input);
  guest.finish();
  return 0;
}
