#include "engine/compile.h"

#include <wasmtime.h>

#include <memory>
#include <string>

#include "base/write_all.h"
#include "engine/messages.h"

namespace subako::engine {

namespace {

struct DeleteModule {
  void operator()(wasmtime_module_t* module) const { wasmtime_module_delete(module); }
};

}  // namespace

Result<uint64_t> compile(const Engine& engine, std::span<const std::byte> wasm, int fd, uint64_t most) {
  wasmtime_module_t* compiled = nullptr;
  if (wasmtime_error_t* error = wasmtime_module_new(
          engine.get(), reinterpret_cast<const uint8_t*>(wasm.data()), wasm.size(), &compiled)) {
    return fail(Code::kInvalid, take_message(error));
  }
  const std::unique_ptr<wasmtime_module_t, DeleteModule> module(compiled);
  wasm_byte_vec_t bytes;
  if (wasmtime_error_t* error = wasmtime_module_serialize(module.get(), &bytes)) {
    return fail(Code::kInternal, take_message(error));
  }
  const uint64_t size = bytes.size;
  Result<void> written;
  if (size <= most) written = write_all(fd, {bytes.data, bytes.size}, "writing the compiled module");
  wasm_byte_vec_delete(&bytes);
  TRY_VOID(std::move(written));
  if (size > most) {
    return fail(Code::kTooLarge, "it becomes " + std::to_string(size) +
                                     " bytes of machine code, more than the " + std::to_string(most) +
                                     " that one may have");
  }
  return size;
}

}  // namespace subako::engine
