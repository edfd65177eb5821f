#include "builder/compile.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <span>

#include "builder/wire.h"
#include "engine/compile.h"
#include "engine/identity.h"
#include "engine/module_check.h"
#include "guest_http/imports.h"
#include "wasi/imports.h"

namespace subako::builder {

namespace {

// A file's bytes without a copy. It is sealed: it can't shrink under the mapping.
class MappedFile {
 public:
  static Result<MappedFile> open(int fd) {
    struct stat status{};
    if (fstat(fd, &status) != 0) return std::unexpected(system_error("looking at the module", errno));
    const auto size = static_cast<size_t>(status.st_size);
    if (size == 0) return MappedFile(nullptr, 0);
    void* begin = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (begin == MAP_FAILED) return std::unexpected(system_error("mapping the module", errno));
    return MappedFile(begin, size);
  }
  MappedFile(MappedFile&& other) noexcept
      : begin_(std::exchange(other.begin_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile() {
    if (begin_ != nullptr) munmap(begin_, size_);
  }
  [[nodiscard]] std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(begin_), size_};
  }

 private:
  MappedFile(void* begin, size_t size) : begin_(begin), size_(size) {}
  void* begin_;
  size_t size_;
};

}  // namespace

Result<child::FromBuilder> compile(Fd module, Fd out, const Report& report) {
  Stopwatch watch;
  child::FromBuilder message;
  child::Compiled& done = *message.mutable_compiled();

  TRY_VOID(report_phase(report, child::Progress::VALIDATING));
  TRY(const MappedFile mapped, MappedFile::open(module.get()));
  const std::array offered{wasi::imports(), guest_http::imports()};
  const Refusals refusals = engine::check_module(mapped.bytes(), offered);
  if (!refusals.empty()) return refused(refusals, {});
  done.set_validate_ms(watch.lap());

  TRY_VOID(report_phase(report, child::Progress::COMPILING));
  TRY(const engine::Engine engine, engine::Engine::for_compiling());
  const Result<uint64_t> compiled = engine::compile(engine, mapped.bytes(), out.get());
  if (!compiled && compiled.error().code == Code::kInvalid) {
    // The check found nothing and the compiler does: its own bounds (a function too large for it).
    return refused({{"M6", "module.wasm", "the compiler refuses it: " + compiled.error().message,
                     "split its largest functions, or build it with less inlining"}},
                   {});
  }
  if (!compiled && compiled.error().code == Code::kTooLarge) {
    return refused({{"M6", "module.wasm", compiled.error().message, "make the module smaller"}}, {});
  }
  if (!compiled) return std::unexpected(compiled.error());
  done.set_compile_ms(watch.lap());
  done.set_compiled_bytes(*compiled);
  done.set_identity(engine::identity(engine));
  return message;
}

}  // namespace subako::builder
