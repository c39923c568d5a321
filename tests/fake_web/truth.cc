#include "tests/fake_web/truth.h"

#include <algorithm>
#include <cmath>

#include "absl/container/flat_hash_set.h"
#include "tests/fake_web/robots_file.h"

namespace gannet::fake_web {
namespace {

std::string_view PathOf(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme == url.npos) return "/";
  const size_t slash = url.find('/', scheme + 3);
  if (slash == url.npos) return "/";
  return url.substr(slash, url.find('?') - slash);
}

std::vector<std::string_view> SegmentsOf(std::string_view path) {
  std::vector<std::string_view> segments;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    if (slash != 0) segments.push_back(path.substr(0, slash));
    path = slash == path.npos ? std::string_view() : path.substr(slash + 1);
  }
  return segments;
}

// The most times in a row that any group of up to eight segments is in the
// path. Tries every group at every place, which is slow but obvious.
size_t MostRepeats(const std::vector<std::string_view>& segments) {
  size_t most = segments.empty() ? 0 : 1;
  for (size_t length = 1; length <= 8; ++length) {
    for (size_t begin = 0; begin + length <= segments.size(); ++begin) {
      const auto group = segments.begin() + static_cast<ptrdiff_t>(begin);
      size_t times = 1;
      while (begin + (times + 1) * length <= segments.size() &&
             std::equal(group, group + static_cast<ptrdiff_t>(length),
                        group + static_cast<ptrdiff_t>(times * length))) {
        ++times;
      }
      most = std::max(most, times);
    }
  }
  return most;
}

}  // namespace

std::string_view Name(Outcome outcome) {
  static constexpr std::string_view kNames[] = {"fetched", "moved", "gone",
                                                "failed", "blocked"};
  return kNames[static_cast<size_t>(outcome)];
}

Truth::Truth(const Web* web, CrawlRules rules)
    : web_(web), rules_(std::move(rules)) {}

bool Truth::Accepts(std::string_view url) const {
  auto exceeds = [](size_t number, size_t limit) {
    return limit > 0 && number > limit;
  };
  if (exceeds(url.size(), rules_.max_url_bytes)) return false;
  const size_t mark = url.find('?');
  if (mark != url.npos) {
    const std::string_view query = url.substr(mark + 1);
    const auto parts = 1 + std::count(query.begin(), query.end(), '&');
    if (exceeds(query.size(), rules_.max_query_bytes) ||
        exceeds(static_cast<size_t>(parts), rules_.max_query_parameters)) {
      return false;
    }
  }
  const std::vector<std::string_view> segments = SegmentsOf(PathOf(url));
  return !exceeds(segments.size(), rules_.max_path_depth) &&
         !exceeds(MostRepeats(segments), rules_.max_segment_repeats);
}

const RobotsRules& Truth::RobotsOf(uint32_t host) {
  auto found = robots_.find(host);
  if (found == robots_.end()) {
    found =
        robots_.emplace(host, RobotsRulesOf(*web_, host, rules_.agent)).first;
  }
  return found->second;
}

Outcome Truth::OutcomeOf(const Ref& ref) {
  if (web_->TlsKind(ref.host) != Nasty::kNone) return Outcome::kFailed;
  std::string target;
  web_->AppendTarget(ref, &target);
  return RobotsOf(ref.host).Allows(target) ? AnswerTo(ref) : Outcome::kBlocked;
}

Outcome Truth::AnswerTo(const Ref& ref) const {
  if (web_->Redirect(ref)) return Outcome::kMoved;
  switch (ref.kind) {
    case Nasty::kNotFound:
    case Nasty::kGone:
      return Outcome::kGone;
    case Nasty::kError:
    case Nasty::kStall:
    case Nasty::kShortLength:
    case Nasty::kReset:
    case Nasty::kGarbageStatus:
    case Nasty::kHugeHeaders:
      return Outcome::kFailed;
    case Nasty::kEndless:
    case Nasty::kGzipBomb:
      return rules_.truncated;
    case Nasty::kErrorRecovers:
    case Nasty::kBusy503:
    case Nasty::kBusy429:
      return web_->RefusedTries(ref) <= rules_.retries ? Outcome::kFetched
                                                       : Outcome::kFailed;
    default:
      return Outcome::kFetched;
  }
}

