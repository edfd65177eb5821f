// A compiled module joined with the host functions that it imports: all that a new instance needs. One for each module of a
// worker; instances keep it alive through a shared_ptr, as a module may be dropped while guests run it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "abi/import.h"
#include "base/fd.h"
#include "base/result.h"
#include "engine/engine.h"

struct wasmtime_instance_pre;

namespace subako::engine {

// A table of host functions. Its functions get the host object at the same index of an instance's hosts.
using ImportTables = std::vector<std::span<const abi::Import>>;

class LinkedModule {
 public:
  // `compiled` is what compile() of the same build wrote, and nobody has touched it since: it is native code.
  [[nodiscard]] static Result<std::shared_ptr<const LinkedModule>> load(const Engine& engine, Fd compiled,
                                                                        const ImportTables& tables);
  ~LinkedModule();
  LinkedModule(const LinkedModule&) = delete;
  LinkedModule& operator=(const LinkedModule&) = delete;

  [[nodiscard]] const wasmtime_instance_pre* get() const { return pre_; }

  // What a callback of Wasmtime needs to know of the import it stands for.
  struct Bound {
    const abi::Import* import;
    size_t host;  // index into an instance's hosts
  };

 private:
  LinkedModule() = default;
  std::vector<Bound> bound_;  // never grows after linking: Wasmtime holds pointers into it
  wasmtime_instance_pre* pre_ = nullptr;
};

}  // namespace subako::engine
