// Compiled modules that are kept between runs, in a folder of the user's.
//
//   <folder>/<64 hex digits: the key>/module      what a builder has compiled, as a worker loads it
//                                     checksum    the key, the size and the XXH3 of `module`, as text
//   <folder>/.aside-<16 hex digits>/              an entry that is being written, or removed
//   <folder>/.lock                                held by who makes room
//
// Rules:
// - What is kept is native code. So the folder must be ours alone: our own, no link, not writable for others, on a
//   file system that keeps such permissions.
// - Entries are 0700 and 0400. They come only from builders that have seen nothing but the module that the key names,
//   and have found it fine by M.
// - The key is core's own sha256 of the module, and of the worker's word of what it runs (Ready.identity). What
//   another build, another CPU or other settings have compiled has another key; nothing is kept that another build's
//   builder has compiled (Compiled.identity).
// - An entry is written aside and renamed into place. Nothing is synced: after a crash of the machine an entry may be
//   there with other bytes, as it may be after damage of any kind. The checksum is compared before each use, and what
//   differs is removed and a miss.
// - What can't be looked at for another reason (no descriptors left, a failing disk) is a miss, and stays.
// - An entry that is in use stays whole when it is removed or replaced: it is open.
// - At most `bound` bytes: what was used longest ago goes first. Who makes room counts what others are writing.
// - Where nobody can write, it is only read.
// - No Error of this room may end a build: the caller goes on without.
//
// Safe with other processes and threads on the same folder. Blocks: find() for a helper thread where a module is
// large; store() always, as it may wait for a lock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/limits.h"
#include "base/result.h"
#include "core/digest.h"

namespace subako::core {

class ModuleKey {
 public:
  ModuleKey(const Sha256& module, std::string_view identity);
  [[nodiscard]] const std::string& hex() const { return hex_; }

 private:
  std::string hex_;
};

class ModuleCache {
 public:
  struct Place {
    std::string path;
    bool named = false;  // by the user, who then wants to hear why it can't be used
  };
  // $SUBAKO_CACHE_DIR, else $XDG_CACHE_HOME/subako/modules, else ~/.cache/subako/modules. None: an empty
  // $SUBAKO_CACHE_DIR, or no home.
  [[nodiscard]] static std::optional<Place> default_place();

  // Makes the folder where it is missing. The Error says why it can't be used.
  [[nodiscard]] static Result<ModuleCache> open(std::string path, uint64_t bound = limits::kCacheBytes);
  // As open(), but makes nothing that stays: none where there is no folder yet and one can be made, as it seems.
  [[nodiscard]] static Result<std::optional<ModuleCache>> open_existing(std::string path);

  // The whole module, opened for reading. None: it isn't there, or not whole.
  [[nodiscard]] std::optional<Fd> find(const ModuleKey& key, const GiveUp& give_up) const;
  // Keeps a copy of the file `compiled`, which nobody changes; an entry that is there is replaced.
  [[nodiscard]] Result<void> store(const ModuleKey& key, int compiled, const GiveUp& give_up) const;
  void remove(const ModuleKey& key) const;

  struct Usage {
    uint64_t bytes = 0;  // of the entries: within the bound
    uint64_t entries = 0;
    uint64_t unfinished = 0;  // bytes beside them: being written, or left by a writer that was killed
    bool writable = false;
  };
  [[nodiscard]] Usage usage() const;

 private:
  ModuleCache(Fd folder, uint64_t bound) : folder_(std::move(folder)), bound_(bound) {}
  // Until `more` fits in, which lies at `aside` already, beside what is there but `replaced`. Of who holds the
  // lock.
  void make_room(uint64_t more, const std::string& aside, const std::string& replaced) const;

  Fd folder_;
  uint64_t bound_;
};

}  // namespace subako::core
