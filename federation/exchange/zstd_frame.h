// Zstandard for small messages between sites. What comes from a peer may be
// anything: unpacking allocates in steps, as bytes really come out, and never
// more than it was told, whatever the frame says of itself.
// Functions only; safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace gannet::federation {

// One frame, with a checksum. `level` as zstd's own, 1 to 19.
std::string CompressZstd(std::string_view bytes, int level);

// kInvalidArgument: not exactly one whole frame, or damaged.
// kResourceExhausted: more than `most` bytes.
absl::StatusOr<std::string> DecompressZstd(std::string_view frame, size_t most);

}  // namespace gannet::federation
