#include "jobs/update/update.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "jobs/update/target_sums.h"
#include "storage/crawl_db/score.h"

namespace gannet::jobs {
namespace {

// How many targets have how much cash, in the steps of the frontier.
using CashHistogram = std::array<int64_t, 256>;

// The least cash of a step.
int64_t StepFloor(int step) {
  int64_t low = 0, high = int64_t{1} << 62;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (storage::ScoreStep(static_cast<uint64_t>(middle)) >= step) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// The smallest cash that no more than `quota` have.
int64_t Threshold(const CashHistogram& histogram, int64_t quota) {
  int64_t richer = 0;
  for (int step = 255; step >= 0; --step) {
    richer += histogram[step];
    if (richer > quota) return StepFloor(step + 1);
  }
  return 0;
}

void Count(const TargetSums& sums, CashHistogram& histogram) {
  sums.ForEachCash([&](int64_t cash) {
    ++histogram[storage::ScoreStep(static_cast<uint64_t>(cash))];
  });
}

// A sample of all targets, from which ranges of about equal size are cut.
class Sample {
 public:
  void Add(const proto::OutlinkSegment& segment) {
    for (const std::string& target : segment.targets()) {
      weight_ += 1 + target.size() / TargetSums::kKeyBytes;
      if (total_++ % stride_ != 0) continue;
      keys_.push_back(target);
      if (keys_.size() < kMost) continue;
      for (size_t i = 0; i < kMost / 2; ++i) {
        keys_[i] = std::move(keys_[2 * i]);
      }
      keys_.resize(kMost / 2);
      stride_ *= 2;
    }
  }

  std::vector<KeyRange> Cut(size_t targets_per_range) {
    std::sort(keys_.begin(), keys_.end());
    const size_t ranges = std::clamp<size_t>(
        2 * weight_ / std::max<size_t>(targets_per_range, 1), 1, keys_.size());
    std::vector<KeyRange> cut;
    std::string from;
    for (size_t i = 1; i <= ranges; ++i) {
      const std::string to =
          i == ranges ? "" : keys_[i * keys_.size() / ranges];
      if (i < ranges && to <= from) continue;
      cut.push_back({from, to});
      from = to;
    }
    return cut;
  }

 private:
  static constexpr size_t kMost = 8192;
  std::vector<std::string> keys_;
  size_t total_ = 0;
  size_t weight_ = 0;
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
        view_(view) {}

  absl::Status Run() {
    TargetSums all(KeyRange{});
    bool fits = true;
    absl::Status status = Sum(all, &fits);
    if (!status.ok()) return status;
    if (fits) {
      Count(all, histogram_);
      if (status = SetThreshold(); !status.ok()) return status;
      status = Settle(all.TakeSorted());
    } else {
      (void)all.TakeSorted();  // Frees it.
      status = RunInRanges();
    }
    if (!status.ok()) return status;
    return FillQuota();
  }

 private:
  // Adds up; with `fits`, only while there is room.
  absl::Status Sum(TargetSums& sums, bool* fits) {
    return crawl_db_.ForEachOutlinks(
        [&](std::string_view, const proto::OutlinkSegment& segment) {
          if (fits != nullptr) {
            *fits = *fits && sums.weight() <= settings_.targets_in_memory;
            if (!*fits) return;
          }
          sums.Add(segment);
        });
  }

  // Twice over each range: the threshold needs all sums before the first is
  // settled.
  absl::Status RunInRanges() {
    Sample sample;
    absl::Status status = crawl_db_.ForEachOutlinks(
        [&](std::string_view, const proto::OutlinkSegment& segment) {
          sample.Add(segment);
        });
    if (!status.ok()) return status;
    const std::vector<KeyRange> ranges =
        sample.Cut(settings_.targets_in_memory);
    for (const KeyRange& range : ranges) {
      TargetSums sums(range);
      if (status = Sum(sums, nullptr); !status.ok()) return status;
      Count(sums, histogram_);
    }
    if (status = SetThreshold(); !status.ok()) return status;
    for (const KeyRange& range : ranges) {
      TargetSums sums(range);
      if (status = Sum(sums, nullptr); !status.ok()) return status;
      if (status = Settle(sums.TakeSorted()); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // The deferred compete too.
  absl::Status SetThreshold() {
    if (crawl_db_.totals().deferred_urls > 0) {
      absl::StatusOr<std::vector<storage::Found>> waiting =
          crawl_db_.TopDeferred(static_cast<size_t>(settings_.new_pages));
      if (!waiting.ok()) return waiting.status();
      for (const storage::Found& url : *waiting) {
        ++histogram_[storage::ScoreStep(static_cast<uint64_t>(url.cash))];
      }
    }
    least_cash_ = Threshold(histogram_, settings_.new_pages);
    return absl::OkStatus();
  }

  absl::Status Settle(std::vector<storage::Found> targets) {
    const std::string cursor = crawl_db_.journal().cursor();
    auto next = std::upper_bound(
        targets.begin(), targets.end(), cursor,
        [](const std::string& key, const storage::Found& target) {
          return key < target.page.bytes;
        });
    view_.targets = static_cast<int64_t>(targets.end() - next);
    view_.settled = 0;
    while (next != targets.end()) {
      if (stop_) return absl::CancelledError("stopped while updating");
      const auto end =
          next + std::min<ptrdiff_t>(targets.end() - next,
                                     static_cast<ptrdiff_t>(settings_.batch));
      storage::Settlement batch;
      batch.local.assign(std::make_move_iterator(next),
                         std::make_move_iterator(end));
      batch.cursor = batch.local.back().page.bytes;
      batch.least_cash_for_new = least_cash_;
      batch.drop_over_quota = settings_.drop_over_quota;
      batch.most_host_pages = settings_.max_pages_per_host;
      absl::StatusOr<storage::PutCounts> counts =
          crawl_db_.Settle(batch, moment_);
      if (!counts.ok()) return counts.status();
      view_.settled += end - next;
      next = end;
    }
    return absl::OkStatus();
  }

  // What room the threshold left goes to the best that wait.
  absl::Status FillQuota() {
    const int64_t room =
        settings_.new_pages - crawl_db_.journal().counts().added();
    if (room <= 0 || crawl_db_.totals().deferred_urls == 0) {
      return absl::OkStatus();
    }
    absl::StatusOr<std::vector<storage::Found>> best =
        crawl_db_.TopDeferred(static_cast<size_t>(room));
    if (!best.ok()) return best.status();
    std::vector<storage::PageKey> pages;
    for (storage::Found& url : *best) pages.push_back(std::move(url.page));
    for (size_t i = 0; i < pages.size(); i += settings_.batch) {
      absl::StatusOr<storage::PutCounts> counts =
          crawl_db_.Undefer(absl::MakeSpan(pages).subspan(i, settings_.batch),
                            moment_, settings_.max_pages_per_host);
      if (!counts.ok()) return counts.status();
    }
    return absl::OkStatus();
  }

  storage::CrawlDb& crawl_db_;
  const UpdateSettings& settings_;
  const storage::Moment moment_;
  const std::atomic<bool>& stop_;
  UpdateView& view_;
  CashHistogram histogram_{};
  int64_t least_cash_ = 0;
};

}  // namespace

absl::Status Update(storage::CrawlDb& crawl_db, const UpdateSettings& settings,
                    absl::Time now, const std::atomic<bool>& stop,
                    UpdateView& view) {
  return Updater(crawl_db, settings, now, stop, view).Run();
}

}  // namespace gannet::jobs
