// What a fake web is made from. Two processes with equal options serve the
// same bytes; the log carries the options, so that the judge can make the same
// web again. Thread-safe as a value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tests/fake_web/nasty.h"

namespace gannet::fake_web {

struct WebOptions {
  uint64_t seed = 1;
  uint32_t hosts = 500;
  // Ordinary pages in all. Nasty kinds of pages add about a third more URLs.
  uint64_t pages = 10'000;
  // No host has more ordinary pages than this; 0: no bound.
  uint64_t largest_host = 0;
  NastySet nasty;
  // The share of hosts, 0 to 1, that are served over https. A larger share has
  // the https hosts of a smaller one and more.
  double https_share = 0;
  // Registrable domains are made under these. Reserved names (RFC 6761) by
  // default, so that a crawl without --connect-to reaches no real host.
  std::vector<std::string> suffixes = {"example", "test", "invalid"};
  // After how many steps calendars and session ids end; 0: never.
  uint32_t trap_size = 20;
  // The most seconds that a Retry-After says.
  uint32_t retry_after_seconds = 2;
  // How long slow pages and slow robots.txt take.
  absl::Duration slow = absl::Seconds(1);
  // A request waits distance(host, asker) times this; distances are 0 to 1.42.
  absl::Duration latency = absl::ZeroDuration();
  // The mean time between changes of a page, in the middle group of domains.
  absl::Duration change_interval = absl::Hours(24);
  // Compress pages for those who accept gzip.
  bool gzip = false;
  // The path of a link graph, or empty. Its pages replace `pages`.
  std::string graph;
};

// kInvalidArgument says which value is wrong and what is allowed.
absl::Status Validate(const WebOptions& options);

// "seed=1 hosts=500 ...": all of the options on one line, and back.
std::string FormatOptions(const WebOptions& options);
absl::StatusOr<WebOptions> ParseOptions(std::string_view line);

}  // namespace gannet::fake_web
