#include "builder/builder.h"

#include <utility>

#include "builder/compile.h"
#include "builder/pack.h"
#include "builder/picture.h"
#include "builder/unpack.h"
#include "child/confine.h"
#include "child/envelope.h"
#include "child/frames.h"
#include "child/messages.pb.h"

namespace subako::builder {

namespace {

Result<child::FromBuilder> do_job(const child::ToBuilder& job, std::vector<Fd> descriptors,
                                  const Report& report) {
  switch (job.job_case()) {
    case child::ToBuilder::kUnpack:
      if (descriptors.size() != 3) break;
      return unpack({std::move(descriptors[0]), std::move(descriptors[1]), std::move(descriptors[2])},
                    job.unpack().directory(), report);
    case child::ToBuilder::kCompile:
      if (descriptors.size() != 2) break;
      return compile(std::move(descriptors[0]), std::move(descriptors[1]), report);
    case child::ToBuilder::kPack:
      if (descriptors.size() != 2) break;
      return pack(std::move(descriptors[0]), std::move(descriptors[1]));
    case child::ToBuilder::kPicture:
      if (descriptors.size() != 2) break;
      return picture(std::move(descriptors[0]), std::move(descriptors[1]), job.picture());
    case child::ToBuilder::JOB_NOT_SET:
      break;
  }
  return fail(Code::kInternal, "core sent a job that this builder doesn't know, or without its descriptors");
}

// What a job opens by paths; all else of it is files that are open.
Result<void> confine_to_job(const child::ToBuilder& job, const std::vector<Fd>& descriptors) {
  std::vector<child::ConfinedTree> trees;
  const bool directory = job.unpack().directory() || job.pack().directory();
  if (directory && !descriptors.empty()) trees.push_back({descriptors[0].get(), child::Access::kRead});
  if (job.has_unpack() && descriptors.size() > 1) trees.push_back({descriptors[1].get(), child::Access::kWrite});
  return child::confine_to(trees);
}

}  // namespace

Result<void> serve_one_job(Fd socket, child::Tier tier) {
  TRY(std::optional<child::Frame> frame, child::receive_frame(socket.get()));
  if (!frame) return {};
  const auto job = child::decode<child::ToBuilder>(frame->body);
  if (!job) return fail(Code::kInternal, "core sent a frame that is no job");
  if (tier == child::Tier::kLandlock) TRY_VOID(confine_to_job(*job, frame->descriptors));
  const auto send = [&socket](const child::FromBuilder& message) {
    return child::send_frame(socket.get(), {child::encode(message), {}});
  };
  Result<child::FromBuilder> last = do_job(*job, std::move(frame->descriptors), send);
  if (!last) {
    child::FromBuilder failed;
    failed.mutable_failed()->set_message(last.error().message);
    return send(failed);
  }
  return send(*last);
}

}  // namespace subako::builder
