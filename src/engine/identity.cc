#include "engine/identity.h"

#include <elf.h>
#include <link.h>

#include <cstring>
#include <string_view>

namespace subako::engine {

namespace {

constexpr size_t aligned(size_t size) {
  return (size + 3) & ~size_t{3};
}

// The note among `notes` that is a build id; empty where there is none.
std::string_view build_id_in(std::string_view notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head;
    std::memcpy(&head, notes.data(), sizeof head);
    const size_t name_at = sizeof head;
    const size_t text_at = name_at + aligned(head.n_namesz);
    const size_t next = text_at + aligned(head.n_descsz);
    if (next > notes.size()) return {};
    if (head.n_type == NT_GNU_BUILD_ID &&
        notes.substr(name_at, head.n_namesz) == std::string_view("GNU\0", 4))
      return notes.substr(text_at, head.n_descsz);
    notes.remove_prefix(next);
  }
  return {};
}

// Of the first object: that is the executable itself.
int look_at_object(dl_phdr_info* object, size_t, void* out) {
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    const auto* begin = reinterpret_cast<const char*>(object->dlpi_addr + part.p_vaddr);
    const std::string_view found = build_id_in({begin, part.p_memsz});
    if (!found.empty()) *static_cast<std::string*>(out) = found;
  }
  return 1;
}

}  // namespace

std::string identity(const Engine& engine) {
  std::string build_id;
  dl_iterate_phdr(look_at_object, &build_id);
  if (build_id.empty()) return {};
  return std::to_string(build_id.size()) + ":" + build_id + engine.compatibility();
}

}  // namespace subako::engine
