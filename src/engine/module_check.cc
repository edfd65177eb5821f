#include "engine/module_check.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/quote.h"
#include "subako_engine_shims.h"

namespace subako::engine {

namespace {

std::string_view text_of(std::span<const std::byte> bytes, size_t at_most = std::string_view::npos) {
  return {reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), at_most)};
}

// M1: what the file is when it is no core module.
std::optional<Refusal> check_kind(std::span<const std::byte> wasm) {
  constexpr std::string_view kMagic("\0asm", 4);
  const auto refuse = [](std::string message, std::string hint) {
    return Refusal{"M1", "module.wasm", std::move(message), std::move(hint)};
  };
  const std::string build = "build for the target wasm32-wasip1 (older toolchains: wasm32-wasi)";
  if (wasm.size() < 8) {
    if (text_of(wasm, 4) == kMagic) return refuse("the file ends inside its header", "build it again; it was cut");
    if (wasm.empty()) return refuse("the file is empty", build);
  }
  const std::string_view begin = text_of(wasm, 4096);
  if (!begin.starts_with(kMagic)) {
    const size_t word = begin.find_first_not_of(" \t\r\n");
    if (word != std::string_view::npos && (begin.substr(word).starts_with("(module") ||
                                           begin.substr(word).starts_with("(component") ||
                                           begin.substr(word).starts_with(";;") || begin.substr(word).starts_with("(;"))) {
      return refuse("it is WebAssembly text, not a binary module", "translate it with `wat2wasm` or `wasm-tools parse`");
    }
    if (begin.starts_with("\x7f" "ELF")) {
      return refuse("it is a native program (ELF), not WebAssembly", build);
    }
    return refuse("it is no WebAssembly module: it doesn't begin with \"\\0asm\"", build);
  }
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(wasm[i]); };
  const unsigned version = byte(4) | byte(5) << 8U;
  const unsigned layer = byte(6) | byte(7) << 8U;
  if (layer == 1) {
    return refuse("it is a component, not a core module",
                  build + " instead of wasm32-wasip2, and don't run `wasm-tools component new` on it");
  }
  if (version != 1 || layer != 0) {
    return refuse("it is WebAssembly of version " + std::to_string(version) + ", layer " + std::to_string(layer) +
                      "; only version 1 of core modules is known",
                  build);
  }
  return std::nullopt;
}

// M4: the feature behind a message of the validator, and the compiler flag that switches it off.
struct Feature {
  std::string_view word;  // in the message
  std::string_view name;
  std::string_view hint;
};
constexpr std::array kFeatures{
    Feature{"shared memor", "threads (shared memory)", "build without threads (no -pthread, no +atomics)"},
    Feature{"shared-everything", "threads", "build without threads"},
    Feature{"threads", "threads", "build without threads (no -pthread, no +atomics)"},
    Feature{"atomic", "threads", "build without threads (no -pthread, no +atomics)"},
    Feature{"legacy exceptions", "exceptions", "build without WebAssembly exceptions (-fno-exceptions, -fignore-exceptions, panic=abort)"},
    Feature{"exceptions", "exceptions", "build without WebAssembly exceptions (-fno-exceptions, -fignore-exceptions, panic=abort)"},
    Feature{"tail calls", "tail calls", "build without tail calls (-mno-tail-call)"},
    Feature{"memory64", "memory64", "build for 32-bit memory (wasm32)"},
    Feature{"64-bit", "memory64", "build for 32-bit memory (wasm32)"},
    Feature{"multi-memory", "multi-memory", "use one memory"},
    Feature{"multiple memories", "multi-memory", "use one memory"},
    Feature{"relaxed SIMD", "relaxed SIMD", "build without relaxed SIMD (-mno-relaxed-simd)"},
    Feature{"relaxed-simd", "relaxed SIMD", "build without relaxed SIMD (-mno-relaxed-simd)"},
    Feature{"function references", "typed function references", "build without typed function references"},
    Feature{"function-references", "typed function references", "build without typed function references"},
    Feature{"gc proposal", "GC", "build without the GC proposal"},
    Feature{"gc types", "GC", "build without the GC proposal"},
    Feature{"rec group", "GC", "build without the GC proposal"},
    Feature{"heap types", "GC", "build without the GC proposal"},
    Feature{"constant expression required", "extended constant expressions", "build without them (-mno-extended-const)"},
    Feature{"extended const", "extended constant expressions", "build without them (-mno-extended-const)"},
    Feature{"custom page sizes", "custom page sizes", "use pages of 64 KiB"},
    Feature{"custom-page-sizes", "custom page sizes", "use pages of 64 KiB"},
    Feature{"wide arithmetic", "wide arithmetic", "build without wide arithmetic (-mno-wide-arithmetic)"},
    Feature{"wide-arithmetic", "wide arithmetic", "build without wide arithmetic (-mno-wide-arithmetic)"},
    Feature{"stack switching", "stack switching", "build without stack switching"},
    Feature{"stack-switching", "stack switching", "build without stack switching"},
};

