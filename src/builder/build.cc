#include "builder/build.h"

#include <array>
#include <chrono>
#include <span>
#include <utility>

#include "builder/wire.h"
#include "bundle/asset_folder.h"
#include "bundle/reader.h"
#include "child/wire.h"
#include "engine/compile.h"
#include "engine/module_check.h"
#include "guest_http/imports.h"
#include "wasi/imports.h"

namespace subako::builder {

namespace {

class Stopwatch {
 public:
  // Milliseconds since it was made or last asked.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::milli>(now - std::exchange(last_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

Result<void> report_phase(const Report& report, child::Progress::Phase phase) {
  child::FromBuilder message;
  message.mutable_progress()->set_phase(phase);
  return report(message);
}

}  // namespace

Result<child::FromBuilder> build(BuildFiles files, bool directory, const Report& report) {
  Stopwatch watch;
  child::Built built;

  TRY_VOID(report_phase(report, child::Progress::UNPACKING));
  bundle::AssetFolder assets(files.assets.get());
  TRY(bundle::Unpacking unpacking, directory ? bundle::read_directory(files.bundle.get(), assets)
                                             : bundle::read_archive(files.bundle.get(), assets));
  if (!unpacking.bundle) return refused(unpacking.bundle.error(), unpacking.warnings);
  const bundle::Unpacked& unpacked = *unpacking.bundle;
  built.set_unpack_ms(watch.lap());

  TRY_VOID(report_phase(report, child::Progress::VALIDATING));
  const std::span<const std::byte> module = std::as_bytes(std::span(unpacked.module));
  const std::array offered{wasi::imports(), guest_http::imports()};
  const Refusals refusals = engine::check_module(module, offered);
  if (!refusals.empty()) return refused(refusals, unpacking.warnings);
  built.set_validate_ms(watch.lap());

  TRY_VOID(report_phase(report, child::Progress::COMPILING));
  TRY(const engine::Engine engine, engine::Engine::for_compiling());
  Result<uint64_t> compiled = engine::compile(engine, module, files.compiled_module.get());
  if (!compiled && compiled.error().code == Code::kInvalid) {
    // The check found nothing and the compiler does: its own bounds (a function too large for it).
    return refused({{"M6", "module.wasm", "the compiler refuses it: " + compiled.error().message,
                     "split its largest functions, or build it with less inlining"}},
                   unpacking.warnings);
  }
  if (!compiled) return std::unexpected(std::move(compiled).error());
  built.set_compile_ms(watch.lap());

  built.set_name(unpacked.manifest.name);
  if (unpacked.manifest.description) built.set_description(*unpacked.manifest.description);
  built.set_module_bytes(unpacked.module.size());
  built.set_compiled_bytes(*compiled);
  built.set_asset_bytes(unpacked.asset_bytes);
  built.set_asset_files(unpacked.asset_files);
  for (const Warning& warning : unpacking.warnings) *built.add_warnings() = child::to_wire(warning);
  child::FromBuilder message;
  *message.mutable_built() = std::move(built);
  return message;
}

}  // namespace subako::builder
