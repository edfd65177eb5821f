#include "worker/wire.h"

#include <utility>

#include "worker/descriptor_share.h"

namespace subako::worker {

child::Tool to_wire(const protocol::Tool& tool) {
  child::Tool message;
  message.set_name(tool.name);
  if (tool.description) message.set_description(*tool.description);
  message.set_input_schema(tool.input_schema);
  if (tool.output_schema) message.set_output_schema(*tool.output_schema);
  if (tool.title) message.set_title(*tool.title);
  if (tool.annotations) message.set_annotations(*tool.annotations);
  if (tool.icons) message.set_icons(*tool.icons);
  if (tool.meta) message.set_meta(*tool.meta);
  return message;
}

child::Crashed to_wire(const protocol::Crash& crash) {
  child::Crashed message;
  message.set_cause(std::string(protocol::cause_name(crash.cause)));
  message.set_message(crash.message);
  message.set_out_of_memory(crash.out_of_memory);
  for (const std::string& frame : crash.backtrace) message.add_backtrace(frame);
  return message;
}

wasi::World world_of(const child::StartRun& start, size_t trees, size_t descriptors, volume::Ledger* ledger) {
  wasi::World world{.arguments = {start.package()}};
  for (const child::Preopen& preopen : start.preopens()) {
    world.preopens.push_back({.path = preopen.path(), .writable = preopen.writable(), .has_tree = preopen.has_tree()});
  }
  world.ledger = ledger;
  world.descriptors = guest_descriptors(descriptors, world.preopens.size(), trees);
  return world;
}

child::Measured::VolumeFull to_wire(wasi::Host::Full full) {
  switch (full) {
    case wasi::Host::Full::kNo:
      return child::Measured::NO;
    case wasi::Host::Full::kBytes:
      return child::Measured::BYTES;
    case wasi::Host::Full::kEntries:
      return child::Measured::ENTRIES;
  }
  std::unreachable();
}

volume::Counts counts_of(const child::VolumeCounts& counts) { return {counts.bytes(), counts.entries()}; }

child::VolumeCounts to_wire(const volume::Counts& counts) {
  child::VolumeCounts message;
  message.set_bytes(counts.bytes);
  message.set_entries(counts.entries);
  return message;
}

std::vector<child::ConfinedTree> confined_trees(const child::StartRun& start, const std::vector<Fd>& trees) {
  std::vector<child::ConfinedTree> confined;
  size_t next = 0;
  for (const child::Preopen& preopen : start.preopens()) {
    if (!preopen.has_tree() || next >= trees.size()) continue;
    confined.push_back({trees[next++].get(), preopen.writable() ? child::Access::kWrite : child::Access::kRead});
  }
  return confined;
}

void bind_trees(const child::StartRun& start, std::vector<Fd> trees, wasi::Host& host) {
  size_t next = 0;
  for (int i = 0; i < start.preopens_size(); ++i) {
    if (start.preopens(i).has_tree() && next < trees.size()) host.bind(static_cast<size_t>(i), std::move(trees[next++]));
  }
}

}  // namespace subako::worker
