#include "child/wire.h"

namespace subako::child {

Refusal to_wire(const subako::Refusal& refusal) {
  Refusal message;
  message.set_rule(refusal.rule);
  message.set_where(refusal.where);
  message.set_message(refusal.message);
  message.set_hint(refusal.hint);
  return message;
}

Warning to_wire(const subako::Warning& warning) {
  Warning message;
  message.set_rule(warning.rule);
  message.set_where(warning.where);
  message.set_message(warning.message);
  return message;
}

}  // namespace subako::child
