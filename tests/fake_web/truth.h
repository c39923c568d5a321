// The ground truth of a fake web: what a polite crawler finds if it starts at
// the seeds and runs until nothing is left, and how each URL ends.
//
// The rules, exactly:
//  1. A found URL is *accepted* if it passes the limits on URLs; any other is
//     treated as if it had not been found. They apply to seeds, links and
//     redirect targets alike. The limits are those of storage/url's filter, but
//     implemented anew: `max_url_bytes` of the whole URL; `max_query_bytes`
//     after the '?'; `max_query_parameters`, its '&'-separated parts;
//     `max_path_depth`, the path's non-empty segments; `max_segment_repeats`,
//     how often a group of one to eight segments may come in a row: with two,
//     /a/b/a/b passes and /a/b/a/b/a/b does not. 0 switches a limit off.
//  2. Every URL of a host whose TLS is nasty is *failed*: no handshake
//     succeeds, so nothing is asked for, not even robots.txt. On other hosts,
//     an accepted URL that robots.txt forbids to `agent` is *blocked*, and
//     never asked for. RFC 9309: 4xx allows all, 5xx forbids all, up to five
//     redirects are followed, 500 KiB are read. The http robots.txt of an https
//     host redirects to the https one (one redirect more, at most four in all),
//     so both forms of a URL have the same rules.
//  3. Otherwise it is asked for, again after a refusal, up to `retries` times
//     more. 301, 302, 303, 307, 308: *moved*, and the target is a found URL
//     like any other. 404, 410: *gone*. 200 with a whole body: *fetched*.
//     500 to the end, resets, garbage, a body cut short or stalled, and headers
//     beyond all limits: *failed*. Endless bodies and gzip bombs have the
//     outcome that `truncated` says (a crawler may keep the first part or drop
//     it; there are no links in them either way).
//  4. The links of a fetched page are found URLs if it is HTML by its
//     Content-Type, unless <meta name=robots> or X-Robots-Tag (for all agents)
//     says nofollow. Links: a and area; iframe and frame if `follow_frames`;
//     img if `follow_images`; link rel=stylesheet if `follow_styles`;
//     rel=canonical never counts. rel=nofollow links are not followed.
//     noindex changes nothing.
//
// The truth has no limits whose effect depends on the order of the crawl (pages
// per host, rounds, depth, fewer than 5 redirects in a row): switch these off
// in the crawler. Not thread-safe: it remembers robots rules.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "tests/fake_web/robots_rules.h"
#include "tests/fake_web/web.h"

namespace gannet::fake_web {

// The design's states of a page, without `new`.
enum class Outcome : uint8_t { kFetched, kMoved, kGone, kFailed, kBlocked };
std::string_view Name(Outcome outcome);

struct CrawlRules {
  std::string agent = "gannet";
  size_t max_url_bytes = 2048;
  size_t max_path_depth = 32;
  size_t max_segment_repeats = 2;
  size_t max_query_parameters = 24;
  size_t max_query_bytes = 1024;
  uint32_t retries = 3;
  Outcome truncated = Outcome::kFailed;
  bool follow_frames = true;
  bool follow_images = false;
  bool follow_styles = false;
};

struct TruePage {
  Ref ref;
  Outcome outcome = Outcome::kFetched;
};

class Truth {
 public:
  // `web` must outlive this.
  Truth(const Web* web, CrawlRules rules);

  // Whether the URL is accepted, by rule 1.
  bool Accepts(std::string_view url) const;
  // The outcome of an accepted URL, by rules 2 and 3.
  Outcome OutcomeOf(const Ref& ref);
  // Appends the URLs that the page leads to, by rule 4 or as a redirect: each
  // once, accepted or not.
  void AppendFound(const Ref& ref, Outcome outcome,
                   std::vector<Ref>* found) const;

  // Every accepted URL that is found, in the order of a breadth-first crawl.
  std::vector<TruePage> Reachable();
  // Every URL that the web has, reachable or not, without the http forms of
  // https hosts. Traps without an end are cut at 100 steps.
  std::vector<TruePage> AllUrls();

  const RobotsRules& RobotsOf(uint32_t host);

 private:
  Outcome AnswerTo(const Ref& ref) const;

  const Web* const web_;
  const CrawlRules rules_;
  absl::flat_hash_map<uint32_t, RobotsRules> robots_;
};

// PageRank of a reachable set by power iteration (damping 0.85; pages without
// links pay all pages evenly; links are distinct and not to the page itself; a
// redirect is a link). Adds up to 1; same order as `pages`.
std::vector<double> PageRank(const Truth& truth,
                             const std::vector<TruePage>& pages);

}  // namespace gannet::fake_web
