// The settings of a Downloader, and one request to it.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "jobs/fetch/address.h"

namespace gannet::jobs {

struct DownloadSettings {
  std::string user_agent;
  std::string accept =
      "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
  std::string accept_language;  // Not sent if empty.
  size_t max_header_bytes = 64 << 10;
  absl::Duration connect_timeout = absl::Seconds(10);
  absl::Duration first_byte_timeout = absl::Seconds(20);
  absl::Duration timeout = absl::Minutes(2);
  // Less than this over `min_speed_time` ends a transfer.
  int64_t min_speed = 200;  // Bytes a second.
  absl::Duration min_speed_time = absl::Seconds(20);
  int64_t bandwidth = 0;  // Bytes a second, of one transfer; 0: no limit.
  bool http2 = false;
  std::string proxy;           // Empty: none, whatever the environment says.
  std::string source_address;  // Empty: the system's choice.
  std::string ca_file;         // Empty: the system's.
  // For all bodies under way together.
  size_t memory = 256 << 20;
  // Under way at the same time, and kept open besides.
  size_t connections = 500;
  size_t max_idle_connections = 4096;
};

struct Request {
  std::string url;     // Canonical.
  std::string target;  // Its path and query, sent as they are.
  uint32_t host = 0;   // Any number, the same for the same host.
  Address address;     // Where to connect to, not through a proxy.
  uint16_t port = 80;
  std::string if_none_match;
  std::string if_modified_since;
  bool compressed = true;  // Allow content codings.
  size_t max_bytes = 10 << 20;
  bool keep_cut = false;  // At max_bytes it ends well, as `is_cut`.
};

}  // namespace gannet::jobs
