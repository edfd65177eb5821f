#include "builder/wire.h"

#include "child/wire.h"

namespace subako::builder {

child::FromBuilder refused(const Refusals& refusals, const Warnings& warnings) {
  child::FromBuilder message;
  child::Refused& refused = *message.mutable_refused();
  for (const Refusal& refusal : refusals) *refused.add_refusals() = child::to_wire(refusal);
  for (const Warning& warning : warnings) *refused.add_warnings() = child::to_wire(warning);
  return message;
}

}  // namespace subako::builder
