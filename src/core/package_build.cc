#include "core/package_build.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <string>

#include "base/copy_fd.h"
#include "core/builder_job.h"
#include "core/report.h"

namespace subako::core {

namespace {

Result<Fd> memory_file(const char* name) {
  Fd file(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.valid()) return std::unexpected(system_error("making a memory file for a module", errno));
  return file;
}

// What a builder wrote: from now on nobody changes it. `announced` is within a limit (core/report.cc), so that
// whoever reads it takes no more than that.
Result<void> seal(int memfd, uint64_t announced, const char* what) {
  if (fcntl(memfd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return std::unexpected(system_error("sealing " + std::string(what), errno));
  }
  struct stat s{};
  if (fstat(memfd, &s) != 0 || s.st_size < 0 || static_cast<uint64_t>(s.st_size) != announced) {
    return fail(Code::kInternal,
                "the builder process wrote " + std::string(what) + " of another size than it announced");
  }
  return {};
}

Result<void> hand_over(BuilderJob& job, int file) {
  TRY(Fd copy, copy_of(file, "starting a builder"));
  job.descriptors.push_back(std::move(copy));
  return {};
}

class PackageBuild {
 public:
  PackageBuild(BuildRoom room, std::function<void(BuildPhase)> progress)
      : room_(std::move(room)),
        progress_(std::move(progress)),
        deadline_(now() + room_.options.builder_wall) {}

  Task<Result<Node::BuildResult>> run(BundleSource source) {
    // It starts while the bundle is unpacked; why it can't is told when it is needed.
    if (auto worker = room_.worker()) worker_ = *std::move(worker);
    CO_TRY(auto refused, co_await unpack(std::move(source)));
    if (refused) co_return Node::BuildResult(*std::move(refused));
    const Time unpacked = now();
    const std::optional<ModuleKey> key = co_await find_key();
    if (key) {
      package_->cached = co_await take_from_cache(*key);
      package_->times.lookup_ms = ms_since(unpacked);
    }
    if (!package_->cached) {
      if (room_.off_loop.stopped()) co_return fail(Code::kUnavailable, "subako is shutting down");
      CO_TRY(refused, co_await compile());
      if (refused) co_return Node::BuildResult(*std::move(refused));
      // The key names what the worker runs. Where the executable was replaced since that one started, this is
      // another build's: the worker may still take it, and says so where not, but it isn't to be found again.
      if (key && compiled_by_ == worker_->identity()) co_await keep(*key);
    }
    room_.off_loop.drop(package_->module_bytes, std::move(module_));
    if (package_->asset_files > 0) {
      CO_TRY(package_->assets_tree, child::hand_folder(room_.options.sandbox.get(), assets_->fd(), child::Access::kRead));
      package_->assets.emplace(*std::move(assets_));
    }
    co_return Node::BuildResult(BuiltPackagePtr(std::move(package_)));
  }

 private:
  // The refusal, where there is one.
  Task<Result<std::optional<Refused>>> unpack(BundleSource source) {
    CO_TRY(ScratchFolder assets, room_.scratch.make_folder("assets"));
    assets_.emplace(std::move(assets));
    CO_TRY(module_, memory_file("subako-module"));
    BuilderJob job;
    job.message.mutable_unpack()->set_directory(source.directory);
    job.progress = progress_;
    job.deadline = deadline_;
    child::Sandbox* const sandbox = room_.options.sandbox.get();
    if (source.directory) {
      CO_TRY(source.file, child::hand_folder(sandbox, source.file.get(), child::Access::kRead));
    }
    job.descriptors.push_back(std::move(source.file));
    CO_TRY(Fd folder, child::hand_folder(sandbox, assets_->fd(), child::Access::kWrite));
    job.descriptors.push_back(std::move(folder));
    CO_TRY_VOID(hand_over(job, module_.get()));
    CO_TRY(auto word, co_await run_builder(room_.io, room_.options, std::move(job)));
    if (auto* refused = std::get_if<Refused>(&word)) co_return std::move(*refused);
    auto unpacked = unpacked_of(std::get<child::Unpacked>(word));
    if (!unpacked) co_return fail(Code::kInternal, "the builder process " + unpacked.error());
    package_ = std::make_shared<BuiltPackage>(*std::move(unpacked));
    CO_TRY_VOID(seal(module_.get(), package_->module_bytes, "a module"));
    co_return std::nullopt;
  }

  // None: nothing can be kept.
  Task<std::optional<ModuleKey>> find_key() {
    if (!room_.options.cache || !worker_) co_return std::nullopt;
    std::function<Result<Sha256>(const GiveUp&)> hash = [file = module_.get()](const GiveUp& give_up) {
      return sha256_of_sealed(file, give_up);
    };
    const Result<Sha256> module = co_await room_.off_loop.run(package_->module_bytes, std::move(hash));
    if (!module) co_return std::nullopt;
    const auto ready = co_await worker_->ready(nullptr);
    if (!ready || worker_->identity().empty()) co_return std::nullopt;
    co_return ModuleKey(*module, worker_->identity());
  }

  Task<bool> take_from_cache(const ModuleKey& key) {
    std::function<std::optional<Fd>(const GiveUp&)> find = [this, &key](const GiveUp& give_up) {
      return room_.options.cache->find(key, give_up);
    };
    auto file = co_await room_.off_loop.run(package_->module_bytes, std::move(find));
    if (!file) co_return false;
    struct stat s{};
    if (fstat(file->get(), &s) == 0) package_->compiled_bytes = static_cast<uint64_t>(s.st_size);
    // Its owner could change the file's mode: read-only it is a mount's to say.
    auto handed = child::hand_file(room_.options.sandbox.get(), file->get());
    if (!handed) {
      package_->warnings.push_back({.rule = "cache", .where = "", .message = "compiled anew: " + handed.error().message});
      co_return false;
    }
    package_->module = *std::move(handed);
    // Now rather than with the first call: what the worker refuses (another build's, under this key) is as if
    // it weren't there.
    if (co_await worker_->load(package_, nullptr)) co_return true;
    std::function<bool(const GiveUp&)> remove = [this, &key](const GiveUp&) {
      room_.options.cache->remove(key);
      return true;
    };
    (void)co_await room_.off_loop.run(package_->compiled_bytes, std::move(remove));
    co_return false;
  }

  // As unpack().
  Task<Result<std::optional<Refused>>> compile() {
    CO_TRY(Fd file, memory_file("subako-compiled"));
    BuilderJob job;
    job.message.mutable_compile();
    job.progress = progress_;
    job.deadline = deadline_;
    CO_TRY_VOID(hand_over(job, module_.get()));
    CO_TRY_VOID(hand_over(job, file.get()));
    CO_TRY(auto word, co_await run_builder(room_.io, room_.options, std::move(job)));
    if (auto* refused = std::get_if<Refused>(&word)) {
      std::ranges::move(refused->warnings, std::back_inserter(package_->warnings));
      refused->warnings = std::move(package_->warnings);
      co_return std::move(*refused);
    }
    auto& compiled = std::get<child::Compiled>(word);
    const auto added = add_compiled(*package_, compiled);
    if (!added) co_return fail(Code::kInternal, "the builder process " + added.error());
    compiled_by_ = std::move(*compiled.mutable_identity());
    CO_TRY_VOID(seal(file.get(), package_->compiled_bytes, "a compiled module"));
    package_->module = std::move(file);
    co_return std::nullopt;
  }

  // Whether that goes well or not. It may wait for another process's lock, however small the module is.
  Task<void> keep(const ModuleKey& key) {
    std::function<Result<void>(const GiveUp&)> store = [this, &key](const GiveUp& give_up) {
      return room_.options.cache->store(key, package_->module.get(), give_up);
    };
    (void)co_await room_.off_loop.run(OffLoop::kMayWait, std::move(store));
  }

  BuildRoom room_;
  std::function<void(BuildPhase)> progress_;
  const Time deadline_;
  std::shared_ptr<WorkerLink> worker_;  // null: none could be started
  std::optional<ScratchFolder> assets_;
  Fd module_;                              // the bundle's, sealed
  std::string compiled_by_;                // what the builder that compiled it says of itself
  std::shared_ptr<BuiltPackage> package_;  // once unpacked
};

}  // namespace

Task<Result<Node::BuildResult>> build_package(BuildRoom room, BundleSource source,
                                              std::function<void(BuildPhase)> progress) {
  PackageBuild build(std::move(room), std::move(progress));
  co_return co_await build.run(std::move(source));
}

}  // namespace subako::core
