// A message of proto/admin.proto as JSON: what `--json` prints and the
// dashboard reads. protobuf's own JSON writes 64-bit numbers as strings,
// renames fields and leaves out zeros; here a number is a number, a key is the
// field's name, and all keys are there. A function; thread-safe.
#pragma once

#include <google/protobuf/message.h>

#include <nlohmann/json.hpp>

namespace gannet::sites {

// Timestamps are RFC 3339 strings, durations seconds; `optional` fields and
// messages that are not set are null.
nlohmann::json MessageJson(const google::protobuf::Message& message);

}  // namespace gannet::sites
