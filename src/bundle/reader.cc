#include "bundle/reader.h"

#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "bundle/directory_walk.h"
#include "bundle/gzip_bytes.h"
#include "bundle/intake.h"
#include "bundle/sniff.h"
#include "bundle/tar_archive.h"
#include "bundle/zip_archive.h"

namespace subako::bundle {

namespace {

constexpr size_t kBufferBytes = 256 * limits::kKiB;

Step<void> take_all(Archive& archive, Intake& intake) {
  std::vector<char> buffer(kBufferBytes);
  for (;;) {
    TRY(const std::optional<Entry> entry, archive.next());
    if (!entry) return {};
    TRY_VOID(intake.begin(*entry));
    for (;;) {
      TRY(const size_t n, archive.read(buffer));
      if (n == 0) break;
      TRY_VOID(intake.write(std::string_view(buffer.data(), n)));
    }
    TRY_VOID(intake.end());
  }
}

Step<void> take_tar(ByteSource& source, std::string_view holder, Intake& intake) {
  TarBlock first{};
  TRY(const size_t n, read_full(source, first));
  const std::string_view head(first.data(), n);
  if (format_of(head) != Format::kTar) return stop(not_an_archive(head, holder));
  TarArchive archive(source, first);
  return take_all(archive, intake);
}

Step<void> take_archive(int fd, Intake& intake) {
  TRY(FileBytes file, FileBytes::open(fd));
  std::array<char, kTarBlock> head{};
  TRY(const size_t n, file.read_at(0, head));
  switch (format_of(std::string_view(head.data(), n))) {
    case Format::kGzip: {
      TRY(GzipBytes unpacked, GzipBytes::open(file));
      return take_tar(unpacked, "the gzip file's content", intake);
    }
    case Format::kZip: {
      TRY(ZipArchive archive, ZipArchive::open(file));
      return take_all(archive, intake);
    }
    case Format::kTar:
    case Format::kOther:
      return take_tar(file, "the file", intake);
  }
  std::unreachable();
}

Result<Unpacking> conclude(Step<void> taken, Intake& intake) {
  if (taken) return intake.finish(Intake::Seen::kEverything);
  Stop why = std::move(taken).error();
  if (Error* error = std::get_if<Error>(&why)) return std::unexpected(std::move(*error));
  intake.refuse(std::get<Refusal>(std::move(why)));
  return intake.finish(Intake::Seen::kCutShort);
}

}  // namespace

Result<Unpacking> read_directory(int folder_fd, AssetSink& assets) {
  Intake intake(assets);
  return conclude(walk_directory(folder_fd, intake), intake);
}

Result<Unpacking> read_archive(int file_fd, AssetSink& assets) {
  Intake intake(assets);
  return conclude(take_archive(file_fd, intake), intake);
}

Result<Unpacking> read_bundle(int fd, AssetSink& assets) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) return std::unexpected(system_error("looking at the bundle", errno));
  return S_ISDIR(status.st_mode) ? read_directory(fd, assets) : read_archive(fd, assets);
}

}  // namespace subako::bundle
