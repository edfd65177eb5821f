#include "builder/wire.h"

namespace subako::builder {

child::Warning to_wire(const Warning& warning) {
  child::Warning message;
  message.set_rule(warning.rule);
  message.set_where(warning.where);
  message.set_message(warning.message);
  return message;
}

child::FromBuilder refused(const Refusals& refusals, const Warnings& warnings) {
  child::FromBuilder message;
  child::Refused& refused = *message.mutable_refused();
  for (const Refusal& refusal : refusals) {
    child::Refusal& wire = *refused.add_refusals();
    wire.set_rule(refusal.rule);
    wire.set_where(refusal.where);
    wire.set_message(refusal.message);
    wire.set_hint(refusal.hint);
  }
  for (const Warning& warning : warnings) *refused.add_warnings() = to_wire(warning);
  return message;
}

}  // namespace subako::builder
