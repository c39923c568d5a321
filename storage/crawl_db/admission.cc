#include "storage/crawl_db/admission.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "storage/crawl_db/host_rows.h"
#include "storage/crawl_db/sorted.h"
#include "storage/crawl_db/waiting_rows.h"

namespace gannet::storage {

void Admission::Drop(Edit& edit, const char* reason, const FoundUrl& url) {
  edit.delta.dropped[reason] += url.cash;
  ++edit.delta.dropped_urls;
  ++dropped_;
}

// Host by host, and of a host that has not room for all the best first: update
// has counted on it when it set the bar (jobs/update/contest.h). In key order a
// poor URL would take the place of a rich one, and one place of the quota would
// be lost.
absl::StatusOr<std::vector<FoundUrl>> Admission::Admit(
    Edit& edit, std::vector<FoundUrl> urls) {
  std::vector<std::optional<FoundUrl>> waiting(urls.size());
  if (joins_deferred_) {
    auto rows = DeferredOf(store_, urls);
    if (!rows.ok()) return rows.status();
    waiting = *std::move(rows);
  }
  const auto cash = [&](size_t i) {
    return urls[i].cash + (waiting[i].has_value() ? waiting[i]->cash : 0);
  };

  std::vector<bool> admitted(urls.size());
  std::vector<size_t> order(urls.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t begin = 0, end = 0; begin < urls.size(); begin = end) {
    end = urls.size();
    auto room = std::numeric_limits<int64_t>::max();
    if (limits_.most_host_pages > 0) {
      const std::string host(HostPartOf(urls[begin].page.bytes));
      end = begin + 1;
      while (end < urls.size() && HostPartOf(urls[end].page.bytes) == host) {
        ++end;
      }
      absl::StatusOr<int64_t> pages = HostPages(store_, HostKey{host});
      if (!pages.ok()) return pages.status();
      room = std::max<int64_t>(limits_.most_host_pages - *pages, 0);
      if (room > 0 && static_cast<int64_t>(end - begin) > room) {
        std::stable_sort(order.begin() + static_cast<ptrdiff_t>(begin),
                         order.begin() + static_cast<ptrdiff_t>(end),
                         [&](size_t a, size_t b) { return cash(a) > cash(b); });
      }
    }
    for (size_t n = begin; n < end; ++n) {
      const size_t i = order[n];
      if (room == 0) {
        Drop(edit, "host_full", urls[i]);
      } else if (HasEnough(cash(i))) {
        if (cash(i) == limits_.least_cash_for_new) ++with_least_cash_;
        admitted[i] = true;
        --room;
      } else if (limits_.drop_over_quota) {
        Drop(edit, "over_quota", urls[i]);
      } else {
        deferred_.push_back(urls[i]);
      }
    }
  }

  std::vector<FoundUrl> in;
  for (size_t i = 0; i < urls.size(); ++i) {
    if (!admitted[i]) continue;
    if (waiting[i].has_value()) {
      DeleteDeferred(edit, *waiting[i]);
      in.push_back(SortedAndMerged({urls[i], *waiting[i]}).front());
    } else {
      in.push_back(std::move(urls[i]));
    }
  }
  return in;
}

}  // namespace gannet::storage