std::optional<Refusal> check_features(std::span<const std::byte> wasm) {
  std::array<char, 1024> buffer{};
  uint64_t offset = 0;
  if (subako_validate_wasm2(reinterpret_cast<const uint8_t*>(wasm.data()), wasm.size(), buffer.data(), buffer.size(),
                            &offset) == 0) {
    return std::nullopt;
  }
  const std::string message = one_line(buffer.data());
  const std::string where = "module.wasm byte " + std::to_string(offset);
  if (message.find("tables count exceeds") != std::string::npos) {  // the validator has M5's bound as its own
    return Refusal{"M5", where, "it has more than " + std::to_string(limits::kTables) + " tables", "use fewer tables"};
  }
  for (const Feature& feature : kFeatures) {
    if (message.find(feature.word) != std::string::npos) {
      return Refusal{"M4", where, "it uses " + std::string(feature.name) + ", which is not WebAssembly 2.0: " + message,
                     std::string(feature.hint)};
    }
  }
  return Refusal{"M4", where, "it is not valid WebAssembly 2.0: " + message,
                 "build it again; WebAssembly 2.0 without GC is the newest that is accepted"};
}

std::string_view type_name(char letter) {
  switch (letter) {
    case 'i': return "i32";
    case 'I': return "i64";
    case 'f': return "f32";
    case 'F': return "f64";
    case 'v': return "v128";
    default: return "ref";
  }
}

// "(i32, i64) -> i32", as people write it.
std::string signature(std::string_view params, std::string_view results) {
  const auto list = [](std::string_view letters) {
    std::string text;
    for (const char letter : letters.substr(0, 20)) {
      text += (text.empty() ? "" : ", ") + std::string(type_name(letter));
    }
    return letters.size() > 20 ? text + ", …" : text;
  };
  std::string text = "(" + list(params) + ") -> ";
  if (results.size() == 1) return text + list(results);
  return text + "(" + list(results) + ")";
}

std::string letters_of(const abi::FunctionType& type) {
  std::string letters;
  for (size_t i = 0; i < type.param_count; ++i) letters += type.params[i] == abi::ValueType::kI64 ? 'I' : 'i';
  return letters;
}

std::string_view view(const uint8_t* data, size_t size) { return {reinterpret_cast<const char*>(data), size}; }

std::string_view kind_name(uint8_t kind) {
  switch (kind) {
    case 'f': return "a function";
    case 'm': return "a memory";
    case 't': return "a table";
    case 'g': return "a global";
    default: return "a tag";
  }
}

// Gathers what M2, M3 and M5 ask of the outside of a module.
class Outside {
 public:
  Outside(std::span<const std::span<const abi::Import>> offered, Refusals& refusals)
      : offered_(offered), refusals_(refusals) {}

  void see(const subako_item& item) {
    switch (item.what) {
      case 'i': see_import(item); break;
      case 'e': see_export(item); break;
      default: break;
    }
    if (item.kind == 'm' && item.what != 'e') memory_bytes_ = std::max(memory_bytes_, item.minimum);
    if (item.kind == 't' && item.what != 'e') {
      // Saturated: ten tables of 2^63 entries are no small table.
      table_elements_ = item.minimum > UINT64_MAX - table_elements_ ? UINT64_MAX : table_elements_ + item.minimum;
    }
  }

  // Of a module that was read to its end.
  void check_whole() {
    check_start();
    check_memory();
    check_tables();
  }

  void tell_left_out() {
    if (imports_left_out_ == 0) return;
    refuse("M3", "", "and " + std::to_string(imports_left_out_) + " more imports that the host doesn't have", "");
  }

 private:
  void refuse(std::string rule, std::string where, std::string message, std::string hint) {
    refusals_.push_back({std::move(rule), std::move(where), std::move(message), std::move(hint)});
  }

  void see_import(const subako_item& item) {
    const std::string_view module = view(item.module, item.module_len);
    const std::string_view name = view(item.name, item.name_len);
    std::string message;
    std::string hint;
    if (accepts_import(item, module, name, message, hint)) return;
    if (refusals_.size() >= limits::kReportedRefusals) {
      ++imports_left_out_;
      return;
    }
    refuse("M3", "import " + shortened(module) + "." + shortened(name), std::move(message), std::move(hint));
  }

  bool accepts_import(const subako_item& item, std::string_view module, std::string_view name, std::string& message,
                      std::string& hint) const {
    if (item.kind != 'f') {
      message = "it imports " + std::string(kind_name(item.kind)) + "; only functions may be imported";
      hint = item.kind == 'm' ? "let the module define and export its own memory (no --import-memory)" : "";
      return false;
    }
    const std::span<const abi::Import>* table = nullptr;
    for (const auto& candidate : offered_) {
      if (!candidate.empty() && candidate.front().module == module) table = &candidate;
    }
    if (table == nullptr) {
      message = "there is no import module of this name; the host has wasi_snapshot_preview1 and subako_http";
      hint = hint_for_module(module);
      return false;
    }
    const abi::Import* found = abi::find(*table, name);
    if (found == nullptr) {
      message = "the host has no function of this name in " + std::string(module);
      hint = names_of(*table);
      return false;
    }
    const std::string params(view(item.params, item.params_len));
    const std::string results(view(item.results, item.results_len));
    const std::string want_results = found->type.returns_i32 ? "i" : "";
    if (item.typed == 0 || params != letters_of(found->type) || results != want_results) {
      message = "it is imported as " + signature(params, results) + "; the host has " + abi::describe(found->type);
      hint = "use the declarations of your toolchain's WASI preview 1 library, or of the ABI document";
      return false;
    }
    return true;
  }

