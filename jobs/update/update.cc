#include "jobs/update/update.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "jobs/update/contest.h"
#include "jobs/update/routes.h"
#include "jobs/update/target_sums.h"

namespace gannet::jobs {
namespace {

// A sample of all targets, from which ranges of about equal weight are cut.
class Sample {
 public:
  void Add(const proto::OutlinkSegment& segment) {
    for (const std::string& target : segment.targets()) {
      // A long key may come several times, as it weighs.
      for (weight_ += TargetSums::WeightOf(target); next_ < weight_;
           next_ += stride_) {
        keys_.push_back(target);
        if (keys_.size() < kMost) continue;
        for (size_t i = 0; i < kMost / 2; ++i) {
          keys_[i] = std::move(keys_[2 * i]);
        }
        keys_.resize(kMost / 2);
        stride_ *= 2;
      }
    }
  }

  // A quarter more than needed, because the sample is not exact and cuts are
  // moved to the beginning of a host.
  std::vector<KeyRange> Cut(size_t weight_per_range) {
    std::sort(keys_.begin(), keys_.end());
    const size_t ranges = std::clamp<size_t>(
        1 + 5 * weight_ / (4 * std::max<size_t>(weight_per_range, 1)), 1,
        keys_.size());
    std::vector<KeyRange> cut;
    std::string from;
    for (size_t i = 1; i <= ranges; ++i) {
      std::string to;
      if (i < ranges) {
        const std::string& key = keys_[i * keys_.size() / ranges];
        // Before the host, if it is not cut already: its best are to be found
        // among all of its targets.
        to = storage::HostPartOf(key);
        if (to <= from) to = key;
        if (to <= from) continue;
      }
      cut.push_back({from, to});
      from = to;
    }
    return cut;
  }

 private:
  static constexpr size_t kMost = 8192;
  std::vector<std::string> keys_;
  size_t weight_ = 0;
  size_t next_ = 0;
  size_t stride_ = 1;
};

class Updater {
 public:
  Updater(storage::CrawlDb& crawl_db, const UpdateSettings& settings,
          absl::Time now, const std::atomic<bool>& stop, UpdateView& view)
      : crawl_db_(crawl_db),
        settings_(settings),
        moment_{now, now + settings.soon},
        stop_(stop),
        view_(view),
        routes_(settings.map, settings.sent),
        heights_(routes_.ways()),
        room_(Places()),
        contest_(crawl_db, routes_, Places(), settings.max_pages_per_host) {}

  absl::Status Run() {
    auto all = std::make_unique<TargetSums>(KeyRange{});
    bool fits = true;
    absl::Status status = Sum(*all, &fits);
    if (!status.ok()) return status;
    if (fits) {
      all->Sort();
      if (MayExceedQuota(*all)) {
        status = contest_.AddDeferred(settings_.batch);
        if (status.ok()) status = Compete(*all);
        if (status.ok()) status = SetBar();
        if (!status.ok()) return status;
      }
      status = Settle(*all);
    } else {
      all.reset();
      status = RunInRanges();
    }
    if (status.ok()) status = FillQuota();
    if (status.ok() && settings_.gain_every > 0 &&
        crawl_db_.round().journal().number() % settings_.gain_every == 0) {
      status = crawl_db_.waiting().ReleaseGains().status();
    }
    return status;
  }

 private:
  // Adds up; with `fits`, only while there is room.
  absl::Status Sum(TargetSums& sums, bool* fits) {
    return crawl_db_.round().ForEachOutlinks(
        [&](std::string_view, const proto::OutlinkSegment& segment) {
          if (fits != nullptr) {
            *fits = *fits && sums.weight() <= settings_.targets_in_memory;
            if (!*fits) return;
          }
          sums.Add(segment);
        });
  }

  // Reads each range twice: the bar must be known before the first target is
  // settled.
  absl::Status RunInRanges() {
    Sample sample;
    absl::Status status = crawl_db_.round().ForEachOutlinks(
        [&](std::string_view, const proto::OutlinkSegment& segment) {
          sample.Add(segment);
        });
    if (!status.ok()) return status;
    const std::vector<KeyRange> ranges =
        sample.Cut(settings_.targets_in_memory);
    status = contest_.AddDeferred(settings_.batch);
    if (!status.ok()) return status;
    if (HasRoom()) {
      status = ForEachRange(
          ranges, [&](const TargetSums& sums) { return Compete(sums); });
      if (!status.ok()) return status;
    }
    if (status = SetBar(); !status.ok()) return status;
    return ForEachRange(ranges,
                        [&](const TargetSums& sums) { return Settle(sums); });
  }