void Truth::AppendFound(const Ref& ref, Outcome outcome,
                        std::vector<Ref>* found) const {
  if (outcome == Outcome::kMoved) {
    found->push_back(*web_->Redirect(ref));
    return;
  }
  if (outcome != Outcome::kFetched) return;
  if (ref.step == 0 && (ref.kind == Nasty::kMetaNofollow ||
                        ref.kind == Nasty::kHeaderNofollow)) {
    return;
  }
  Links links;
  web_->AppendLinks(ref, &links);
  absl::flat_hash_set<Ref> seen;
  for (const Link& link : links) {
    const bool kind_followed =
        link.kind == LinkKind::kImage   ? rules_.follow_images
        : link.kind == LinkKind::kStyle ? rules_.follow_styles
        : link.kind == LinkKind::kFrame ? rules_.follow_frames
                                        : true;
    if (!kind_followed || link.nofollow) continue;
    if (seen.insert(link.target).second) found->push_back(link.target);
  }
}

std::vector<TruePage> Truth::Reachable() {
  std::vector<TruePage> pages;
  absl::flat_hash_set<Ref> known;
  std::string url;
  auto take = [&](const Ref& ref) {
    if (!known.insert(ref).second) return;
    url.clear();
    web_->AppendUrl(ref, &url);
    if (Accepts(url)) pages.push_back({ref, OutcomeOf(ref)});
  };
  for (const Ref& seed : web_->Seeds()) take(seed);
  std::vector<Ref> found;
  for (size_t i = 0; i < pages.size(); ++i) {
    found.clear();
    AppendFound(pages[i].ref, pages[i].outcome, &found);
    for (const Ref& ref : found) take(ref);
  }
  return pages;
}

std::vector<TruePage> Truth::AllUrls() {
  constexpr uint32_t kEndlessSteps = 100;
  std::vector<TruePage> pages;
  for (uint32_t host = 0; host < web_->hosts().count(); ++host) {
    for (uint32_t id = 0; id < web_->hosts().Pages(host); ++id) {
      const Ref ref{.host = host, .id = id};
      pages.push_back({ref, OutcomeOf(ref)});
    }
    for (uint32_t id = 0; id < web_->Extras(host); ++id) {
      Ref ref{.host = host, .id = id, .kind = web_->ExtraKind(host, id)};
      const uint32_t steps = web_->Steps(ref, kEndlessSteps);
      for (uint32_t step = 0; step < steps; ++step) {
        ref.step = static_cast<uint16_t>(step);
        pages.push_back({ref, OutcomeOf(ref)});
      }
    }
  }
  return pages;
}

std::vector<double> PageRank(const Truth& truth,
                             const std::vector<TruePage>& pages) {
  constexpr double kDamping = 0.85;
  constexpr int kMostIterations = 200;
  const size_t n = pages.size();
  if (n == 0) return {};
  absl::flat_hash_map<Ref, uint32_t> index;
  index.reserve(n);
  for (size_t i = 0; i < n; ++i) {
    index[pages[i].ref] = static_cast<uint32_t>(i);
  }
  std::vector<uint64_t> starts = {0};
  std::vector<uint32_t> targets;
  std::vector<Ref> found;
  for (size_t i = 0; i < n; ++i) {
    found.clear();
    truth.AppendFound(pages[i].ref, pages[i].outcome, &found);
    for (const Ref& ref : found) {
      const auto to = index.find(ref);
      if (to != index.end() && to->second != i) targets.push_back(to->second);
    }
    starts.push_back(targets.size());
  }
  const auto size = static_cast<double>(n);
  std::vector<double> rank(n, 1 / size), next(n);
  for (int iteration = 0; iteration < kMostIterations; ++iteration) {
    double dangling = 0;
    std::fill(next.begin(), next.end(), 0);
    for (size_t i = 0; i < n; ++i) {
      const uint64_t links = starts[i + 1] - starts[i];
      if (links == 0) {
        dangling += rank[i];
        continue;
      }
      const double share = rank[i] / static_cast<double>(links);
      for (uint64_t at = starts[i]; at < starts[i + 1]; ++at) {
        next[targets[at]] += share;
      }
    }
    const double base = (1 - kDamping + kDamping * dangling) / size;
    double change = 0;
    for (size_t i = 0; i < n; ++i) {
      next[i] = base + kDamping * next[i];
      change += std::abs(next[i] - rank[i]);
    }
    rank.swap(next);
    if (change < 1e-12) break;
  }
  return rank;
}

}  // namespace gannet::fake_web
