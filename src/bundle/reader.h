// Reading a bundle, the way in (spec: B1-B3, L12): a folder or an archive becomes a manifest, a module and
// asset files.
//
// For the sandboxed builder process; the bytes are hostile. An Error means that we failed (a full disk); what
// is wrong with the bundle are refusals, all that can be found. Descriptors stay the caller's. After refusals
// or an Error the sink may have been given a part of the assets: throw it away.
#pragma once

#include "bundle/asset_sink.h"
#include "bundle/unpacked.h"

namespace subako::bundle {

// `fd`: a directory or a regular file, opened for reading.
[[nodiscard]] Result<Unpacking> read_bundle(int fd, AssetSink& assets);

[[nodiscard]] Result<Unpacking> read_directory(int folder_fd, AssetSink& assets);
// .tar.gz, .tar or .zip, told by the content.
[[nodiscard]] Result<Unpacking> read_archive(int file_fd, AssetSink& assets);

}  // namespace subako::bundle
