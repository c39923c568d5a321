// The files of the dashboard's page, which travel inside the binary: what
// stands in assets/, put into a generated assets.cc by embed_assets.cmake. A
// function; thread-safe.
#pragma once

#include <string_view>

#include "absl/types/span.h"

namespace gannet::sites {

struct Asset {
  std::string_view path;  // "/dashboard.js"; index.html is "/".
  std::string_view type;
  std::string_view bytes;
  std::string_view etag;  // Changes with the bytes.
};

absl::Span<const Asset> Assets();

}  // namespace gannet::sites
