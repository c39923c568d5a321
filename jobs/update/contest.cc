#include "jobs/update/contest.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace gannet::jobs {

Contest::Contest(storage::CrawlDb& crawl_db, Routes& routes,
                 const std::vector<int64_t>& places, int64_t most_host_pages)
    : crawl_db_(crawl_db),
      routes_(routes),
      places_(std::accumulate(places.begin(), places.end(), int64_t{0})),
      most_host_pages_(most_host_pages) {
  for (const int64_t of_way : places) bars_.emplace_back(of_way);
}

absl::Status Contest::AddDeferred(size_t batch) {
  absl::StatusOr<std::vector<storage::FoundUrl>> best =
      crawl_db_.waiting().TopDeferred(static_cast<size_t>(places_));
  if (!best.ok()) return best.status();
  std::sort(best->begin(), best->end(), [](const auto& a, const auto& b) {
    return a.page.bytes < b.page.bytes;
  });
  // They bring no cash but what waits deferred.
  for (storage::FoundUrl& url : *best) url.cash = 0;
  for (size_t from = 0; from < best->size(); from += batch) {
    const auto urls = absl::MakeConstSpan(*best).subspan(from, batch);
    auto cash = crawl_db_.waiting().CashOfNew(urls);
    if (!cash.ok()) return cash.status();
    for (size_t i = 0; i < urls.size(); ++i) {
      if ((*cash)[i].has_value()) {
        waiting_.push_back({urls[i].page.bytes, *(*cash)[i]});
      }
    }
  }
  return absl::OkStatus();
}

absl::Status Contest::Add(absl::Span<const storage::FoundUrl> targets) {
  if (places_ == 0) return absl::OkStatus();  // No URL need be looked up.
  auto cash = crawl_db_.waiting().CashOfNew(targets);
  if (!cash.ok()) return cash.status();
  for (size_t i = 0; i < targets.size(); ++i) {
    if (!(*cash)[i].has_value()) continue;
    const size_t way = routes_.WayOf(targets[i].page.bytes);
    if (routes_.WasSent(way, targets[i].page)) continue;
    const std::string& page = targets[i].page.bytes;
    if (absl::Status s = EnterWaiting(page); !s.ok()) return s;
    // Its cash is in that of the target.
    if (next_ < waiting_.size() && waiting_[next_].page == page) ++next_;
    if (absl::Status s = Enter(page, *(*cash)[i]); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<AdmissionBar::Height>> Contest::Find() {
  if (absl::Status s = EnterWaiting(std::nullopt); !s.ok()) return s;
  CloseHost();
  std::vector<AdmissionBar::Height> heights;
  for (AdmissionBar& bar : bars_) heights.push_back(bar.Find());
  return heights;
}

absl::Status Contest::EnterWaiting(std::optional<std::string_view> page) {
  for (; next_ < waiting_.size(); ++next_) {
    const Waiting& next = waiting_[next_];
    if (page.has_value() && next.page >= *page) break;
    if (absl::Status s = Enter(next.page, next.cash); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status Contest::Enter(std::string_view page, int64_t cash) {
  const size_t way = routes_.WayOf(page);
  if (most_host_pages_ == 0 || way != Routes::kHere) {
    bars_[way].Add(cash);
    return absl::OkStatus();
  }
  const std::string_view host = storage::HostPartOf(page);
  if (host != host_) {
    CloseHost();
    host_ = host;
    absl::StatusOr<int64_t> pages =
        crawl_db_.records().HostPages(storage::HostKey{host_});
    if (!pages.ok()) return pages.status();
    best_of_host_.emplace(most_host_pages_ - *pages);
  }
  best_of_host_->Add(cash);
  return absl::OkStatus();
}

void Contest::CloseHost() {
  if (!best_of_host_.has_value()) return;
  for (const int64_t cash : best_of_host_->TakeBest()) {
    bars_[Routes::kHere].Add(cash);
  }
  best_of_host_.reset();
}

}  // namespace gannet::jobs
