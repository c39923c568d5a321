// What the network gave for one request. Plain data, made by Downloader.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "jobs/fetch/address.h"

namespace gannet::jobs {

// Why there is no usable response.
enum class Failure : uint8_t {
  kNone,
  kDns,             // The host has no address.
  kAddressRefused,  // The address check forbids it.
  kConnect,
  kTls,
  kTimeout,    // The whole took too long.
  kFirstByte,  // No answer in time.
  kTooSlow,    // Below the minimum speed.
  kTooLarge,
  kHeadersTooLarge,
  kCutShort,  // The connection ended before the body did.
  kReset,
  kGarbage,   // Not HTTP.
  kMemory,    // Too many large answers at once: asked again another time.
  kStopped,   // By us.
  kInternal,  // libcurl could not even ask.
};
inline constexpr int kFailureCount = 16;

// "dns", "too_large", ...: bounded, fit for a metric's label.
std::string_view FailureName(Failure failure);

struct Response {
  Failure failure = Failure::kNone;
  std::string detail;  // Of the failure, for people.

  int status = 0;            // HTTP's, as far as it came.
  std::string request_head;  // As sent.
  std::string head;          // As received, with the empty line.
  std::string body;     // As on the wire, but for the chunked transfer coding.
  bool is_cut = false;  // At the request's own limit, as it asked.

  Address address;
  absl::Time started;
  absl::Duration connect_time;  // Zero if the connection was there already.
  int64_t bytes = 0;            // Received.
};

}  // namespace gannet::jobs
