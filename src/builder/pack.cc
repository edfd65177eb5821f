#include "builder/pack.h"

#include "builder/wire.h"
#include "bundle/packer.h"

namespace subako::builder {

Result<child::FromBuilder> pack(Fd folder, Fd out) {
  TRY(const bundle::Packing packing, bundle::pack_directory(folder.get(), out.get()));
  if (!packing.bundle) return refused(packing.bundle.error(), packing.warnings);
  child::FromBuilder message;
  message.mutable_packed()->set_bytes(packing.bundle->bytes);
  message.mutable_packed()->set_files(packing.bundle->files);
  for (const Warning& warning : packing.warnings) *message.mutable_packed()->add_warnings() = to_wire(warning);
  return message;
}

}  // namespace subako::builder
