// The result of one request. Plain data, made by Downloader.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "jobs/fetch/address.h"
#include "jobs/fetch/failure.h"

namespace gannet::jobs {

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
  bool had_socket = false;      // A new one.
  int64_t bytes = 0;            // Received.
};

}  // namespace gannet::jobs
