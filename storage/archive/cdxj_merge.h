// CdxjMerge makes one sorted index of the many that lie beside the archive's
// files, and of the file still being written, whose index is made for the
// purpose. Bounded memory and bounded open files, however large the archive.
// Not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/archive/archive_name.h"

namespace gannet::storage {

// How many bytes of a file that is being written are whole records; nothing:
// none of it counts.
using WholeBytes = std::function<std::optional<uint64_t>(FileNumber number)>;

// Calls `visit` with each line (without its end), sorted, until it says false.
// Temporary files live in `scratch`, which the caller removes. A round may
// write to the archive meanwhile.
absl::Status ForEachCdxjLine(
    const std::filesystem::path& archive_folder,
    const std::filesystem::path& scratch, const WholeBytes& whole_bytes,
    const std::function<bool(std::string_view)>& visit);

}  // namespace gannet::storage
