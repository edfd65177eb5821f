#include "engine/linked_module.h"

#include <array>

#include "engine/host_call.h"
#include "engine/messages.h"
#include "subako_engine_shims.h"

namespace subako::engine {

namespace {

struct DeleteModule {
  void operator()(wasmtime_module_t* module) const { wasmtime_module_delete(module); }
};
struct DeleteLinker {
  void operator()(wasmtime_linker_t* linker) const { wasmtime_linker_delete(linker); }
};

}  // namespace

Result<std::shared_ptr<const LinkedModule>> LinkedModule::load(const Engine& engine, Fd compiled,
                                                               const ImportTables& tables) {
  std::array<char, 1024> message{};
  const std::unique_ptr<wasmtime_module_t, DeleteModule> module(
      subako_module_from_fd(engine.get(), compiled.release(), message.data(), message.size()));
  if (!module) return fail(Code::kCorrupt, "cannot load the compiled module: " + std::string(message.data()));

  const std::shared_ptr<LinkedModule> linked(new LinkedModule);
  for (size_t host = 0; host < tables.size(); ++host) {
    for (const abi::Import& import : tables[host]) linked->bound_.push_back({&import, host});
  }
  const std::unique_ptr<wasmtime_linker_t, DeleteLinker> linker(wasmtime_linker_new(engine.get()));
  for (const Bound& bound : linked->bound_) TRY_VOID(define_import(linker.get(), bound));
  if (wasmtime_error_t* error = wasmtime_linker_instantiate_pre(linker.get(), module.get(), &linked->pre_)) {
    return fail(Code::kInternal, "cannot link the module: " + take_message(error));
  }
  return std::shared_ptr<const LinkedModule>(linked);
}

LinkedModule::~LinkedModule() {
  if (pre_ != nullptr) wasmtime_instance_pre_delete(pre_);
}

}  // namespace subako::engine
