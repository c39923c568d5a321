// The header of a WARC record (ISO 28500:2017, "WARC 1.1", sections 4 to 6),
// as read and as written. Reading takes what strangers write; writing is
// strict, and no value can end its own line: values come from the web, and a
// CR LF in a URL must not become a header of ours. Thread-safe: no state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"

namespace gannet::storage {

enum class RecordType {
  kOther,  // One that Gannet does not write: resource, conversion, ...
  kWarcinfo,
  kRequest,
  kResponse,
  kRevisit,
  kMetadata,
};

std::string_view RecordTypeName(RecordType type);
RecordType RecordTypeNamed(std::string_view name);

struct WarcHeader {
  std::string version;  // "1.1"
  RecordType type = RecordType::kOther;
  uint64_t content_length = 0;
  std::vector<std::pair<std::string, std::string>> fields;

  // The first field of that name (case does not matter), or empty.
  std::string_view Get(std::string_view name) const;

  // WARC-Target-URI, without the <> that some WARC/1.0 writers put around it.
  std::string_view TargetUri() const;
};

// Appends "name: value" CR LF, with each control character of the value as a
// space.
void AppendField(std::string& header, std::string_view name,
                 std::string_view value);

// The same for a URI: bytes that no URI has (controls, space, < > " and all
// beyond ASCII) become %XX. Does not change what it has written once.
void AppendUriField(std::string& header, std::string_view name,
                    std::string_view uri);
std::string SafeUri(std::string_view uri);

// "2026-01-31T23:59:59Z". Whole seconds: WARC 1.1 allows fractions, but older
// tools cannot read them.
std::string WarcDate(absl::Time time);

// "20260131235959", from a WARC date of any precision; missing parts are the
// lowest that a date can have. Zeros if it is not a date.
std::string Timestamp14(std::string_view warc_date);

}  // namespace gannet::storage
