// Collects the lines of a CDXJ file in any order and writes them sorted, in
// bounded memory: lines over the bound wait in sorted temporary files
// ("runs") beside the result, and are merged at the end. A file of many small
// records would otherwise hold hundreds of megabytes of index in memory. Not
// thread-safe.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace gannet::storage {

class CdxjSorter {
 public:
  // The result will be `path`; temporary names start with it and end in
  // ".tmp".
  CdxjSorter(std::filesystem::path path, size_t memory);

  // Removes the temporary files.
  ~CdxjSorter();

  CdxjSorter(const CdxjSorter&) = delete;
  CdxjSorter& operator=(const CdxjSorter&) = delete;

  // After an error the sorter is of no more use; the lines are still in the
  // WARC file.
  absl::Status Add(std::string line);

  // Writes, syncs and renames into place; the caller syncs the folder. May be
  // called again after an error.
  absl::Status Write();

 private:
  absl::Status Spill();
  absl::Status WriteSorted(const std::filesystem::path& to);

  const std::filesystem::path path_;
  const size_t memory_;
  std::vector<std::string> lines_;
  size_t lines_bytes_ = 0;
  std::vector<std::filesystem::path> runs_;
};

}  // namespace gannet::storage
