// Text from the web for a protobuf string, which must be UTF-8: what is not is
// shown as U+FFFD, as JSON does. A function; thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace gannet::sites {

std::string Utf8(std::string_view bytes);

}  // namespace gannet::sites
