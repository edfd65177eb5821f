#include "child/sandbox.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/copy_fd.h"
#include "child/own_mounts.h"
#include "child/spawn.h"

namespace subako::child {

namespace {

// Nobody else's: not that of "nobody", whose files others own.
constexpr uid_t kChildId = 65533;

// A child that shuts itself in, and says what is in its way.
Result<void> try_cell(const std::string& executable, const Cell& cell) {
  SpawnOptions options;
  options.executable = executable;
  options.arguments = {"probe"};
  options.cell = cell;
  TRY(Child child, spawn(options));
  std::array<char, 1024> text{};
  ssize_t n = 0;
  do {
    n = recv(child.socket(), text.data(), text.size(), 0);
  } while (n < 0 && errno == EINTR);
  const ExitStatus status = child.wait_exit();
  if (status.known && status.signal == 0 && status.code == 0) return {};
  if (n > 0) return fail(Code::kUnsupported, std::string(text.data(), static_cast<size_t>(n)));
  return fail(Code::kUnsupported, "a child process that tried it " + exit_sentence(status));
}

Result<Fd> as_it_is(int fd) { return copy_of(fd, "handing something to a child process"); }

// Can the children be another user than root, and the trees be theirs all the same?
Result<void> try_owner_maps(int folder, OwnerMaps& maps) {
  TRY(const Fd mount, mount_of_folder(folder, Access::kWrite, &maps));
  return {};
}

Error no_sandbox(std::optional<Tier> wanted, const std::vector<std::string>& lacks) {
  std::string message = wanted ? "the sandbox \"" + std::string(tier_name(*wanted)) + "\" doesn't work here"
                               : "this machine has nothing to keep tools in with";
  for (const std::string& lack : lacks) message += "; " + lack;
  message +=
      ". In a container, allow user namespaces or Landlock (docs/operating.md); `--sandbox none` runs tools "
      "that you trust as "
      "you do other programs";
  return {Code::kUnsupported, std::move(message)};
}

}  // namespace

// All but what only a child can try.
Result<void> Sandbox::prepare_namespaces(const std::string& folder) {
  if (!may_make_mounts()) return fail(Code::kUnsupported, "user namespaces are not allowed here");
  const Fd opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.valid()) return std::unexpected(system_error("opening " + folder, errno));
  if (geteuid() == 0) {
    maps_.emplace(kChildId);
    if (const auto shown = try_owner_maps(opened.get(), *maps_); shown) {
      cell_.id = kChildId;
    } else {
      maps_.reset();
      lacks_.push_back("children stay user 0, without capabilities: " + shown.error().message);
    }
  }
  TRY(const Fd mount, mount_of_folder(opened.get(), Access::kRead, maps_ ? &*maps_ : nullptr));
  cell_.tier = Tier::kNamespaces;
  return {};
}

// What is only short for the moment (descriptors, processes) says nothing of a tier.
Result<std::shared_ptr<Sandbox>> Sandbox::find(const std::string& executable, std::optional<Tier> wanted,
                                               const std::string& folder) {
  std::shared_ptr<Sandbox> sandbox(new Sandbox);
  if (wanted == Tier::kNone) {
    sandbox->lacks_.push_back("it was asked for: tools are kept in by WebAssembly alone");
    return sandbox;
  }
  if (wanted != Tier::kLandlock) {
    auto tried = sandbox->prepare_namespaces(folder);
    if (tried) tried = try_cell(executable, sandbox->cell_);
    if (tried) return sandbox;
    if (tried.error().code == Code::kUnavailable) return std::unexpected(tried.error());
    sandbox->cell_ = {};
    sandbox->maps_.reset();
    sandbox->lacks_ = {"namespaces: " + tried.error().message};
  } else {
    sandbox->lacks_ = {"Landlock was asked for"};
  }
  if (wanted != Tier::kNamespaces) {
    const Cell cell{Tier::kLandlock, {}};
    const auto tried = try_cell(executable, cell);
    if (tried) {
      sandbox->cell_ = cell;
      return sandbox;
    }
    if (tried.error().code == Code::kUnavailable) return std::unexpected(tried.error());
    sandbox->lacks_.push_back("Landlock: " + tried.error().message);
  }
  return std::unexpected(no_sandbox(wanted, sandbox->lacks_));
}

Result<std::shared_ptr<Sandbox>> Sandbox::expect(const std::string& executable, std::optional<Tier> wanted,
                                                 const std::string& folder) {
  if (wanted.value_or(Tier::kNamespaces) == Tier::kNamespaces) {
    std::shared_ptr<Sandbox> sandbox(new Sandbox);
    sandbox->tried_ = false;
    if (sandbox->prepare_namespaces(folder)) return sandbox;
  }
  return find(executable, wanted, folder);
}

Result<Fd> Sandbox::hand_folder(int folder, Access access, int owned_like) {
  if (cell_.tier != Tier::kNamespaces) return as_it_is(folder);
  return mount_of_folder(folder, access, maps_ ? &*maps_ : nullptr, owned_like);
}

Result<Fd> Sandbox::hand_file(int file) {
  if (cell_.tier != Tier::kNamespaces) return as_it_is(file);
  return mount_of_file(file);
}

Result<Fd> hand_folder(Sandbox* sandbox, int folder, Access access, int owned_like) {
  return sandbox != nullptr ? sandbox->hand_folder(folder, access, owned_like) : as_it_is(folder);
}

Result<Fd> hand_file(Sandbox* sandbox, int file) {
  return sandbox != nullptr ? sandbox->hand_file(file) : as_it_is(file);
}

}  // namespace subako::child
