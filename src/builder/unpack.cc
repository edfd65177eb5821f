#include "builder/unpack.h"

#include "builder/wire.h"
#include "bundle/asset_folder.h"
#include "bundle/reader.h"
#include "child/wire.h"
#include "volume/probe.h"

namespace subako::builder {

Result<child::FromBuilder> unpack(UnpackFiles files, bool directory, const Report& report) {
  TRY_VOID(volume::probe_openat2());  // or the bundle would be blamed for what the machine lacks
  Stopwatch watch;
  TRY_VOID(report_phase(report, child::Progress::UNPACKING));
  bundle::AssetFolder assets(files.assets.get(), files.module.get());
  TRY(const bundle::Unpacking unpacking, directory ? bundle::read_directory(files.bundle.get(), assets)
                                                   : bundle::read_archive(files.bundle.get(), assets));
  if (!unpacking.bundle) return refused(unpacking.bundle.error(), unpacking.warnings);
  const bundle::Unpacked& unpacked = *unpacking.bundle;

  child::FromBuilder message;
  child::Unpacked& out = *message.mutable_unpacked();
  out.set_name(unpacked.manifest.name);
  if (unpacked.manifest.description) out.set_description(*unpacked.manifest.description);
  out.set_module_bytes(unpacked.module_bytes);
  out.set_asset_bytes(unpacked.asset_bytes);
  out.set_asset_files(unpacked.asset_files);
  for (const Warning& warning : unpacking.warnings) *out.add_warnings() = child::to_wire(warning);
  out.set_unpack_ms(watch.lap());
  return message;
}

}  // namespace subako::builder
