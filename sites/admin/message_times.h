// Times in messages. Functions; thread-safe.
#pragma once

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <algorithm>
#include <cstdint>

#include "absl/time/time.h"

namespace gannet::sites {

inline google::protobuf::Timestamp TimestampOfMs(int64_t ms) {
  google::protobuf::Timestamp message;
  int64_t seconds = ms / 1000;
  int64_t rest = ms % 1000;
  if (rest < 0) {
    --seconds;
    rest += 1000;
  }
  message.set_seconds(seconds);
  message.set_nanos(static_cast<int32_t>(rest * 1'000'000));
  return message;
}

// Milliseconds are kept, as the crawl DB does.
inline google::protobuf::Timestamp ToMessage(absl::Time time) {
  return TimestampOfMs(absl::ToUnixMillis(time));
}

// The value comes from a caller and may be out of range.
inline absl::Time FromMessage(const google::protobuf::Timestamp& message) {
  return absl::FromUnixSeconds(message.seconds()) +
         absl::Nanoseconds(message.nanos());
}

inline google::protobuf::Duration ToMessage(absl::Duration duration) {
  google::protobuf::Duration message;
  message.set_seconds(absl::ToInt64Seconds(duration));
  message.set_nanos(static_cast<int32_t>(
      absl::ToInt64Nanoseconds(duration % absl::Seconds(1))));
  return message;
}

inline absl::Duration FromMessage(const google::protobuf::Duration& message) {
  return absl::Seconds(message.seconds()) + absl::Nanoseconds(message.nanos());
}

}  // namespace gannet::sites
