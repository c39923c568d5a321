// What the archive's tests share: a temporary folder, reading a file's bytes,
// and a clock that stands still.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "storage/archive/archive.h"
#include "tests/simulated_clock.h"
#include "tests/temporary_folder.h"

namespace gannet::storage {

class TestFolder {
 public:
  const std::filesystem::path& path() const { return path_; }

  // Names in the folder that end in `suffix`, sorted.
  std::vector<std::string> Names(std::string_view suffix) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      std::string name = entry.path().filename();
      if (name.ends_with(suffix)) names.push_back(std::move(name));
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path();
};

inline std::string BytesOf(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void WriteBytes(const std::filesystem::path& path,
                       std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline absl::Time TestTime() { return absl::FromUnixSeconds(1769903999); }

inline SimulatedClock& TestClock() {
  static SimulatedClock clock(TestTime());
  return clock;
}

inline ArchiveSettings TestSettings(uint64_t file_size = 1 << 30) {
  ArchiveSettings settings;
  settings.prefix = "TEST";
  settings.site = "new-york";
  settings.file_size = file_size;
  return settings;
}

}  // namespace gannet::storage
