// Admission decides whether a URL that is new to the site gets in with this
// batch of update: it needs enough cash, and its host must not be full. What
// does not get in is deferred, or dropped and counted. Private to this room;
// made for one batch, whose URLs come in key order.
#pragma once

#include <string>
#include <vector>

#include "storage/crawl_db/crawl_db.h"
#include "storage/crawl_db/store.h"

namespace gannet::storage {

class Admission {
 public:
  Admission(CrawlDb& crawl_db, const Settlement& settlement)
      : crawl_db_(crawl_db), settlement_(settlement) {}

  absl::StatusOr<bool> Admits(Edit& edit, const Found& url) {
    if (settlement_.most_host_pages > 0) {
      absl::StatusOr<bool> full = HostIsFull(url);
      if (!full.ok()) return full;
      if (*full) return Drop(edit, "host_full", url);
    }
    if (url.cash < settlement_.least_cash_for_new) {
      if (settlement_.drop_over_quota) return Drop(edit, "over_quota", url);
      deferred_.push_back(url);
      return false;
    }
    ++host_pages_;
    return true;
  }

  const std::vector<Found>& deferred() const { return deferred_; }
  int64_t dropped() const { return dropped_; }

 private:
  bool Drop(Edit& edit, const char* reason, const Found& url) {
    edit.delta.dropped[reason] += url.cash;
    ++edit.delta.dropped_urls;
    ++dropped_;
    return false;
  }

  absl::StatusOr<bool> HostIsFull(const Found& url) {
    const std::string_view host = HostPartOf(url.page.bytes);
    if (host != host_) {
      host_ = host;
      absl::StatusOr<int64_t> pages = crawl_db_.HostPages(HostKey{host_});
      if (!pages.ok()) return pages.status();
      host_pages_ = *pages;
    }
    return host_pages_ >= settlement_.most_host_pages;
  }

  CrawlDb& crawl_db_;
  const Settlement& settlement_;
  std::string host_;
  int64_t host_pages_ = 0;
  std::vector<Found> deferred_;
  int64_t dropped_ = 0;
};

}  // namespace gannet::storage