  // In key order; those that are settled, before a crash, are left out.
  absl::Status ForEachRange(
      const std::vector<KeyRange>& ranges,
      const std::function<absl::Status(const TargetSums&)>& visit) {
    const std::string cursor = crawl_db_.round().journal().cursor();
    for (const KeyRange& range : ranges) {
      if (!range.to.empty() && range.to <= cursor) continue;
      if (stop_) return Stopped();
      TargetSums sums(range);
      if (absl::Status s = Sum(sums, nullptr); !s.ok()) return s;
      sums.Sort();
      if (absl::Status s = visit(sums); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

  static absl::Status Stopped() {
    return absl::CancelledError("stopped while updating");
  }

  // The first that is not settled yet: after a crash, not the first of all.
  size_t FirstUnsettled(const TargetSums& targets) const {
    return targets.FirstAfter(crawl_db_.round().journal().cursor());
  }

  // If not, no URL need be looked up: all get in.
  bool MayExceedQuota(const TargetSums& targets) const {
    const std::vector<int64_t> places = Places();
    return static_cast<int64_t>(targets.size() - FirstUnsettled(targets)) +
               crawl_db_.totals().deferred_urls >
           *std::min_element(places.begin(), places.end());
  }

  absl::Status Compete(const TargetSums& targets) {
    for (size_t next = FirstUnsettled(targets); next < targets.size();) {
      if (stop_) return Stopped();
      const std::vector<storage::FoundUrl> batch =
          targets.Batch(next, settings_.batch);
      if (absl::Status s = contest_.Add(batch); !s.ok()) return s;
      next += batch.size();
    }
    return absl::OkStatus();
  }

  absl::Status SetBar() {
    auto heights = contest_.Find();
    if (!heights.ok()) return heights.status();
    heights_ = *std::move(heights);
    return absl::OkStatus();
  }

  int64_t Room() const {
    return std::max<int64_t>(
        settings_.new_pages - crawl_db_.round().journal().counts().added(), 0);
  }

  // UniCrawl's l for this site, and l/m for each other one.
  std::vector<int64_t> Places() const {
    const auto ways = static_cast<int64_t>(routes_.ways());
    std::vector<int64_t> places(
        routes_.ways(), std::max<int64_t>(settings_.new_pages / ways, 1));
    const proto::RoundCounts counts = crawl_db_.round().journal().counts();
    const auto& sent_to = counts.sent_to();
    for (size_t way = 1; way < places.size(); ++way) {
      // An update that was cut off has given some already.
      const auto sent = sent_to.find(static_cast<uint32_t>(routes_.site(way)));
      if (sent == sent_to.end()) continue;
      places[way] = std::max<int64_t>(places[way] - sent->second, 0);
    }
    places[Routes::kHere] = Room();
    return places;
  }

  absl::Status Settle(const TargetSums& targets) {
    size_t next = FirstUnsettled(targets);
    view_.targets = static_cast<int64_t>(targets.size() - next);
    view_.settled = 0;
    while (next < targets.size()) {
      if (stop_) return Stopped();
      std::vector<storage::FoundUrl> found =
          targets.Batch(next, settings_.batch);
      const size_t size = found.size();
      storage::Settlement batch;
      batch.cursor = found.back().page.bytes;
      batch.least_cash_for_new = heights_[Routes::kHere].least_cash;
      batch.most_with_least_cash = heights_[Routes::kHere].ties;
      batch.drop_over_quota = settings_.drop_over_quota;
      batch.most_host_pages = settings_.max_pages_per_host;
      if (absl::Status s = Route(std::move(found), batch); !s.ok()) return s;
      absl::StatusOr<storage::PutCounts> counts =
          crawl_db_.round().Settle(batch, moment_);
      if (!counts.ok()) return counts.status();
      for (const auto& [site, url] : batch.remote) {
        routes_.Remember(routes_.WayOf(url.page.bytes), url.page);
      }
      heights_[Routes::kHere].ties -= counts->with_least_cash;
      view_.settled += static_cast<int64_t>(size);
      next += size;
    }
    return absl::OkStatus();
  }

  // Each into the part of the batch where it belongs.
  absl::Status Route(std::vector<storage::FoundUrl> found,
                     storage::Settlement& batch) {
    std::vector<storage::FoundUrl> elsewhere;
    for (storage::FoundUrl& url : found) {
      const size_t way = routes_.WayOf(url.page.bytes);
      if (way == Routes::kHere) {
        batch.local.push_back(std::move(url));
      } else if (routes_.WasSent(way, url.page)) {
        if (routes_.cash_mode()) {
          batch.gains.emplace_back(routes_.site(way), std::move(url));
        } else {
          batch.dropped.push_back({storage::kSentBefore, url.cash, 0});
        }
      } else {
        elsewhere.push_back(std::move(url));
      }
    }
    if (elsewhere.empty()) return absl::OkStatus();
    auto cash =
        crawl_db_.waiting().CashOfNew(elsewhere);  // With what waits for it.
    if (!cash.ok()) return cash.status();
    for (size_t i = 0; i < elsewhere.size(); ++i) {
      storage::FoundUrl& url = elsewhere[i];
      const size_t way = routes_.WayOf(url.page.bytes);
      if (!(*cash)[i].has_value() && crawl_db_.blocks().IsBlocked(url.page)) {
        batch.dropped.push_back({storage::kBlockedByOperator, url.cash, 1});
      } else if (!(*cash)[i].has_value() ||  // Known here, about to move away.
                 Passes(heights_[way], *(*cash)[i])) {
        --room_[way];
        batch.remote.emplace_back(routes_.site(way), std::move(url));
      } else if (settings_.drop_over_quota) {
        batch.dropped.push_back({"over_quota", url.cash, 1});
      } else {
        batch.deferred.push_back(std::move(url));
      }
    }
    return absl::OkStatus();
  }

  static bool Passes(AdmissionBar::Height& bar, int64_t cash) {
    return cash > bar.least_cash || (cash == bar.least_cash && bar.ties-- > 0);
  }

  // The room that is left goes to the best that wait. Some of them are known
  // by now, or their hosts are full, or nothing is left for their site; how
  // many are looked at is bounded, too.
  absl::Status FillQuota() {
    std::optional<storage::FoundUrl> last;
    const std::vector<int64_t> places = Places();
    for (int64_t most =
             4 * std::accumulate(places.begin(), places.end(), int64_t{0});
         most > 0 && HasRoom() && crawl_db_.totals().deferred_urls > 0;) {
      if (stop_) return Stopped();
      absl::StatusOr<std::vector<storage::FoundUrl>> best =
          crawl_db_.waiting().TopDeferred(
              std::min<size_t>(static_cast<size_t>(most), settings_.batch),
              last);
      if (!best.ok()) return best.status();
      if (best->empty()) return absl::OkStatus();
      last = best->back();
      most -= static_cast<int64_t>(best->size());
      if (absl::Status s = LetIn(*best); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

  bool HasRoom() const {
    return Room() > 0 || std::any_of(room_.begin() + 1, room_.end(),
                                     [](int64_t room) { return room > 0; });
  }

  // As many of these as there is room for.
  absl::Status LetIn(std::vector<storage::FoundUrl>& best) {
    std::vector<storage::PageKey> here;
    std::vector<std::pair<storage::SiteId, storage::PageKey>> elsewhere;
    const auto room = static_cast<size_t>(Room());
    for (storage::FoundUrl& url : best) {
      const size_t way = routes_.WayOf(url.page.bytes);
      if (way == Routes::kHere) {
        if (here.size() < room) here.push_back(std::move(url.page));
      } else if (room_[way] > 0) {
        --room_[way];
        elsewhere.emplace_back(routes_.site(way), std::move(url.page));
      }
    }
    if (!here.empty()) {
      absl::StatusOr<storage::PutCounts> counts = crawl_db_.waiting().Undefer(
          here, moment_, settings_.max_pages_per_host);
      if (!counts.ok()) return counts.status();
    }
    if (elsewhere.empty()) return absl::OkStatus();
    if (absl::Status s =
            crawl_db_.waiting().SendDeferred(elsewhere, /*for_round=*/true);
        !s.ok()) {
      return s;
    }
    for (const auto& [site, page] : elsewhere) {
      routes_.Remember(routes_.WayOf(page.bytes), page);
    }
    return absl::OkStatus();
  }

  storage::CrawlDb& crawl_db_;
  const UpdateSettings& settings_;
  const storage::Moment moment_;
  const std::atomic<bool>& stop_;
  UpdateView& view_;
  Routes routes_;
  std::vector<AdmissionBar::Height> heights_;  // By way.
  std::vector<int64_t> room_;  // By way, but for this site's: that is Room().
  Contest contest_;
};

}  // namespace

absl::Status Update(storage::CrawlDb& crawl_db, const UpdateSettings& settings,
                    absl::Time now, const std::atomic<bool>& stop,
                    UpdateView& view) {
  return Updater(crawl_db, settings, now, stop, view).Run();
}

}  // namespace gannet::jobs
