// Names of archive files:
//
//   GANNET-20260131235959-00042-tokyo.warc.gz.open   being written
//   GANNET-20260131235959-00042-tokyo.warc.gz        finished
//   GANNET-20260131235959-00042-tokyo.cdxj           its index
//   GANNET-20260131235959-00042-tokyo.released       the operator took it away
//
// The number (42) is what the crawl DB keeps; names may change. Stored on
// disk: do not change what Parse() accepts. Thread-safe: no state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace gannet::storage {

enum class FileNumber : uint32_t {};

inline constexpr std::string_view kWarcSuffix = ".warc.gz";
inline constexpr std::string_view kOpenSuffix = ".open";
inline constexpr std::string_view kCdxjSuffix = ".cdxj";
inline constexpr std::string_view kReleasedSuffix = ".released";

// "00042"
std::string Digits(FileNumber number);

// The name without any suffix.
std::string ArchiveBaseName(std::string_view prefix, absl::Time created,
                            FileNumber number, std::string_view site);

struct ArchiveName {
  enum class Kind { kOpen, kFinished, kCdxj, kReleased, kTemporary };
  std::string base;
  FileNumber number;
  Kind kind;
};

// Nullopt if the archive did not give this name: such a file must not be
// touched.
std::optional<ArchiveName> ParseArchiveName(std::string_view filename);

// kInvalidArgument if names made of these could not be parsed again: letters,
// digits, "_" and "." only; in the site's name "-" too.
absl::Status CheckNameParts(std::string_view prefix, std::string_view site);

}  // namespace gannet::storage
