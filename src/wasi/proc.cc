#include "wasi/functions.h"

namespace subako::wasi {

abi::Answer<void> proc_exit(Host&, uint32_t code) {
  return abi::stop(abi::Exit{code});
}

// No guest gets a signal.
Reply proc_raise(Host&, Signal signal) {
  return refuse(signal > Signal::kSys ? Errno::kInval : Errno::kNotSup);
}

}  // namespace subako::wasi
