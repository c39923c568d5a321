// CDXJ: the sorted text index beside each finished file, one line for each
// response and revisit, as pywb and its kin read it:
//
//   com,example)/path?q=1 20260131235959 {"url": "http://example.com/path?q=1",
//   "mime": "text/html", "status": "200", "digest": "sha1:...", "length":
//   "2153", "offset": "8710", "filename": "GANNET-...warc.gz"}
//
// (on one line). It holds nothing that the WARC file does not: it can be made
// again at any time, to the same bytes. Thread-safe: no state.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "storage/archive/warc_header.h"

namespace gannet::storage {

// The classic sort-friendly key: host reversed and without "www.", default
// port and fragment dropped, lower case, query arguments sorted, no slash at
// the end. Session ids stay (other tools have lists of them). A URL without
// "://" is its own key.
std::string CdxjKey(std::string_view url);

// The line up to "length", which is known before the record has its place in
// a file. Nothing if records of that type are not indexed. `block_start` is as
// much of the block as is at hand; kCdxjBlockBytes of it are looked at.
inline constexpr size_t kCdxjBlockBytes = 64 << 10;
std::optional<std::string> CdxjFront(RecordType type, std::string_view url,
                                     std::string_view warc_date,
                                     std::string_view payload_digest,
                                     std::string_view block_start);

// Completes what CdxjFront() began. No line end.
void FinishCdxjLine(std::string& front, uint64_t length, uint64_t offset,
                    std::string_view filename);

// Makes the index of the WARC file `warc` (which may still end in ".open") at
// `cdxj`, in one atomic step. Sorts in about `memory` bytes; more lines go
// through temporary files beside it. Only the records before `end` count: of a
// file that is being written, those that are known to be whole.
absl::Status RebuildCdxj(const std::filesystem::path& warc,
                         const std::filesystem::path& cdxj,
                         size_t memory = 16 << 20,
                         uint64_t end = std::numeric_limits<uint64_t>::max());

}  // namespace gannet::storage
