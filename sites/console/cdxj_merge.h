// CdxjMerge makes one sorted index of the many that lie beside the archive's
// files, and of the file still being written, whose index is made for the
// purpose. Bounded memory and bounded open files, however large the archive.
// Not thread-safe.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace gannet::sites {

// Calls `visit` with each line (without its end), sorted, until it says false.
// Temporary files live in `scratch`, which the caller removes.
// REQUIRES: nobody writes to the archive meanwhile (the crawl DB's lock).
absl::Status ForEachCdxjLine(
    const std::filesystem::path& archive_folder,
    const std::filesystem::path& scratch,
    const std::function<bool(std::string_view)>& visit);

}  // namespace gannet::sites
