// Assets written as files below a folder of ours (spec: B1, B3).
//
// - assets/x becomes x in it; the module is appended to a file of ours.
// - Files are 0444, folders 0755, whatever the umask.
// - Nothing existing is overwritten and no link is followed, should somebody else write there too.
// - The descriptors stay the caller's and must outlive this; after a refusal or an Error the caller discards the
//   folder.
#pragma once

#include "base/fd.h"
#include "bundle/asset_sink.h"

namespace subako::bundle {

class AssetFolder final : public AssetSink {
 public:
  AssetFolder(int folder_fd, int module_fd) : root_(folder_fd), module_(module_fd) {}
  [[nodiscard]] Result<void> module(std::string_view bytes) override;
  [[nodiscard]] Result<void> folder(const std::string& path) override;
  [[nodiscard]] Result<void> open(const std::string& path) override;
  [[nodiscard]] Result<void> write(std::string_view bytes) override;
  [[nodiscard]] Result<void> close() override;

 private:
  int root_;
  int module_;
  Fd file_;
};

}  // namespace subako::bundle
