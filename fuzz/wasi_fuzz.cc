// A guest that calls any function of WASI with anything (spec: F, C12). An input is a story of calls, told in
// the bytes of wasi_script.h. Whatever the guest does:
//   - nothing is written outside its memory (ASan), and nothing of what lies outside its trees comes into it;
//   - a trap has changed nothing;
//   - the world outside its writable trees stays as it was, and its files hold no more than the budget;
//   - no descriptor of the host is left over;
//   - a function that waits is done once what it waits for has come.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "guest_world.h"
#include "input.h"
#include "require.h"
#include "wasi/host.h"
#include "wasi/imports.h"
#include "wasi_script.h"

using namespace subako;
using fuzz::Input;
using fuzz::require;

namespace {

constexpr size_t kCalls = 48;
constexpr uint64_t kPage = 65536;

class World {
 public:
  World() {
    for (const char* name : {"out", "package", "a", "b"}) folder_.directory(name);
    folder_.file("out/secret", folder_.mark());
    folder_.directory("out/dir");
    folder_.file("out/dir/" + std::string(folder_.mark()), "");
    folder_.file("package/f", "read only");
    folder_.directory("package/dir");
    folder_.link("package/link", "f");
    folder_.file("a/SKILL.md", "skill a");
    folder_.file("b/SKILL.md", "skill b");
    put_up();
    outside_ = outside();
  }

  [[nodiscard]] const fuzz::Folder& folder() const { return folder_; }
  [[nodiscard]] std::string inside() const { return folder_.state("tmp") + folder_.state("data"); }
  [[nodiscard]] uint64_t bytes() const { return folder_.bytes("tmp") + folder_.bytes("data"); }
  [[nodiscard]] uint64_t first_bytes() const { return first_bytes_; }

  // After each run, when its Host is gone.
  void check_and_restore() {
    const std::string now = outside();
    require(fuzz::same(now, outside_), "what lies outside the writable trees stays as it was",
            outside_ + "became\n" + now);
    if (fuzz::same(inside(), inside_)) return;
    folder_.remove("tmp");
    folder_.remove("data");
    put_up();
  }

 private:
  [[nodiscard]] std::string outside() const {
    return folder_.state("out") + folder_.state("package") + folder_.state("a") + folder_.state("b");
  }
  void put_up() {
    folder_.directory("tmp");
    folder_.directory("data");
    folder_.directory("tmp/dir");
    folder_.directory("tmp/dir/deep");
    folder_.file("tmp/file", "0123456789");
    folder_.file("tmp/dir/inner", "inner");
    folder_.link("tmp/link", "file");
    folder_.link("tmp/in", "dir");
    folder_.link("tmp/esc", "../out");
    folder_.link("tmp/abs", folder_.at("out"));
    folder_.link("tmp/loop", "loop");
    folder_.link("tmp/dangling", "absent");
    folder_.file("data/kept", "kept");
    inside_ = inside();
    first_bytes_ = bytes();
  }

  fuzz::Folder folder_;
  std::string inside_;
  std::string outside_;
  uint64_t first_bytes_ = 0;
};

class Guest {
 public:
  Guest(World& world, const script::Setting& setting)
      : world_(world),
        memory_(std::make_unique<std::byte[]>(setting.pages * kPage)),
        size_(setting.pages * kPage),
        budget_(setting.budget) {
    streams_.closed = setting.stdin_closed;
    streams_.room = setting.stdout_room;
    host_.emplace(wasi::World{.arguments = {"pack"},
                              .preopens = {{"/volume/tmp", true},
                                           {"/volume/data", true},
                                           {"/package"},
                                           {"/skills", false, false},
                                           {"/skills/a"},
                                           {"/skills/b"}},
                              .write_budget = budget_,
                              .environment = std::vector<std::string>(setting.environment, "NAME=value")},
                  clock_, streams_, tasks_);
    if (!setting.bound_late) bind();
  }

  // False where the run is over.
  bool step(Input& input) {
    const uint8_t op = input.byte();
    switch (op & script::kOpMask) {
      case script::kPut:
        put(input);
        return true;
      case script::kFeed:
        streams_.input += input.take(input.byte());
        return true;
      case script::kAdvance:
        if (const auto by = static_cast<Nanoseconds>(input.number(4)); clock_.now < INT64_MAX - by)
          clock_.now += by;
        return true;
      case script::kEndInput:
        streams_.closed = true;
        return true;
      default:
        return call(op, input);
    }
  }

  void check_end() {
    require(world_.bytes() <= world_.first_bytes() + budget_, "the files grow by no more than the budget");
    require(host_->budget().written() <= budget_, "the budget isn't passed");
  }

 private:
  void bind() {
    if (bound_) return;
    bound_ = true;
    size_t index = 0;
    for (const char* name : {"tmp", "data", "package", "", "a", "b"}) {
      if (*name != '\0') host_->bind(index, world_.folder().open(name));
      ++index;
    }
  }

  void put(Input& input) {
    const uint8_t slot = input.byte();
    const std::string_view bytes = input.take(input.byte());
    const uint64_t at = script::pointer(slot, size_);
    if (at < size_ && !bytes.empty())
      std::memcpy(&memory_[at], bytes.data(), std::min(bytes.size(), size_ - at));
    lengths_[slot % lengths_.size()] = bytes.size();
  }

