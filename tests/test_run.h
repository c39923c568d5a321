// What tests/run.sh tells the tests through the environment.
#pragma once

#include <cstdlib>
#include <string>

namespace gannet {

// Full sizes (tests/run.sh --long) rather than small ones.
inline bool IsLongRun() { return std::getenv("GANNET_TEST_LONG") != nullptr; }

}  // namespace gannet
