// A Web is a function: from a seed to hosts, from a host to pages, from a page
// to its URL and links. Nothing is stored per page, so even a web of a billion
// pages takes only the memory of its host table.
//
// Every host has *ordinary* pages, numbered 0 (the home page, "/") to n - 1,
// and, if nasty kinds of pages are asked for, *odd* ones: extras, each of one
// kind, under /odd/<kind>/ (kForbidden under /private/, /tmp/, /search/). An
// odd page may have *steps*: the hops of a redirect chain, a trap's months.
//
// How a crawler can reach every ordinary page: a host's ordinary pages form a
// tree (page k links to 6k+1 .. 6k+6), so do the hosts' home pages (4h+1 ..
// 4h+4, from host 0, the seed). Hosts whose robots.txt may close them to an
// agent, and those whose TLS is nasty, hand their children in that tree to
// their parent, so that every open page can be reached over open hosts. All
// other links are chosen by hash with a bias towards low page numbers and large
// hosts, which gives in-links a power law. Extras hang on ordinary pages (extra
// j on page j mod n).
//
// A whole host is http or https, and so are its URLs and every link to them.
// The http form of an https host's URL is a URL of its own, which redirects to
// the https one (robots.txt too). Some of the links chosen by hash are written
// in that form; the trees' links, those to extras and a graph's never are, so
// that a crawler that does not follow http forms misses nothing else.
//
// With a graph, pages and links are the graph's own (host h has a run of its
// page numbers), and what is reachable is what the graph says.
//
// Immutable after Create, so thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "tests/fake_web/graph.h"
#include "tests/fake_web/hosts.h"
#include "tests/fake_web/web_options.h"

namespace gannet::fake_web {

// One URL of the web. kNone: ordinary page `id`; otherwise extra `id`, which
// has that kind, or an asset.
struct Ref {
  uint32_t host = 0;
  uint32_t id = 0;
  Nasty kind = Nasty::kNone;
  uint16_t step = 0;
  // The http://... form of an https host's URL, which redirects to the https
  // one. Never set for http hosts.
  bool http_form = false;

  bool operator==(const Ref&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const Ref& r) {
    return H::combine(std::move(h), r.host, r.id, r.kind, r.step, r.http_form);
  }
};

enum class LinkKind : uint8_t { kAnchor, kArea, kFrame, kImage, kStyle };

// How an href is written. All of them lead to the same URL.
enum class HrefForm : uint8_t {
  kAbsolute,        // http://www.a.example/b/c
  kSchemeRelative,  // //www.a.example/b/c, if both hosts have one scheme
  kRooted,          // /b/c
  kRelative,        // ../../b/c
  kFragment,        // /b/c#more
};

struct Link {
  Ref target;
  LinkKind kind = LinkKind::kAnchor;
  HrefForm form = HrefForm::kRooted;
  bool nofollow = false;
};
using Links = absl::InlinedVector<Link, 40>;

class Web {
 public:
  // Reads options.graph, if any. kInvalidArgument, kNotFound.
  static absl::StatusOr<std::unique_ptr<Web>> Create(WebOptions options);
  // For tests: serves `graph` instead of reading a file.
  static absl::StatusOr<std::unique_ptr<Web>> Create(WebOptions options,
                                                     Graph graph);

  const WebOptions& options() const { return options_; }
  const Hosts& hosts() const { return *hosts_; }
  const Graph* graph() const { return graph_ ? &*graph_ : nullptr; }

  // Where a crawl starts: one home page, or for a graph as many pages as are
  // needed to reach all of it.
  std::vector<Ref> Seeds() const;

