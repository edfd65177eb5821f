// Stands in for a worker or a builder in node_test. What it does wrong is named by the tool that is called,
// by the text of the module that it is to load, by the text of the bundle that it is to build, or by the text
// after the signature of a PNG.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "child/envelope.h"
#include "child/frames.h"
#include "child/messages.pb.h"

namespace {

using namespace subako;
using namespace subako::child;

constexpr int kSocket = 3;
constexpr uint32_t kGuestsOfOneNeverReady = 13;
constexpr uint32_t kGuestsOfAnotherBuild = 14;
constexpr uint32_t kGuestsOfOneWithoutIdentity = 15;
constexpr uint32_t kGuestsOfABragger = 16;
constexpr uint32_t kGuestsOfOneThatDies = 17;

void send(const google::protobuf::MessageLite& message) {
  if (!send_frame(kSocket, {message.SerializeAsString(), {}})) _exit(0);
}

// A sanitizer would make an exit of it.
void die_of(int number) {
  (void)signal(number, SIG_DFL);
  raise(number);
}

void send_raw(std::string_view bytes) {
  (void)!write(kSocket, bytes.data(), bytes.size());
}

std::string text_of(const Fd& fd) {
  std::string text(100, '\0');
  const ssize_t n = pread(fd.get(), text.data(), text.size(), 0);
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return text;
}

std::string identity(uint32_t guests) {
  if (guests == kGuestsOfOneWithoutIdentity) return "";
  if (guests == kGuestsOfABragger) return std::string(size_t{1} << 20U, 'x');
  return guests == kGuestsOfAnotherBuild ? "build 2" : "build 1";
}

FromWorker answered(uint64_t run, std::string result) {
  FromWorker message;
  message.mutable_ended()->set_run(run);
  message.mutable_ended()->mutable_answered()->set_result(std::move(result));
  return message;
}

FromWorker text(uint64_t run, const std::string& text) {
  return answered(run, R"({"content":[{"type":"text","text":")" + text + "\"}]}");
}

FromWorker upload(uint64_t run) {
  FromWorker message;
  message.mutable_ended()->set_run(run);
  Tool& tool = *message.mutable_ended()->mutable_answered()->add_tools();
  tool.set_name("greet");
  tool.set_input_schema(R"({"type":"object"})");
  return message;
}

FromWorker stderr_of(uint64_t run, uint64_t left_out, std::string bytes) {
  FromWorker message;
  message.mutable_stderr()->set_run(run);
  message.mutable_stderr()->set_left_out(left_out);
  message.mutable_stderr()->set_text(std::move(bytes));
  return message;
}

FromWorker volume_counted(uint64_t volume, uint64_t bytes) {
  FromWorker message;
  message.mutable_volume_counted()->set_volume(volume);
  message.mutable_volume_counted()->mutable_counts()->set_bytes(bytes);
  message.mutable_volume_counted()->mutable_counts()->set_entries(bytes);
  return message;
}

class FakeWorker {
 public:
  [[noreturn]] void serve() {
    for (;;) {
      auto frame = receive_frame(kSocket);
      if (!frame || !*frame) _exit(0);
      const auto message = decode<ToWorker>((*frame)->body);
      if (!message) _exit(9);
      take(*message, (*frame)->descriptors);
    }
  }

 private:
  void take(const ToWorker& message, const std::vector<Fd>& descriptors) {
    FromWorker out;
    switch (message.request_case()) {
      case ToWorker::kConfigure:
        if (message.configure().guests() == kGuestsOfOneNeverReady) return;
        if (message.configure().guests() == kGuestsOfOneThatDies) _exit(5);
        out.mutable_ready()->set_identity(identity(message.configure().guests()));
        out.mutable_ready()->set_guests(message.configure().guests());
        return send(out);
      case ToWorker::kLoadModule:
        module_ = text_of(descriptors.at(0));
        if (module_ == "die at load") die_of(SIGSEGV);
        if (module_ == "never loads") return;
        out.mutable_module_loaded()->set_module(message.load_module().module());
        if (module_ == "bad module") out.mutable_module_loaded()->set_error("it is damaged");
        return send(out);
      case ToWorker::kDropVolume:
        dropped_ += " dropped " + std::to_string(message.drop_volume().volume());
        return;
      case ToWorker::kStartRun:
        return run(message.start_run(), descriptors);
      case ToWorker::kCancel:
        if (deaf_) return;
        out.mutable_ended()->set_run(message.cancel().run());
        out.mutable_ended()->mutable_cancelled();
        return send(out);
      case ToWorker::kStderrTaken:
        if (message.stderr_taken().bytes() == 1000) send(text(message.stderr_taken().run(), "credited"));
        return;
      case ToWorker::kMemoryAllowed:
        return send(text(wants_memory_, "granted " + std::to_string(message.memory_allowed().bytes())));
      default:
        return;
    }
  }

