// What a folder and an archive have in common (spec: B1-B3, L12): each entry is judged by its path and kind,
// every byte is counted, the manifest is kept in memory, the module and the assets are handed to a sink.
//
// An entry is begin(), write() as often as needed, end(). A bad entry is noted and its bytes are counted but
// not kept, so that all refusals are found in one go; a bound that is passed stops the reading. Once
// something is refused the sink gets nothing more.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "bundle/archive.h"
#include "bundle/asset_sink.h"
#include "bundle/findings.h"
#include "bundle/path_rules.h"
#include "bundle/step.h"
#include "bundle/unpacked.h"

namespace subako::bundle {

class Intake {
 public:
  explicit Intake(AssetSink& assets) : assets_(assets) {}

  [[nodiscard]] Step<void> begin(const Entry& entry);
  [[nodiscard]] Step<void> write(std::string_view bytes);
  [[nodiscard]] Step<void> end();

  void refuse(Refusal refusal) { findings_.refuse(std::move(refusal)); }

  // Whether the top folder that `path` lies in is refused already, so that looking further into it tells
  // nothing new.
  [[nodiscard]] bool refused_folder_of(std::string_view path) const;

  // `kCutShort`: not all entries were seen, so nothing is said to be missing.
  enum class Seen { kEverything, kCutShort };
  [[nodiscard]] Unpacking finish(Seen seen);

 private:
  enum class Node { kFile, kFolder };
  enum class Keep { kNothing, kManifest, kModule, kAsset };
  struct Stray {
    std::string first;  // the path of the first file found in that place
    uint64_t files = 0;
  };

  [[nodiscard]] Step<void> begin_folder(const std::string& path);
  [[nodiscard]] Step<void> begin_file(const Placed& placed);
  [[nodiscard]] Step<void> begin_asset(const std::string& path);
  // Notes all folders of `path` up to `end`; false where one is a file already (refused).
  [[nodiscard]] Step<bool> add_folders(const std::string& path, size_t end);
  [[nodiscard]] Step<void> count_node();
  void note_stray(const std::string& path);
  void report_strays(Seen seen);
  [[nodiscard]] bool report_wrapping_folder();
  void report_missing();
  void report_junk();

  AssetSink& assets_;
  Findings findings_;
  Unpacked unpacked_;
  std::unordered_map<std::string, Node> nodes_;       // normalised paths
  std::map<std::string, Stray, std::less<>> strays_;  // by first segment
  uint64_t strays_left_out_ = 0;
  std::set<Place> refused_places_;  // there, but as a link or encrypted: refused, so not missing
  uint64_t junk_ = 0;
  std::string first_junk_;
  uint64_t bytes_ = 0;  // of all entries, kept or not
  uint32_t entries_ = 0;
  Keep keep_ = Keep::kNothing;
  std::string current_;
  bool sink_open_ = false;
};

}  // namespace subako::bundle
