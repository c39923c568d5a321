// OwnLife is who this site is to the others: its incarnation, and the random
// number of this process, which tells it from a second copy (Lives). A site
// that must begin another life takes its next incarnation here. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "federation/exchange/greeting.h"
#include "federation/map/map_holder.h"
#include "federation/member/random64.h"
#include "storage/crawl_db/crawl_db.h"
#include "storage/mutex.h"

namespace gannet::federation {

class OwnLife {
 public:
  // `crawl_db` must outlive this; `incarnation` is the one that it has.
  OwnLife(storage::CrawlDb& crawl_db, uint64_t incarnation)
      : crawl_db_(crawl_db), incarnation_(incarnation) {}

  uint64_t incarnation() const { return incarnation_; }
  uint64_t process() const { return process_; }

  // kFailedPrecondition: the site is not in the map, or in another life.
  absl::StatusOr<peers::Greeting> Greeting(const MapHolder& maps) const {
    const auto view = maps.view();
    if (view == nullptr) {
      return absl::FailedPreconditionError("this site is in no federation");
    }
    auto greeting = MakeGreeting(*view, incarnation_);
    if (greeting.ok()) greeting->set_process(process_);
    return greeting;
  }

  // Takes a new incarnation, once until OnInMap(). For a site that was removed
  // as dead and is back: the others have written off what they sent to its last
  // one. The same for a site that took part in a removal that was undone.
  absl::Status BeReborn() ABSL_LOCKS_EXCLUDED(reborn_mu_) {
    // The watch and an operator's `join` may both come here; the second must
    // use the incarnation that the first has made.
    storage::MutexLock one_at_a_time(&reborn_mu_);
    if (is_reborn_) return absl::OkStatus();
    if (absl::Status s = crawl_db_.incoming().Reincarnate(); !s.ok()) return s;
    const auto identity = crawl_db_.records().identity();
    if (!identity.ok()) return identity.status();
    incarnation_ = identity->incarnation();
    is_reborn_ = true;
    return absl::OkStatus();
  }
  // The map has this site in its incarnation.
  void OnInMap() { is_reborn_ = false; }

 private:
  storage::CrawlDb& crawl_db_;
  const uint64_t process_ = Random64();
  std::atomic<uint64_t> incarnation_;
  std::atomic<bool> is_reborn_ = false;
  storage::Mutex reborn_mu_;  // One rebirth at a time.
};

}  // namespace gannet::federation
