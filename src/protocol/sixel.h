// Is this sixel and nothing else? Its bytes go to a terminal as they are: what a decoder of strangers'
// pictures made must hold no other command of the terminal's (spec: R5). Pure.
#pragma once

#include <string_view>

namespace subako::protocol {

// One device control string: ESC P, numbers and semicolons, q, printable ASCII and line ends, ESC \.
[[nodiscard]] bool is_sixel(std::string_view bytes);

}  // namespace subako::protocol
