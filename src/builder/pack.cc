#include "builder/pack.h"

#include "builder/wire.h"
#include "bundle/packer.h"
#include "child/wire.h"
#include "volume/probe.h"

namespace subako::builder {

Result<child::FromBuilder> pack(Fd bundle, Fd out) {
  TRY_VOID(volume::probe_openat2());  // or the bundle would be blamed for what the machine lacks
  TRY(const bundle::Packing packing, bundle::pack_bundle(bundle.get(), out.get()));
  if (!packing.bundle) return refused(packing.bundle.error(), packing.warnings);
  child::FromBuilder message;
  message.mutable_packed()->set_bytes(packing.bundle->bytes);
  message.mutable_packed()->set_files(packing.bundle->files);
  for (const Warning& warning : packing.warnings) *message.mutable_packed()->add_warnings() = child::to_wire(warning);
  return message;
}

}  // namespace subako::builder
