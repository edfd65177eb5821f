#include "bundle/intake.h"

#include "base/quote.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"

namespace subako::bundle {

namespace {

const char* refused_kind(EntryKind kind) {
  switch (kind) {
    case EntryKind::kFile:
    case EntryKind::kFolder:
      return nullptr;
    case EntryKind::kSymlink:
      return "a symbolic link";
    case EntryKind::kHardLink:
      return "a hard link";
    case EntryKind::kDevice:
      return "a device";
    case EntryKind::kFifo:
      return "a named pipe";
    case EntryKind::kSocket:
      return "a socket";
    case EntryKind::kSparse:
      return "a sparse file";
    case EntryKind::kUnknown:
      break;
  }
  return "of a kind that this host doesn't know";
}

std::string_view first_segment(std::string_view path) {
  return path.substr(0, path.find('/'));
}

std::string_view below_assets(std::string_view path) {
  return path.substr(kAssetsPath.size() + 1);
}

}  // namespace

Step<void> Intake::begin(const Entry& entry) {
  keep_ = Keep::kNothing;
  current_ = shortened(entry.path);
  if (++entries_ > limits::kBundleEntries) {
    return stop(Refusal{"B3", current_,
                        "there are more than " + std::to_string(limits::kBundleEntries) + " entries",
                        "pack fewer files and folders"});
  }
  const PathOf what = entry.kind == EntryKind::kFolder ? PathOf::kFolder : PathOf::kFile;
  auto placed = place(entry.path, what);
  if (!placed) {
    refuse(std::move(placed).error());
    return {};
  }
  if (const char* kind = refused_kind(entry.kind)) {
    refused_places_.insert(placed->place);
    refuse({"B3", current_, std::string("the entry is ") + kind,
            "pack ordinary files and folders only (a copy instead of a link)"});
    return {};
  }
  if (!entry.unreadable.empty() && placed->place != Place::kJunk) {
    refused_places_.insert(placed->place);
    refuse({"B1", current_, entry.unreadable,
            "pack the bundle again as a plain .tar.gz or .zip (deflate, no password)"});
    return {};
  }
  if (placed->place == Place::kJunk) {
    if (junk_++ == 0) first_junk_ = current_;
    return {};
  }
  if (what == PathOf::kFile) return begin_file(*placed);
  // A folder elsewhere is nothing until a file lies in it.
  return placed->place == Place::kFolder ? begin_folder(placed->path) : Step<void>();
}

Step<void> Intake::begin_folder(const std::string& path) {
  TRY([[maybe_unused]] const bool fine, add_folders(path, path.size()));
  return {};
}

Step<void> Intake::begin_file(const Placed& placed) {
  if (placed.place == Place::kElsewhere) {
    note_stray(placed.path);
    return {};
  }
  if (placed.place == Place::kAsset) {
    TRY(const bool fine, add_folders(placed.path, placed.path.rfind('/')));
    if (!fine) return {};
  }
  TRY_VOID(count_node());
  const auto [node, fresh] = nodes_.emplace(placed.path, Node::kFile);
  if (!fresh) {
    refuse({"B3", current_,
            node->second == Node::kFile ? "the bundle holds this file twice"
                                        : "the bundle holds a file and a folder of this name",
            "pack the bundle again, into a new archive"});
    return {};
  }
  if (placed.place == Place::kAsset) return begin_asset(placed.path);
  keep_ = placed.place == Place::kManifest ? Keep::kManifest : Keep::kModule;
  return {};
}

Step<void> Intake::begin_asset(const std::string& path) {
  if (unpacked_.asset_files >= limits::kAssetFiles) {
    return stop(Refusal{"B1", current_,
                        "there are more than " + std::to_string(limits::kAssetFiles) + " asset files",
                        "pack them into fewer files, a data base or an archive of your own"});
  }
  ++unpacked_.asset_files;
  keep_ = Keep::kAsset;
  if (findings_.refused()) return {};
  TRY_VOID(assets_.open(std::string(below_assets(path))));
  sink_open_ = true;
  return {};
}

Step<bool> Intake::add_folders(const std::string& path, size_t end) {
  if (end == 0) return true;
  for (size_t slash = path.find('/');; slash = path.find('/', slash + 1)) {
    const size_t length = std::min(slash, end);
    const std::string folder = path.substr(0, length);
    const auto node = nodes_.find(folder);
    if (node == nodes_.end()) {
      TRY_VOID(count_node());
      nodes_.emplace(folder, Node::kFolder);
      if (folder != kAssetsPath && !findings_.refused()) {
        TRY_VOID(assets_.folder(std::string(below_assets(folder))));
      }
    } else if (node->second == Node::kFile) {
      refuse({"B3", shortened(folder), "the bundle holds a file and a folder of this name",
              "pack the bundle again, into a new archive"});
      return false;
    }
    if (length == end) return true;
  }
}

// Folders that no entry names count too: 10,000 files, each a hundred folders deep, are no bundle.
Step<void> Intake::count_node() {
  if (nodes_.size() < limits::kBundleEntries) return {};
  return stop(Refusal{"B3", current_,
                      "there are more than " + std::to_string(limits::kBundleEntries) + " files and folders",
                      "pack fewer of them"});
}

Step<void> Intake::write(std::string_view bytes) {
  bytes_ += bytes.size();
  if (bytes_ > limits::kBundleBytes) {
    return stop(Refusal{
        "B1", current_,
        "the bundle unpacks to more than " + std::to_string(limits::kBundleBytes / limits::kMiB) + " MiB",
        "leave out what isn't needed; strip debug information from the module"});
  }
  switch (keep_) {
    case Keep::kNothing:
      break;
    case Keep::kManifest:
      // One byte over the limit is kept: enough to see that it is too large.
      unpacked_.manifest_text += bytes.substr(0, limits::kManifestBytes + 1 - unpacked_.manifest_text.size());
      break;
    case Keep::kModule:
      unpacked_.module_bytes += bytes.size();
      if (!findings_.refused()) TRY_VOID(assets_.module(bytes));
      break;
    case Keep::kAsset:
      unpacked_.asset_bytes += bytes.size();
      if (sink_open_) TRY_VOID(assets_.write(bytes));
      break;
  }
  return {};
}

Step<void> Intake::end() {
  keep_ = Keep::kNothing;
  if (!std::exchange(sink_open_, false)) return {};
  TRY_VOID(assets_.close());
  return {};
}

void Intake::note_stray(const std::string& path) {
  const std::string_view top = first_segment(path);
  auto at = strays_.find(top);
  if (at == strays_.end()) {
    if (strays_.size() >= limits::kRefusals) {
      ++strays_left_out_;
      return;
    }
    at = strays_.emplace(std::string(top), Stray{path, 0}).first;
  }
  ++at->second.files;
}

bool Intake::refused_folder_of(std::string_view path) const {
  return path.find('/') != std::string_view::npos && strays_.contains(first_segment(path));
}

Unpacking Intake::finish(Seen seen) {
  report_junk();
  const bool wrapped = seen == Seen::kEverything && report_wrapping_folder();
  if (!wrapped) {
    report_strays(seen);
    if (seen == Seen::kEverything) report_missing();
  }
  if (unpacked_.manifest_text.size() > limits::kManifestBytes) {
    refuse({"B2", std::string(kManifestPath),
            "the manifest is larger than " + std::to_string(limits::kManifestBytes / limits::kKiB) + " KiB",
            "keep only its documented members"});
  } else if (seen == Seen::kEverything && nodes_.contains(std::string(kManifestPath))) {
    if (auto read = protocol::read_manifest(unpacked_.manifest_text)) {
      unpacked_.manifest = std::move(read->manifest);
      findings_.warn(std::move(read->warnings));
    } else {
      findings_.refuse(std::move(read).error());
    }
  }
  Unpacking unpacking{std::unexpected(Refusals{}), findings_.take_warnings()};
  if (findings_.refused()) {
    unpacking.bundle = std::unexpected(findings_.take_refusals());
  } else {
    unpacking.bundle = std::move(unpacked_);
  }
  return unpacking;
}

void Intake::report_junk() {
  if (junk_ == 0) return;
  findings_.warn({"B3", first_junk_,
                  junk_ == 1 ? "this was left behind by macOS and is skipped"
                             : std::to_string(junk_) +
                                   " entries were left behind by macOS and are skipped; this is the first"});
}

// Everything in one folder: somebody has packed the folder, not its contents. One refusal says it all.
bool Intake::report_wrapping_folder() {
  if (strays_.size() != 1 || strays_left_out_ > 0) return false;
  for (const auto& [path, node] : nodes_) {
    if (node == Node::kFile) return false;
  }
  const auto& [top, stray] = *strays_.begin();
  if (stray.first == top) return false;
  refuse({"B3", shortened(stray.first), "everything lies inside the folder \"" + shortened(top) + "/\"",
          "pack the contents of that folder, not the folder"});
  return true;
}

void Intake::report_strays(Seen seen) {
  for (const auto& [top, stray] : strays_) {
    std::string message = "a bundle has no file here";
    if (stray.files > 1 && seen == Seen::kEverything) {
      message += " (nor the " + std::to_string(stray.files - 1) + " more in \"" + shortened(top) + "/\")";
    }
    refuse({"B3", shortened(stray.first), message,
            "it holds subako-package.json, module.wasm and files below assets/; move it there or leave it "
            "out"});
  }
  if (strays_left_out_ > 0) {
    refuse({"B3", "", std::to_string(strays_left_out_) + " more files lie where a bundle has none",
            "it holds subako-package.json, module.wasm and files below assets/ only"});
  }
}

void Intake::report_missing() {
  if (entries_ == 0) {
    refuse({"B1", "", "the bundle is empty", "put subako-package.json and module.wasm into it"});
    return;
  }
  for (const auto& [place, path] :
       {std::pair{Place::kManifest, kManifestPath}, {Place::kModule, kModulePath}}) {
    if (nodes_.contains(std::string(path)) || refused_places_.contains(place)) continue;
    refuse({"B1", std::string(path), "the bundle has no file of this name",
            "put it at the root of the bundle, spelt exactly so"});
  }
}

}  // namespace subako::bundle
