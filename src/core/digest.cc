// EVP would load providers and read a configuration file first: 0.7-1.1 ms of a call that takes a few
// (measured, docs/decisions/ 0008). The plain functions are the same code, and start in 20 us.
#define OPENSSL_API_COMPAT 10100
#define OPENSSL_SUPPRESS_DEPRECATED

#include "core/digest.h"

#include <fcntl.h>
#include <openssl/sha.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>

#include "base/limits.h"

namespace subako::core {

namespace {

constexpr size_t kReadBytes =
    64 * limits::kKiB;  // stays in a core's own cache, and in the heap that is there already
constexpr size_t kHashedBytes = 1 * limits::kMiB;  // mapped at once, and between two looks whether to give up

}  // namespace

std::string hex_of(std::span<const unsigned char> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(2 * bytes.size());
  for (const unsigned char byte : bytes) {
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 15U];
  }
  return out;
}

Sha256 sha256_of(std::string_view bytes) {
  Sha256 out{};
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, bytes.data(), bytes.size());
  SHA256_Final(out.data(), &context);
  return out;
}

Result<void> read_in_pieces(int file, const GiveUp& give_up,
                            const std::function<Result<void>(std::string_view)>& take) {
  const auto buffer = std::make_unique_for_overwrite<char[]>(kReadBytes);
  for (off_t at = 0;;) {
    if (give_up) return fail(Code::kCancelled, "cancelled");
    const ssize_t n = pread(file, buffer.get(), kReadBytes, at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::unexpected(system_error("reading a module", errno));
    if (n == 0) return {};
    TRY_VOID(take(std::string_view(buffer.get(), static_cast<size_t>(n))));
    at += n;
  }
}

Result<Sha256> sha256_of_sealed(int memfd, const GiveUp& give_up) {
  struct stat s{};
  const int seals = fcntl(memfd, F_GET_SEALS);
  if (seals < 0 || fstat(memfd, &s) != 0) return std::unexpected(system_error("reading a module", errno));
  if ((seals & F_SEAL_SHRINK) == 0) return fail(Code::kInternal, "a module is hashed before it is sealed");
  const auto size = static_cast<size_t>(s.st_size);
  SHA256_CTX context;
  SHA256_Init(&context);
  for (size_t at = 0; at < size; at += kHashedBytes) {
    if (give_up) return fail(Code::kCancelled, "cancelled");
    const size_t length = std::min(kHashedBytes, size - at);
    void* const piece =
        mmap(nullptr, length, PROT_READ, MAP_SHARED | MAP_POPULATE, memfd, static_cast<off_t>(at));
    if (piece == MAP_FAILED) return std::unexpected(system_error("reading a module", errno));
    SHA256_Update(&context, piece, length);
    munmap(piece, length);
  }
  Sha256 out{};
  SHA256_Final(out.data(), &context);
  return out;
}

Checksum::Checksum() : state_(XXH3_createState()) {
  if (state_ == nullptr) throw std::bad_alloc();
  XXH3_64bits_reset(static_cast<XXH3_state_t*>(state_));
}

Checksum::~Checksum() {
  XXH3_freeState(static_cast<XXH3_state_t*>(state_));
}

void Checksum::add(std::string_view bytes) {
  XXH3_64bits_update(static_cast<XXH3_state_t*>(state_), bytes.data(), bytes.size());
}

uint64_t Checksum::value() const {
  return XXH3_64bits_digest(static_cast<const XXH3_state_t*>(state_));
}

}  // namespace subako::core