  static std::string hint_for_module(std::string_view module) {
    if (module == "wasi_unstable") return "build with a newer toolchain: wasi_unstable came before preview 1";
    if (module.starts_with("wasi:")) return "that is WASI preview 2; build for wasm32-wasip1";
    if (module == "wasi") return "build without wasi-threads (wasm32-wasip1, not wasm32-wasip1-threads)";
    if (module == "env") return "a function was left undefined when linking: add its library, or define it";
    if (module.starts_with("__wbindgen") || module == "wbg") return "that is wasm-bindgen, for browsers; build for wasm32-wasip1";
    if (module == "gojs" || module == "go") return "build with GOOS=wasip1, not GOOS=js";
    return "";
  }

  static std::string names_of(std::span<const abi::Import> table) {
    if (table.size() > 8) return "";
    std::string names = "it has ";
    for (size_t i = 0; i < table.size(); ++i) names += (i > 0 ? ", " : "") + std::string(table[i].name);
    return names;
  }

  void see_export(const subako_item& item) {
    const std::string_view name = view(item.name, item.name_len);
    if (name == "_initialize" && item.kind == 'f') reactor_ = true;
    if (name == "_start") {
      start_ = item.kind == 'f' ? signature(view(item.params, item.params_len), view(item.results, item.results_len))
                                : std::string(kind_name(item.kind));
    }
    if (name == "memory") {
      if (item.kind == 'm') memory_exported_ = true;
      else memory_is_ = std::string(kind_name(item.kind));
    } else if (item.kind == 'm') {
      other_memory_ = shortened(name);
    }
  }

  void check_start() {
    if (start_ == "() -> ()") return;
    if (!start_) {
      refuse("M2", "module.wasm",
             reactor_ ? "it is a reactor: it exports _initialize and no _start" : "it exports no function _start",
             reactor_ ? "build it as a command (no -mexec-model=reactor, no --crate-type=cdylib): a program with a main function"
                      : "build it as a program with a main function (a WASI command), not as a library");
      return;
    }
    refuse("M2", "export _start", "_start is " + *start_ + "; it must be a function () -> ()",
           "let the toolchain's start-up code define _start");
  }

  void check_memory() {
    if (!memory_exported_) {
      std::string message = "it exports no memory called \"memory\"";
      if (other_memory_) message += "; its memory is exported as \"" + *other_memory_ + "\"";
      if (memory_is_) message = "its export \"memory\" is " + *memory_is_ + ", not a memory";
      refuse("M2", "module.wasm", std::move(message), "export the linear memory under the name \"memory\"");
    }
    if (memory_bytes_ > limits::kMemoryBytes) {
      refuse("M5", "memory",
             "it starts with " + std::to_string(memory_bytes_ / limits::kMiB) + " MiB of memory; a call may have " +
                 std::to_string(limits::kMemoryBytes / limits::kMiB) + " MiB (L2)",
             "lower the initial memory (-Wl,--initial-memory); it may grow while it runs");
    }
  }

  void check_tables() {
    if (table_elements_ > limits::kTableElements) {
      refuse("M5", "tables",
             "its tables start with " + std::to_string(table_elements_) + " entries; at most " +
                 std::to_string(limits::kTableElements) + " are allowed in all",
             "lower the initial size of its tables");
    }
  }

  std::span<const std::span<const abi::Import>> offered_;
  Refusals& refusals_;
  std::optional<std::string> start_;  // its type as text
  bool reactor_ = false;
  bool memory_exported_ = false;
  std::optional<std::string> memory_is_;
  std::optional<std::string> other_memory_;
  uint64_t memory_bytes_ = 0;
  uint64_t table_elements_ = 0;
  uint64_t imports_left_out_ = 0;
};

}  // namespace

Refusals check_module(std::span<const std::byte> wasm, std::span<const std::span<const abi::Import>> offered) {
  Refusals refusals;
  if (std::optional<Refusal> refusal = check_kind(wasm)) {
    refusals.push_back(*std::move(refusal));
    return refusals;
  }
  std::optional<Refusal> features = check_features(wasm);
  Outside outside(offered, refusals);
  subako_inspect_module(
      reinterpret_cast<const uint8_t*>(wasm.data()), wasm.size(),
      [](void* context, const subako_item* item) { static_cast<Outside*>(context)->see(*item); }, &outside);
  // A module that isn't valid may end before its exports: what is missing there would mislead.
  if (!features) outside.check_whole();
  outside.tell_left_out();
  if (features) {
    refusals.insert(refusals.begin(), *std::move(features));
  }
  return refusals;
}

}  // namespace subako::engine
