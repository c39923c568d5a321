// Writing files that commands make for an operator: never over one that is
// there. Functions; thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace gannet::sites {

// kAlreadyExists, and the file is left as it is; kResourceExhausted: the disk
// is full. What was written in part is removed again.
absl::Status WriteNewFile(const std::string& path, std::string_view text,
                          int mode = 0644);

// The same for one that is being replaced: at once, or not at all.
absl::Status ReplaceFile(const std::string& path, std::string_view text,
                         int mode = 0644);

}  // namespace gannet::sites
