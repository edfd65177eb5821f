#include "bundle/path_rules.h"

#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/quote.h"
#include "base/utf8.h"

namespace subako::bundle {

namespace {

std::unexpected<Refusal> refuse(std::string_view raw, std::string message, std::string hint) {
  return std::unexpected(Refusal{"B3", shortened(raw), std::move(message), std::move(hint)});
}

std::vector<std::string_view> segments_of(std::string_view raw) {
  std::vector<std::string_view> segments;
  while (!raw.empty()) {
    const size_t slash = raw.find('/');
    const std::string_view segment = raw.substr(0, slash);
    if (!segment.empty() && segment != ".") segments.push_back(segment);
    raw.remove_prefix(slash == std::string_view::npos ? raw.size() : slash + 1);
  }
  return segments;
}

std::string joined(const std::vector<std::string_view>& segments) {
  std::string path;
  for (const std::string_view segment : segments) {
    if (!path.empty()) path += '/';
    path += segment;
  }
  return path;
}

bool is_junk(const std::vector<std::string_view>& segments) {
  if (!segments.empty() && segments.front() == "__MACOSX") return true;
  for (const std::string_view segment : segments) {
    if (segment == ".DS_Store" || segment.starts_with("._")) return true;
  }
  return false;
}

Place place_of(const std::vector<std::string_view>& segments, PathOf what) {
  if (is_junk(segments)) return Place::kJunk;
  const bool below_assets = !segments.empty() && segments.front() == kAssetsPath;
  if (what == PathOf::kFolder) return segments.empty() || below_assets ? Place::kFolder : Place::kElsewhere;
  if (below_assets && segments.size() > 1) return Place::kAsset;
  if (segments.size() == 1 && segments.front() == kManifestPath) return Place::kManifest;
  if (segments.size() == 1 && segments.front() == kModulePath) return Place::kModule;
  return Place::kElsewhere;
}

// The rules that look at the bytes as they are, before anything is normalised away.
std::expected<void, Refusal> check_bytes(std::string_view raw) {
  if (raw.size() > limits::kBundlePathBytes) {
    return refuse(raw,
                  "the path is " + std::to_string(raw.size()) + " bytes or longer; at most " +
                      std::to_string(limits::kBundlePathBytes) + " are allowed",
                  "shorten the names of the folders and the file");
  }
  if (raw.find('\0') != std::string_view::npos) {
    return refuse(raw, "the path holds a NUL byte", "rename the file");
  }
  if (!utf8::valid(raw)) {
    return refuse(raw, "the path is not UTF-8",
                  "rename the file, or pack it with a tool that writes UTF-8 names");
  }
  if (raw.find('\\') != std::string_view::npos) {
    return refuse(raw, "the path holds a backslash",
                  "separate folders with \"/\" (some tools on Windows don't), or rename the file");
  }
  if (raw.starts_with('/')) {
    return refuse(raw, "the path is absolute", "pack with paths relative to the bundle's root");
  }
  return {};
}

}  // namespace

std::expected<Placed, Refusal> place(std::string_view raw, PathOf what) {
  if (auto fine = check_bytes(raw); !fine) return std::unexpected(std::move(fine).error());
  const std::vector<std::string_view> segments = segments_of(raw);
  for (const std::string_view segment : segments) {
    if (segment == "..")
      return refuse(raw, "the path holds \"..\"", "pack with paths inside the bundle only");
    if (segment.size() > limits::kBundleSegmentBytes) {
      return refuse(raw,
                    "a name in the path is " + std::to_string(segment.size()) + " bytes long; at most " +
                        std::to_string(limits::kBundleSegmentBytes) + " are allowed",
                    "shorten it");
    }
  }
  if (segments.empty() && what == PathOf::kFile)
    return refuse(raw, "a file has no name", "pack the bundle again");
  return Placed{place_of(segments, what), joined(segments)};
}

}  // namespace subako::bundle
