// What a model reads and people see of a call, pictures included (spec: R2-R5); private to core, Node::see()
// is its door.
#pragma once

#include <memory>
#include <vector>

#include "core/asio.h"
#include "core/call.h"
#include "core/picture.h"
#include "core/picture_builders.h"

namespace subako::core {

// `record`, `trees` and `watch` (may be null) outlive it. kCancelled and kUnavailable (the Node goes) are its
// Errors.
[[nodiscard]] Task<Result<std::vector<SeenBlock>>> see(asio::io_context& io,
                                                       std::shared_ptr<PictureBuilders> builders,
                                                       const CallRecord& record, const Trees& trees,
                                                       SeeOptions options, CallWatch* watch);

// A picture that is shown already, in another way.
[[nodiscard]] Task<Result<ShownPicture>> redraw(std::shared_ptr<PictureBuilders> builders,
                                                const ShownPicture& picture, PictureWish wish,
                                                CallWatch* watch);

}  // namespace subako::core
