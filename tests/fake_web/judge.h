// Judges from the server's log whether a crawler was polite.
//
// For each host, and for each address of 127.0.0.0/8, requests are put in order
// of arrival; the *gap* of a request is its arrival minus the latest end of the
// answers to earlier requests (negative if it came before an answer's end). A
// gap under the delay is a violation. Subtleties:
//  - An arrival is when the server has read the request's head, an end just
//    before the last byte is sent. A busy server sees arrivals late, never
//    early: a gap may look longer than the crawler made it, never shorter, so
//    every violation is real.
//  - If the asker left before the answer's end (it had read enough, or lost
//    patience), only it knows when; the answer then ends at its own arrival.
//  - http and https count together: they are one host, and one address.
//  - robots.txt is a request like any other (`robots_free` exempts it).
//  - A connection without a request (such as a TLS handshake) is not counted,
//    nor are HTTP errors of the client (400) and the pages for people.
//  - On a host with a Crawl-delay, the delay is the larger of the two (but the
//    Crawl-delay counts at most as `crawl_delay_cap`), except right after
//    robots.txt, when a crawler may not know it yet.
//  - *Forbidden*: a request that the host's robots.txt does not allow `agent`,
//    by either scheme: that of http redirects to that of https.
//  - *Never linked*: URLs that this web does not have (404 of kind `absent`):
//    the crawler has taken something for a link that is none, or changed a URL.
//    The http form of an https host's URL does belong to this web.
//  - *Repeats*: the same URL answered 200 in full more than once. Violations
//    only if `no_repeats`: a recrawl asks again.
// Thread-safe (a pure function).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "tests/fake_web/request_log.h"
#include "tests/fake_web/web.h"

namespace gannet::fake_web {

struct JudgeOptions {
  absl::Duration delay = absl::Seconds(1);
  absl::Duration crawl_delay_cap = absl::Seconds(30);
  std::string agent = "gannet";
  bool robots_free = false;
  bool no_repeats = false;
  bool per_host = true;
  bool per_address = true;
  size_t most_listed = 20;  // Of each kind.
};

struct Gap {
  absl::Duration gap;
  absl::Duration wanted;
  std::string where;  // A host or an address.
  std::string url;    // That was asked too early.
};

struct Verdict {
  uint64_t requests = 0;
  uint64_t hosts = 0;
  uint64_t addresses = 0;
  uint64_t too_early_on_host = 0;
  uint64_t too_early_on_address = 0;
  uint64_t forbidden = 0;
  uint64_t never_linked = 0;
  uint64_t repeats = 0;
  bool repeats_count = false;
  // The worst first; at most `most_listed` each.
  std::vector<Gap> smallest_host_gaps;
  std::vector<Gap> smallest_address_gaps;
  std::vector<std::string> forbidden_urls;
  std::vector<std::string> never_linked_urls;
  std::vector<std::string> repeated_urls;

  bool ok() const {
    return too_early_on_host + too_early_on_address + forbidden +
               (repeats_count ? repeats : 0) ==
           0;
  }
};

Verdict Judge(const Web& web, std::vector<LogEntry> entries,
              const JudgeOptions& options);

std::string FormatVerdict(const Verdict& verdict);
std::string FormatVerdictJson(const Verdict& verdict);

}  // namespace gannet::fake_web
