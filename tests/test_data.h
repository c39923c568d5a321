// Where tests find other projects' data: $GANNET_TEST_DATA, else shared/data
// beside the project. Nothing of it is in the repository, so a test that needs
// it is skipped where it is missing, and says so.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

namespace gannet {

inline std::filesystem::path TestDataPath(const std::string& name) {
  const char* folder = std::getenv("GANNET_TEST_DATA");
  if (folder != nullptr && *folder != '\0') {
    return std::filesystem::path(folder) / name;
  }
  return std::filesystem::path(GANNET_SOURCE_DIR) / ".." / "shared" / "data" /
         name;
}

// The file's bytes, or nullopt if it cannot be read.
inline std::optional<std::string> ReadTestData(const std::string& name) {
  std::ifstream in(TestDataPath(name), std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace gannet

// Reads `name` into `variable`, or skips the test and says what it needs.
#define GANNET_READ_OR_SKIP(variable, name)                              \
  const std::optional<std::string> variable##_or =                       \
      ::gannet::ReadTestData(name);                                      \
  if (!variable##_or.has_value()) {                                      \
    GTEST_SKIP() << "no " << ::gannet::TestDataPath(name)                \
                 << ": set GANNET_TEST_DATA to the folder of test data"; \
  }                                                                      \
  const std::string& variable = *variable##_or