  void run(const StartRun& start, const std::vector<Fd>& descriptors) {
    const uint64_t id = start.run();
    if (start.has_upload()) return run_upload(id);
    const std::string& tool = start.call().tool();
    FromWorker out;
    if (tool == "answer") return send(text(id, start.call().arguments() == "{}" ? "hello" : "else"));
    if (tool == "where") return send(text(id, preopens(start, descriptors)));
    if (tool == "who") return send(text(id, std::to_string(getpid())));
    if (tool == "volume") return send(text(id, volume_of(start)));
    if (tool == "boast") {
      send(volume_counted(start.volume().number(), UINT64_MAX));
      send(volume_counted(start.volume().number() + 1000, 7));
      return send(text(id, "counted"));
    }
    if (tool == "count") {
      send(volume_counted(start.volume().number(), 77));
      return send(text(id, "counted"));
    }
    if (tool == "leaves") {  // 5 at its end, 7 when it has left
      const uint64_t number = start.volume().number();
      send(volume_counted(number, 5));
      FromWorker end = text(id, "ended");
      end.mutable_ended()->set_leaves(true);
      send(end);
      usleep(100'000);
      FromWorker left = volume_counted(number, 7);
      left.mutable_volume_counted()->set_left(true);
      return send(left);
    }
    if (tool == "left_without_counts") {
      send(volume_counted(start.volume().number(), 9));
      FromWorker left;
      left.mutable_volume_counted()->set_volume(start.volume().number());
      left.mutable_volume_counted()->set_left(true);
      send(left);
      return send(text(id, "ended"));
    }
    if (tool == "die") _exit(3);
    if (tool == "segv") die_of(SIGSEGV);
    if (tool == "garbage") return send_raw(std::string(100, '\xff'));
    if (tool == "no_message") return send_raw(std::string("\x03\0\0\0\0\0\0\0\xff\xff\xff", 11));
    if (tool == "half_frame") {
      send_raw(std::string("\x03\0\0\0\0\0\0\0a", 9));
      _exit(0);
    }
    if (tool == "two_ended") {
      send(text(id, "first"));
      return send(text(id, "second"));
    }
    if (tool == "unknown_run") return send(text(id + 1000, "lost"));
    if (tool == "no_outcome") {
      out.mutable_ended()->set_run(id);
      return send(out);
    }
    if (tool == "bad_cause") {
      out.mutable_ended()->set_run(id);
      out.mutable_ended()->mutable_crashed()->set_cause("gremlins");
      return send(out);
    }
    if (tool == "no_json") return send(answered(id, "{\"content\":"));
    if (tool == "not_utf8") return send(answered(id, "{\"content\":[],\"x\":\"\xff\"}"));
    if (tool == "no_result") return send(answered(id, R"({"content":7})"));
    if (tool == "much_stderr") {
      out = text(id, "x");
      out.mutable_ended()->set_stderr(std::string(65 * 1024, 'x'));
      return send(out);
    }
    if (tool == "stderr_flood") {
      for (int i = 0; i < 20; ++i) send(stderr_of(id, 0, std::string(4096, 'x')));
      return;
    }
    if (tool == "stderr") return send(stderr_of(id, 7, std::string(1000, 'e')));
    if (tool == "stderr_rest") {
      send(stderr_of(id, 0, "abc"));
      out = text(id, "x");
      out.mutable_ended()->set_stderr("cdefgh");
      out.mutable_ended()->set_stderr_left_out(4);
      return send(out);
    }
    if (tool == "chatter") {
      for (;;) send(stderr_of(id, 0, "x"));  // each is answered by a credit, which is never read
    }
    if (tool == "hold") return held_.push_back(id);
    if (tool == "release") {
      for (const uint64_t held : held_) send(text(held, "held"));
      held_.clear();
      return send(text(id, "released"));
    }
    if (tool == "wants_much" || tool == "wants_nothing") {
      wants_memory_ = id;
      out.mutable_memory_wanted()->set_least(tool == "wants_much" ? 1 : 0);
      out.mutable_memory_wanted()->set_bytes(uint64_t{1} << 50U);
      return send(out);
    }
    if (tool == "returns_memory") {
      out.mutable_memory_returned()->set_bytes(1);
      return send(out);
    }
    deaf_ = tool == "deaf";
  }

  void run_upload(uint64_t id) {
    FromWorker out;
    Ended& ended = *out.mutable_ended();
    ended.set_run(id);
    ended.set_stderr("last words \xff");
    if (module_ == "upload crash") {
      ended.mutable_crashed()->set_cause("trap");
      ended.mutable_crashed()->set_message("the guest trapped");
      return send(out);
    }
    if (module_ == "upload faults and crash") {
      ended.mutable_crashed()->set_cause("trap");
      ended.mutable_crashed()->set_message("the guest trapped");
      Refusal& refusal = *ended.mutable_crashed()->add_refusals();
      refusal.set_rule("U3");
      refusal.set_message("a name is missing");
      ended.mutable_crashed()->add_warnings()->set_message("a $ref to elsewhere");
      return send(out);
    }
    if (module_ == "upload host fault") {
      ended.mutable_crashed()->set_cause("host");
      ended.mutable_crashed()->set_message("no instance could be made");
      return send(out);
    }
    if (module_ == "many refusals") {
      for (int i = 0; i < 5000; ++i) {
        Refusal& refusal = *ended.mutable_answered()->add_refusals();
        refusal.set_rule("U3");
        refusal.set_message(std::string(i == 0 ? 100'000 : 10, 'm'));
      }
      return send(out);
    }
    if (module_ == "bad tools") {
      Tool& tool = *ended.mutable_answered()->add_tools();
      tool.set_name("Not A Name");
      tool.set_input_schema(R"({"type":"object"})");
      return send(out);
    }
    if (module_ == "tool injection") {
      Tool& tool = *ended.mutable_answered()->add_tools();
      tool.set_name("greet");
      tool.set_input_schema(R"({"type":"object"},"x":{})");
      return send(out);
    }
    send(upload(id));
  }

  std::string volume_of(const StartRun& start) const {
    const Volume& volume = start.volume();
    std::string text = std::to_string(volume.number()) + " of " + std::to_string(volume.most().bytes());
    if (volume.has_counts()) {
      text += " holds " + std::to_string(volume.counts().bytes()) + " in " + std::to_string(volume.counts().entries());
    }
    return text + dropped_;
  }
  static std::string preopens(const StartRun& start, const std::vector<Fd>& descriptors) {
    std::string out;
    size_t next = 0;
    for (const Preopen& preopen : start.preopens()) {
      out += preopen.path() + (preopen.writable() ? " rw" : " ro");
      if (preopen.has_tree()) {
        const Fd file(openat(descriptors.at(next++).get(), "mark", O_RDONLY | O_CLOEXEC));
        out += "=" + (file.valid() ? text_of(file) : std::string("unmarked"));
      }
      out += ";";
    }
    return out;
  }

  std::string module_;
  std::vector<uint64_t> held_;
  std::string dropped_;  // Volumes, as text
  bool deaf_ = false;
  uint64_t wants_memory_ = 0;  // a run
};

// Of a picture: what follows the signature says what to do, and the picture as it is goes out.
[[noreturn]] void picture(const Frame& frame) {
  const std::string bytes = text_of(frame.descriptors.at(0));
  const std::string mode = bytes.substr(std::min<size_t>(bytes.size(), 8));
  const int shown = frame.descriptors.at(1).get();
  FromBuilder out;
  if (mode == "spin") {
    for (;;) asm volatile("");
  }
  if (mode == "silent") pause();
  if (mode == "segv") die_of(SIGSEGV);
  if (mode == "memory") _exit(77);
  if (mode == "exit") _exit(0);
  if (mode == "hangs up") {
    close(kSocket);
    pause();
  }
  if (mode == "garbage") send_raw(std::string(64, '\xff'));
  if (mode == "no message") send_raw(std::string("\x03\0\0\0\0\0\0\0\xff\xff\xff", 11));
  if (mode == "nothing") send(FromBuilder());
  if (mode == "other job") {
    out.mutable_packed();
    send(out);
  }
  if (mode == "fail") {
    out.mutable_failed()->set_message("the machine is tired");
    send(out);
  }
  if (mode == "unshowable") {
    out.mutable_unshowable()->set_reason("it is damaged\n\x1b[2J" + std::string(1000, 'x'));
    send(out);
  }
  const std::string written = mode == "other bytes" ? "<svg/>" : mode == "no bytes" ? "" : bytes;
  (void)!write(shown, written.data(), written.size());
  if (mode == "maps it") {
    // Held writable by another process that lives on.
    (void)mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, shown, 0);
    if (fork() == 0) {
      (void)alarm(5);
      pause();
    }
  }
  if (mode == "too much") (void)!ftruncate(shown, 11 << 20);
  Pictured& pictured = *out.mutable_pictured();
  pictured.set_format(mode == "other format" ? Pictured::JPEG : Pictured::PNG);
  if (mode == "unknown format") pictured.set_format(static_cast<Pictured::Format>(77));
  pictured.set_source_width(mode == "huge" ? 4'000'000'000 : mode == "scaled" ? 3000 : 20);
  pictured.set_source_height(mode == "huge" ? 4'000'000'000 : mode == "scaled" ? 1500 : 10);
  pictured.set_width(mode == "scaled" ? 2000 : mode == "too wide" ? 2001 : mode == "no width" ? 0 : 20);
  pictured.set_height(mode == "scaled" ? 1000 : 10);
  pictured.set_untouched(mode != "scaled" && mode != "too wide");
  if (mode == "too wide") pictured.set_source_width(2001);
  pictured.set_first_frame(mode == "scaled");
  pictured.set_bytes(mode == "too much" ? 11 << 20 : written.size() + (mode == "wrong size" ? 1 : 0));
  send(out);
  _exit(0);
}

// What any job may do instead of what it should.
void misbehave(const std::string& mode) {
  FromBuilder out;
  if (mode == "spin") {
    for (;;) asm volatile("");
  }
  if (mode == "spin on") {
    (void)signal(SIGXCPU, SIG_IGN);
    for (;;) asm volatile("");
  }
  if (mode == "silent") pause();
  if (mode == "killed") raise(SIGKILL);
  if (mode == "half" || mode == "half, killed") {
    send_raw(std::string("\x03\0\0\0\0\0\0\0a", 9));
    if (mode == "half, killed") raise(SIGKILL);
    _exit(0);
  }
  if (mode == "hangs up") {
    close(kSocket);
    pause();
  }
  if (mode == "segv") die_of(SIGSEGV);
  if (mode == "memory") _exit(77);
  if (mode == "exit") _exit(3);
  if (mode == "garbage") send_raw(std::string(64, '\xff'));
  if (mode == "nothing") send(FromBuilder());
  if (mode == "fail") {
    out.mutable_failed()->set_message("the disk is full");
    send(out);
  }
  if (mode == "refuse" || mode == "refuse without reason") {
    out.mutable_refused();
    if (mode == "refuse") {
      Refusal& refusal = *out.mutable_refused()->add_refusals();
      refusal.set_rule("M1");
      refusal.set_message("it is a component");
    }
    send(out);
  }
}

uint64_t write_text(const Fd& fd, const std::string& text) {
  (void)!write(fd.get(), text.data(), text.size());
  return text.size();
}

constexpr int64_t kHuge = int64_t{1} << 40U;

// Takes no memory until somebody reads it.
void grow(const Fd& fd) {
  (void)signal(SIGXFSZ, SIG_IGN);
  if (ftruncate(fd.get(), kHuge) == 0) {
    FromBuilder out;
    out.mutable_failed()->set_message("nothing bounds a file of this process");
    send(out);
  }
}

// The module's text is the bundle's.
void unpack(const std::string& mode, const Fd& assets, const Fd& module) {
  misbehave(mode);
  FromBuilder out;
  Unpacked& unpacked = *out.mutable_unpacked();
  if (mode == "huge module") {
    grow(module);
    unpacked.set_name("sample");
    unpacked.set_module_bytes(kHuge);
    send(out);
    _exit(0);
  }
  unpacked.set_name(mode == "bad name" ? "../x" : "sample");
  unpacked.set_module_bytes(write_text(module, mode) + (mode == "wrong size" ? 1 : 0));
  unpacked.set_asset_files(1);
  unpacked.add_warnings()->set_message("an odd file");
  const Fd mark(openat(assets.get(), "mark", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  (void)!write(mark.get(), "assets", 6);
  if (mode == "compiled instead") out.mutable_compiled();
  send(out);
}

// The compiled module's text is the module's.
void compile(std::string mode, const Fd& compiled) {
  constexpr std::string_view kCompile = "compile: ";
  if (mode.starts_with(kCompile)) mode.erase(0, kCompile.size());
  misbehave(mode);
  FromBuilder out;
  out.mutable_progress()->set_phase(Progress::COMPILING);
  send(out);
  if (mode == "huge") {
    grow(compiled);
    out.mutable_compiled()->set_compiled_bytes(kHuge);
    send(out);
    _exit(0);
  }
  const uint64_t bytes = mode == "empty" ? 0 : write_text(compiled, mode);
  out.mutable_compiled()->set_compiled_bytes(bytes + (mode == "wrong size" ? 1 : 0));
  out.mutable_compiled()->set_identity(mode == "by build 2"  ? "build 2"
                                       : mode == "by nobody" ? ""
                                                             : "build 1");
  send(out);
}

[[noreturn]] void build() {
  auto frame = receive_frame(kSocket);
  if (!frame || !*frame || (*frame)->descriptors.empty()) _exit(9);
  const std::vector<Fd>& files = (*frame)->descriptors;
  const auto job = decode<ToBuilder>((*frame)->body);
  if (!job) _exit(9);
  if (job->has_picture()) picture(**frame);
  if (job->has_unpack()) unpack(text_of(files.at(0)), files.at(1), files.at(2));
  if (job->has_pack()) misbehave(text_of(files.at(0)));
  if (job->has_compile()) compile(text_of(files.at(0)), files.at(1));
  _exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "builder") build();
  FakeWorker().serve();
}
