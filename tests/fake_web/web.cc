// What a web consists of: hosts, pages and their kinds. Its URLs are in
// web_urls.cc, its links in web_links.cc.
#include "tests/fake_web/web.h"

#include <cmath>

#include "tests/fake_web/mix.h"

namespace gannet::fake_web {
namespace {

// Kinds that cost a crawler seconds or many pages: a quarter as frequent.
bool IsRare(Nasty kind) {
  switch (kind) {
    case Nasty::kSlow:
    case Nasty::kStall:
    case Nasty::kEndless:
    case Nasty::kGzipBomb:
    case Nasty::kHugeHeaders:
    case Nasty::kCalendar:
    case Nasty::kGrowingPath:
    case Nasty::kGrowingQuery:
    case Nasty::kSession:
      return true;
    default:
      return false;
  }
}

// Larger hosts get no robots.txt that closes or slows them down, and no nasty
// TLS, because that would affect too much of the web.
constexpr uint32_t kLargestHinderedHost = 100;

// The epoch of web time is far enough back for any page's last change.
constexpr absl::Duration kOldestChange = absl::Hours(24 * 365);

absl::StatusOr<WebOptions> WithGraph(WebOptions options, const Graph& graph) {
  options.pages = graph.pages();
  options.largest_host = 0;
  if (options.hosts > options.pages) {
    return absl::InvalidArgumentError(
        "--hosts is more than the graph has pages");
  }
  return options;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Web>> Web::Create(WebOptions options) {
  if (auto status = Validate(options); !status.ok()) return status;
  if (options.graph.empty()) {
    return std::unique_ptr<Web>(new Web(std::move(options), std::nullopt));
  }
  auto graph = Graph::Read(options.graph);
  if (!graph.ok()) return graph.status();
  return Create(std::move(options), *std::move(graph));
}

absl::StatusOr<std::unique_ptr<Web>> Web::Create(WebOptions options,
                                                 Graph graph) {
  if (options.graph.empty()) options.graph = "(in memory)";
  auto fitted = WithGraph(std::move(options), graph);
  if (!fitted.ok()) return fitted.status();
  if (auto status = Validate(*fitted); !status.ok()) return status;
  return std::unique_ptr<Web>(new Web(*std::move(fitted), std::move(graph)));
}

Web::Web(WebOptions options, std::optional<Graph> graph)
    : options_(std::move(options)),
      graph_(std::move(graph)),
      hosts_(std::make_unique<Hosts>(options_)) {
  std::vector<Nasty> tls_kinds;
  for (const NastyInfo& info : AllNasty()) {
    if (!Has(options_.nasty, info.kind)) continue;
    if (info.kind == Nasty::kChanges) continue;
    if (info.group == "tls") {
      tls_kinds.push_back(info.kind);
    } else if (info.group == "robots" && info.kind != Nasty::kForbidden) {
      robots_kinds_.push_back(info.kind);
    } else {
      page_kinds_.push_back(info.kind);
    }
  }
  SpreadTlsKinds(tls_kinds);
}

uint64_t Web::HashOf(const Ref& ref, uint64_t salt) const {
  // The step is left out: a page's steps share words and choices.
  return Mix(options_.seed ^ (salt << 48),
             (uint64_t{ref.host} << 8) | static_cast<uint64_t>(ref.kind),
             ref.id);
}

std::vector<Ref> Web::Seeds() const {
  if (!graph_) return {Ref{}};
  // Page 0 first, then the pages that no other links to, then one page of each
  // group that is still not reached (its pages only link to each other).
  const uint32_t pages = graph_->pages();
  std::vector<bool> linked(pages), seen(pages);
  for (uint32_t page = 0; page < pages; ++page) {
    for (uint32_t target : graph_->Links(page)) {
      if (target != page) linked[target] = true;
    }
  }
  std::vector<Ref> seeds;
  std::vector<uint32_t> open;
  auto start = [&](uint32_t page) {
    if (seen[page]) return;
    const uint32_t host = hosts_->HostOfPage(page);
    seeds.push_back(
        {.host = host,
         .id = static_cast<uint32_t>(page - hosts_->FirstPage(host))});
    seen[page] = true;
    open.push_back(page);
    while (!open.empty()) {
      const uint32_t from = open.back();
      open.pop_back();
      for (uint32_t target : graph_->Links(from)) {
        if (!seen[target]) {
          seen[target] = true;
          open.push_back(target);
        }
      }
    }
  };
  start(0);
  for (uint32_t page = 0; page < pages; ++page) {
    if (!linked[page]) start(page);
  }
  for (uint32_t page = 0; page < pages; ++page) start(page);
  return seeds;
}

Nasty Web::RobotsKind(uint32_t host) const {
  // Every other host is nasty, each kind in turn; the seed's host never is.
  if (robots_kinds_.empty() || host % 2 == 0) return Nasty::kNone;
  const Nasty kind = robots_kinds_[(host / 2) % robots_kinds_.size()];
  const bool hinders =
      kind == Nasty::kRobotsError || kind == Nasty::kRobotsClosed ||
      kind == Nasty::kRobotsCrawlDelay || kind == Nasty::kRobotsGroups;
  if (hinders && hosts_->Pages(host) > kLargestHinderedHost) {
    return Nasty::kNone;
  }
  return kind;
}

bool Web::IsHttps(uint32_t host) const {
  return options_.https_share > 0 &&
         Unit(Mix(options_.seed, host, 11)) < options_.https_share;
}

void Web::SpreadTlsKinds(const std::vector<Nasty>& asked_for) {
  if (asked_for.empty() || options_.https_share <= 0) return;
  tls_kinds_.assign(hosts_->count(), Nasty::kNone);
  // Every other one of the small https hosts with even numbers. Such hosts have
  // no robots kind, so that no host has both; the seed's host has neither. They
  // are counted, not chosen by hash, so that small webs have all kinds.
  size_t small = 0;
  for (uint32_t host = 2; host < hosts_->count(); host += 2) {
    if (!IsHttps(host) || hosts_->Pages(host) > kLargestHinderedHost) continue;
    if (small++ % 2 == 0) {
      tls_kinds_[host] = asked_for[(small / 2) % asked_for.size()];
    }
  }
}

Nasty Web::TlsKind(uint32_t host) const {
  return tls_kinds_.empty() ? Nasty::kNone : tls_kinds_[host];
}

Nasty Web::KindOf(const Ref& ref) const {
  const Nasty tls = TlsKind(ref.host);
  return tls != Nasty::kNone ? tls
         : ref.http_form     ? Nasty::kHttpToHttps
                             : ref.kind;
}

bool Web::MayBeClosed(uint32_t host) const {
  if (TlsKind(host) != Nasty::kNone) return true;
  switch (RobotsKind(host)) {
    case Nasty::kRobotsError:
    case Nasty::kRobotsClosed:
    case Nasty::kRobotsHuge:    // Closed to crawlers that read its end.
    case Nasty::kRobotsGroups:  // Closed to agents other than gannet.
      return true;
    default:
      return false;
  }
}

uint32_t Web::Extras(uint32_t host) const {
  return page_kinds_.empty() ? 0 : 2 + hosts_->Pages(host) / 4;
}

Nasty Web::ExtraKind(uint32_t host, uint32_t extra) const {
  const uint64_t hash = Mix(options_.seed, host, 3);
  const Nasty kind = page_kinds_[(hash % 4096 + extra) % page_kinds_.size()];
  // A host's extras have every kind in turn; of the rare kinds, three in four
  // are replaced by plain pages.
  if (IsRare(kind) && Mix(hash, extra) % 4 != 0) return Nasty::kPlain;
  return kind;
}

uint32_t Web::Steps(const Ref& ref, uint32_t endless) const {
  const uint64_t hash = HashOf(ref, 4);
  switch (ref.kind) {
    case Nasty::kRedirectChain:
      return 3 + hash % 4;  // The last step is the page.
    case Nasty::kRedirectLoop:
      return 1 + hash % 3;
    case Nasty::kMirror:
    case Nasty::kCharset:
    case Nasty::kBase:
    case Nasty::kMetaNofollow:
    case Nasty::kHeaderNofollow:
    case Nasty::kNofollowLink:
    case Nasty::kNoindex:
      return 2;
    case Nasty::kOddLinks:
      return 12;
    case Nasty::kBrokenHtml:
      return 14;
    case Nasty::kCalendar:
    case Nasty::kSession:
      return options_.trap_size > 0 ? options_.trap_size : endless;
    case Nasty::kGrowingPath:
    case Nasty::kGrowingQuery:
      return endless;
    default:
      return 1;
  }
}

uint32_t Web::RefusedTries(const Ref& ref) const {
  return 1 + HashOf(ref, 5) % 2;
}

absl::Duration Web::ChangeInterval(const Ref& ref) const {
  if (ref.kind != Nasty::kNone || !Has(options_.nasty, Nasty::kChanges)) {
    return absl::InfiniteDuration();
  }
  // Seven groups of domains, each twice as fast as the one before.
  const int group =
      static_cast<int>(Mix(options_.seed, hosts_->Domain(ref.host), 6) % 7);
  return options_.change_interval * std::exp2(group - 3);
}

uint64_t Web::VersionAt(const Ref& ref, absl::Time at) const {
  const absl::Duration interval = ChangeInterval(ref);
  if (interval == absl::InfiniteDuration() || at < absl::UnixEpoch()) return 0;
  absl::Duration within;
  const int64_t cell =
      absl::IDivDuration(at - absl::UnixEpoch(), interval, &within);
  const double moment = Unit(Mix(HashOf(ref, 7), static_cast<uint64_t>(cell)));
  return static_cast<uint64_t>(cell) + (within >= interval * moment ? 1 : 0);
}

absl::Time Web::LastModified(const Ref& ref, absl::Time at) const {
  const absl::Duration interval = ChangeInterval(ref);
  if (interval == absl::InfiniteDuration()) {
    return absl::FromUnixSeconds(1'500'000'000) +
           Unit(HashOf(ref, 8)) * kOldestChange;
  }
  const uint64_t version = VersionAt(ref, at);
  if (version == 0) return absl::UnixEpoch();
  const uint64_t cell = version - 1;
  return absl::UnixEpoch() + interval * (static_cast<double>(cell) +
                                         Unit(Mix(HashOf(ref, 7), cell)));
}

absl::Duration Web::Latency(uint32_t host, uint32_t asker) const {
  if (options_.latency <= absl::ZeroDuration()) return absl::ZeroDuration();
  const uint64_t there = Mix(options_.seed, hosts_->Domain(host), 9);
  const uint64_t here = Mix(options_.seed, asker, 10);
  const double dx = Unit(there) - Unit(here);
  const double dy = Unit(Mix(there)) - Unit(Mix(here));
  return options_.latency * std::sqrt(dx * dx + dy * dy);
}

}  // namespace gannet::fake_web