  uint64_t word(Input& input) {
    const uint8_t tag = input.byte();
    if (tag < script::kPointers) return tag;
    if (tag < script::kEdges) return script::pointer(tag - script::kPointers, size_);
    if (tag < script::kLengths) return script::edge(tag - script::kEdges);
    if (tag < script::kNewest) return lengths_[tag - script::kLengths];
    if (tag == script::kNewest) return opened_;
    if (tag < script::kRaw8) return input.number(2);
    return input.number(tag < script::kRaw8 + 16 ? 4 : 8);
  }

  abi::Answer<uint32_t> answer_of(const abi::Import& import, std::span<const uint64_t> words) {
    for (int turns = 0; turns < 40; ++turns) {
      auto answer = import.call(&*host_, abi::GuestMemory({memory_.get(), size_}), words);
      if (answer || !std::holds_alternative<abi::Wait>(answer.error())) return answer;
      require(import.waits, "only a function that may wait does", import.name);
      let_it_go_on();
    }
    require(false, "a function that waits is done once what it waits for has come", import.name);
    return 0U;
  }

  void let_it_go_on() {
    const wasi::Wake wake = host_->wake();
    if (wake.now) return;
    if (wake.task) return tasks_.run();
    if (wake.at) require(*wake.at > clock_.now, "nothing waits for a time that has been");
    if (wake.at && !(wake.stdin && turn_++ % 2 == 0)) {
      clock_.now = *wake.at;
    } else if (wake.stdin) {
      if (turn_++ % 4 == 0) {
        streams_.closed = true;
      } else {
        streams_.input += "line\n";
      }
    } else {
      require(!bound_, "nothing waits for nothing");
      bind();
    }
  }

  bool call(uint8_t op, Input& input) {
    const auto imports = wasi::imports();
    const abi::Import& import = imports[(op & script::kOpMask) % imports.size()];
    std::vector<uint64_t> words;
    for (size_t i = 0; i < import.type.param_count; ++i) words.push_back(word(input));
    const bool watched = (op & script::kWatched) != 0;
    const std::string before = watched ? world_.inside() : "";
    const size_t descriptors = watched ? fuzz::open_descriptors() : 0;
    const bool to_file = is_file(words);
    const auto answer = answer_of(import, words);
    require(!world_.folder().holds_mark({memory_.get(), size_}), "nothing from outside comes into memory",
            import.name);
    if (answer) {
      require(*answer <= 76, "an answer is an errno", import.name);
      note_success(import, words, *answer, to_file);
      return true;
    }
    if (const auto* trap = std::get_if<abi::Trap>(&answer.error())) {
      require(trap->message.starts_with(std::string(import.name) + ": "), "a trap names its function",
              trap->message);
      if (watched) {
        require(fuzz::same(world_.inside(), before), "a trap has changed nothing", import.name);
        require(fuzz::open_descriptors() == descriptors, "a trap has opened nothing", import.name);
      }
      return true;  // a guest would be gone; another one may go on from here
    }
    return false;
  }

  bool is_file(std::span<const uint64_t> words) {
    if (words.empty()) return false;
    wasi::Descriptor* found = host_->descriptors().find(static_cast<wasi::FdNumber>(words[0]));
    return found != nullptr && found->file() != nullptr;
  }

  void note_success(const abi::Import& import, std::span<const uint64_t> words, uint32_t answer,
                    bool to_file) {
    if (answer != 0) return;
    const auto result = [&](size_t word) {
      uint32_t value = 0;
      std::memcpy(&value, &memory_[static_cast<uint32_t>(words[word])], sizeof value);
      return value;
    };
    if (import.name == "path_open") opened_ = result(8);
    if (!to_file || (import.name != "fd_write" && import.name != "fd_pwrite")) return;
    written_ += result(words.size() - 1);
    require(written_ <= budget_ && written_ <= host_->budget().written(), "every byte written is counted");
  }

  World& world_;
  std::unique_ptr<std::byte[]> memory_;
  size_t size_;
  uint64_t budget_;
  fuzz::HeldClock clock_;
  fuzz::Streams streams_;
  fuzz::Tasks tasks_;
  std::optional<wasi::Host> host_;
  bool bound_ = false;
  unsigned turn_ = 0;
  uint32_t opened_ = 0;                 // the number that path_open gave last
  uint64_t written_ = 0;                // to files, as the guest was told
  std::array<uint64_t, 16> lengths_{};  // of what was put last into each slot
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static World world;
  Input input(data, size);
  // Counted anew for each run: between two of them the fuzzer opens files of its own.
  const size_t descriptors = fuzz::open_descriptors();
  {
    Guest guest(world, script::setting(input.byte()));
    for (size_t calls = 0; calls < kCalls && !input.empty() && guest.step(input); ++calls) {
    }
    guest.check_end();
  }
  require(fuzz::open_descriptors() == descriptors, "no descriptor of the host is left over");
  world.check_and_restore();
  return 0;
}
