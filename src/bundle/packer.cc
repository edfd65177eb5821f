#include "bundle/packer.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "bundle/asset_sink.h"
#include "bundle/path_rules.h"
#include "bundle/reader.h"
#include "bundle/tar_writer.h"

namespace subako::bundle {

namespace {

// Paths of the bundle; a folder ends with a slash, as in the tar, and so sorts before what lies in it.
using Tree = std::map<std::string, std::string>;

class AssetMemory final : public AssetSink {
 public:
  explicit AssetMemory(Tree& tree) : tree_(tree), module_(tree[std::string(kModulePath)]) {}
  Result<void> module(std::string_view bytes) override {
    module_ += bytes;
    return {};
  }
  Result<void> folder(const std::string& path) override {
    tree_.emplace(in_bundle(path) + "/", "");
    return {};
  }
  Result<void> open(const std::string& path) override {
    file_ = &tree_[in_bundle(path)];
    return {};
  }
  Result<void> write(std::string_view bytes) override {
    *file_ += bytes;
    return {};
  }
  Result<void> close() override {
    file_ = nullptr;
    return {};
  }

 private:
  static std::string in_bundle(const std::string& path) { return std::string(kAssetsPath) + "/" + path; }

  Tree& tree_;
  std::string& module_;
  std::string* file_ = nullptr;
};

Result<Packed> write_tree(const Tree& tree, int out_fd) {
  TRY(TarGzWriter writer, TarGzWriter::make(out_fd));
  Packed packed;
  for (const auto& [path, bytes] : tree) {
    if (path.ends_with('/')) {
      TRY_VOID(writer.folder(path.substr(0, path.size() - 1)));
    } else {
      TRY_VOID(writer.file(path, bytes));
      ++packed.files;
    }
  }
  TRY_VOID(writer.finish());
  packed.bytes = writer.written();
  return packed;
}

}  // namespace

Result<Packing> pack_bundle(int bundle_fd, int out_fd) {
  Tree tree;
  AssetMemory assets(tree);
  TRY(Unpacking unpacking, read_bundle(bundle_fd, assets));
  if (!unpacking.bundle)
    return Packing{std::unexpected(std::move(unpacking.bundle).error()), std::move(unpacking.warnings)};
  tree.emplace(kManifestPath, std::move(unpacking.bundle->manifest_text));
  TRY(const Packed packed, write_tree(tree, out_fd));
  return Packing{packed, std::move(unpacking.warnings)};
}

}  // namespace subako::bundle
