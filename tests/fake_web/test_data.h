// Where strangers' data lies: $GANNET_TEST_DATA, else ../shared/data beside the
// project. It is not part of the project; tests that need it are skipped
// without it.
#pragma once

#include <cstdlib>
#include <string>

namespace gannet::fake_web {

inline constexpr char kNoTestData[] =
    "strangers' data is not here: set GANNET_TEST_DATA to its folder";

inline std::string TestData(const std::string& name) {
  const char* const folder = getenv("GANNET_TEST_DATA");
  const std::string base =
      folder != nullptr ? folder : GANNET_SOURCE_DIR "/../shared/data";
  return base + "/" + name;
}

}  // namespace gannet::fake_web
