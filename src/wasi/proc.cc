#include "wasi/functions.h"

namespace subako::wasi {

abi::Answer<void> proc_exit(Host&, uint32_t code) {
  return abi::stop(abi::Exit{code});
}

// There are no signals.
Reply proc_raise(Host&, uint32_t) {
  return refuse(Errno::kNotSup);
}

}  // namespace subako::wasi
