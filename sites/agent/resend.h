// Resend sends again what other sites may have lost: the outlinks of this
// site's archive, and where its pages have moved to, that belong to a site
// which begins another life, or that belonged to one that is gone (the papers'
// re-execution, nc-can-lbi 2.1). Without cash: that was sent already, and is
// lost with the site that had it. Runs in a thread of its own; what fails is
// tried again. Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <thread>

#include "federation/map/map_holder.h"
#include "federation/member/losses.h"
#include "sites/agent/log.h"
#include "storage/clock.h"
#include "storage/mutex.h"
#include "storage/site_store/site_store.h"
#include "storage/url/canonical.h"
#include "storage/url/filter.h"

namespace gannet::sites {

class Resend {
 public:
  // All must outlive this. `most_redirects` in a row are followed.
  Resend(storage::SiteStore& store, const storage::Canonicaliser& canonicaliser,
         const storage::UrlFilter& filter, uint32_t most_redirects, Log& log,
         storage::Clock& clock);
  ~Resend();  // As End().

  // To be called with each new map. Sends again what `losses` lists, and
  // removes it from `losses` when done; if that is under way already and the
  // list is the same, continues. `on_foreign` is called when URLs were stored
  // here that another site may own by now. All must live until End().
  void Begin(const federation::MapHolder& maps, federation::Losses& losses,
             std::function<void()> on_foreign) ABSL_LOCKS_EXCLUDED(begin_mu_);
  // Ends what is under way, and does nothing more; it begins anew after a
  // restart.
  void End() ABSL_LOCKS_EXCLUDED(begin_mu_);

 private:
  using List = federation::Losses::List;
  void Run(const federation::MapHolder& maps, federation::Losses& losses,
           const List& list, const std::function<void()>& on_foreign);
  uint32_t RedirectsBehind(const storage::Url& moved) const;
  absl::Status Walk(const federation::MapHolder& maps, const List& list,
                    int64_t& sent);
  bool Rest(absl::Duration time) ABSL_LOCKS_EXCLUDED(mu_);
  void Stop() ABSL_EXCLUSIVE_LOCKS_REQUIRED(begin_mu_);

  storage::SiteStore& store_;
  const storage::Canonicaliser& canonicaliser_;
  const storage::UrlFilter& filter_;
  const uint32_t most_redirects_;
  Log& log_;
  storage::Clock& clock_;
  storage::Mutex begin_mu_;
  bool has_ended_ ABSL_GUARDED_BY(begin_mu_) = false;
  // The list's version.
  std::optional<uint64_t> under_way_ ABSL_GUARDED_BY(begin_mu_);
  std::thread thread_ ABSL_GUARDED_BY(begin_mu_);
  std::atomic<bool> stop_ = false;
  storage::Mutex mu_;
  storage::Condition stopped_;
};

}  // namespace gannet::sites
