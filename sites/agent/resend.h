// Resend sends again what other sites may have lost: the outlinks of this
// site's archive, and where its pages have moved to, that belong to a site
// which begins another life, or that belonged to one that is gone (the papers'
// re-execution, nc-can-lbi 2.1). Without cash: that was given, and is lost with
// who had it. Runs in a thread of its own, one job at a time. Thread-safe.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <thread>

#include "federation/exchange/sent_urls.h"
#include "federation/map/map_view.h"
#include "sites/agent/log.h"
#include "storage/site_store/site_store.h"
#include "storage/url/canonical.h"
#include "storage/url/filter.h"

namespace gannet::sites {

class Resend {
 public:
  // All must outlive this. `most_redirects` in a row are followed.
  Resend(storage::SiteStore& store, const storage::Canonicaliser& canonicaliser,
         const storage::UrlFilter& filter, uint32_t most_redirects, Log& log);
  ~Resend();  // Ends what is under way: it begins anew after a restart.

  // Begins with what `changes` ask for; with what earlier ones did, too, if
  // that was under way.
  void Begin(std::shared_ptr<const federation::MapView> view,
             const federation::SentUrls::Changes& changes);

  bool is_busy() const { return is_busy_; }
  // All that was asked for is in the outboxes.
  bool is_done() const { return !is_busy_ && !has_failed_; }

 private:
  void Run(const federation::MapView& view);
  uint32_t RedirectsBehind(const storage::Url& moved) const;
  absl::Status Walk(const federation::MapView& view, int64_t& sent);
  void End();

  storage::SiteStore& store_;
  const storage::Canonicaliser& canonicaliser_;
  const storage::UrlFilter& filter_;
  const uint32_t most_redirects_;
  Log& log_;
  std::set<storage::SiteId> reborn_;
  bool somebody_is_gone_ = false;
  std::atomic<bool> is_busy_ = false, has_failed_ = false, stop_ = false;
  std::thread thread_;
};

}  // namespace gannet::sites