  bool IsHttps(uint32_t host) const;
  // kNone or one of the robots kinds.
  Nasty RobotsKind(uint32_t host) const;
  // kNone or one of the TLS kinds; an https host of one has no robots kind.
  Nasty TlsKind(uint32_t host) const;
  // The kind that the ground truth gives for a URL: its page's, unless its
  // host's TLS fails before or it is an http form.
  Nasty KindOf(const Ref& ref) const;
  uint32_t Extras(uint32_t host) const;
  Nasty ExtraKind(uint32_t host, uint32_t extra) const;
  // How many steps the odd page has, the first included. Traps have at most
  // `endless` if they have no end.
  uint32_t Steps(const Ref& ref, uint32_t endless = 1000) const;

  // The URL's path and query, as a canonical URL has them.
  void AppendTarget(const Ref& ref, std::string* out) const;
  void AppendUrl(const Ref& ref, std::string* out) const;
  std::string Url(const Ref& ref) const;
  // The inverse; nullopt if this web has no such URL.
  std::optional<Ref> Find(uint32_t host, std::string_view target) const;
  // The same for a whole URL, without regard to its port. An http URL of an
  // https host is its http form; http hosts have no https URLs.
  std::optional<Ref> FindUrl(std::string_view url) const;

  // Appends the links of an HTML page, in the order of the document; nothing
  // for other pages. Redirect() gives the target of a redirect.
  void AppendLinks(const Ref& ref, Links* links) const;
  // nullopt unless `ref` answers with a redirect.
  std::optional<Ref> Redirect(const Ref& ref) const;

  // A hash of the page, for any choice about it; each choice has its own
  // `salt`.
  uint64_t HashOf(const Ref& ref, uint64_t salt) const;

  // How often an ordinary page changes; infinite without Nasty::kChanges.
  absl::Duration ChangeInterval(const Ref& ref) const;
  // A page's version at a moment of web time. Each interval holds exactly one
  // change, at a random moment of it: the rate is exact, the gaps vary from
  // nothing to two intervals.
  uint64_t VersionAt(const Ref& ref, absl::Time at) const;
  absl::Time LastModified(const Ref& ref, absl::Time at) const;

  // What a request waits for before its answer: options.latency times the
  // distance of two points in the unit square, one of the host's domain, one
  // of the asker (an IPv4 address). A metric, so that coordinates can be
  // fitted.
  absl::Duration Latency(uint32_t host, uint32_t asker) const;

  // How many tries an error-recovers or busy page refuses: 1 or 2.
  uint32_t RefusedTries(const Ref& ref) const;

 private:
  Web(WebOptions options, std::optional<Graph> graph);
  // Gives hosts their TLS kinds, out of those that were asked for.
  void SpreadTlsKinds(const std::vector<Nasty>& asked_for);

  // Whether the host may be closed to some agent, or unreachable because of its
  // TLS: then it has no children in the tree of hosts.
  bool MayBeClosed(uint32_t host) const;
  void AppendOrdinaryLinks(const Ref& ref, Links* links) const;
  void AppendGraphLinks(const Ref& ref, Links* links) const;
  void AppendOddLinks(const Ref& ref, Links* links) const;
  void AppendHostTreeLinks(uint32_t host, Links* links) const;
  Ref SkewedPage(uint32_t host, uint64_t hash) const;
  Ref SkewedPageElsewhere(uint64_t hash) const;
  std::optional<Ref> FindOrdinary(uint32_t host, std::string_view target) const;
  std::optional<Ref> FindOdd(uint32_t host, std::string_view target) const;
  void AppendOrdinaryTarget(const Ref& ref, std::string* out) const;
  void AppendOddTarget(const Ref& ref, std::string* out) const;
  HrefForm FormOf(uint64_t hash, uint32_t from, uint32_t to) const;

  const WebOptions options_;
  const std::optional<Graph> graph_;
  std::unique_ptr<Hosts> hosts_;
  std::vector<Nasty> robots_kinds_;  // Asked for.
  std::vector<Nasty> page_kinds_;    // Asked for.
  // By host; empty if there are none.
  std::vector<Nasty> tls_kinds_;
};

}  // namespace gannet::fake_web
