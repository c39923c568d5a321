// Where a reader's bytes come from: a file, a part of one, or memory (tests,
// fuzzing). Not thread-safe: one reader has one source.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"

namespace gannet::storage {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Up to `size` bytes from `offset`; 0 only at the end.
  virtual absl::StatusOr<size_t> ReadAt(uint64_t offset, char* to,
                                        size_t size) = 0;
};

// Nothing is read at or past `end`: what a writer appends meanwhile stays
// unseen.
absl::StatusOr<std::unique_ptr<ByteSource>> FileSource(
    const std::filesystem::path& path,
    uint64_t end = std::numeric_limits<uint64_t>::max());

// REQUIRES: `bytes` outlives the source.
std::unique_ptr<ByteSource> MemorySource(std::string_view bytes);

}  // namespace gannet::storage
