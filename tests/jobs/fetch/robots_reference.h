// The slow, obvious judge of jobs/fetch/robots: does a pattern match a path?
// All ways to spread a path over the stars are tried, each only once.
#pragma once

#include <string_view>

namespace gannet::jobs::reference {

// Bytes as they are, no percent-encoding: '*' is any bytes, a final '$' the
// end, and otherwise a prefix of `path` is enough.
bool Matches(std::string_view pattern, std::string_view path);

}  // namespace gannet::jobs::reference
