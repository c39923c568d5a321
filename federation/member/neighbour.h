// Neighbour is one other site, in one of its lives, as this site sees it: a
// thread that beats (who lives, by which map, how it is doing), and one that
// pumps the outbox to it. What fails is tried again, after a growing wait; a
// newer map is fetched from a site that says it has it. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/time/time.h"
#include "federation/exchange/pump.h"
#include "federation/member/own_site.h"
#include "federation/peers/peer_client.h"
#include "proto/peers.pb.h"
#include "storage/mutex.h"

namespace gannet::federation {

struct NeighbourSettings {
  PumpSettings pump;
  absl::Duration beat_every = absl::Seconds(1);
  absl::Duration beat_at_most = absl::Seconds(3);
  // A site that was not heard of for so long is away.
  absl::Duration away_after = absl::Seconds(10);
};

struct NeighbourSnapshot {
  uint64_t incarnation = 0;  // The life of the site that all this is of.
  // Heard of lately: it called, or answered.
  bool is_alive = false;
  // It answered the last beat. Of a site that was away, that comes after its
  // first call: this one's connection may still be waiting to be tried again.
  bool answers = false;
  std::optional<absl::Duration> round_trip;  // The median of the last ones.
  absl::Duration silent_for = absl::InfiniteDuration();
  uint64_t term = 0, epoch = 0;
  std::optional<peers::Condition> condition;
  absl::Time condition_asked;  // Steady: the condition is no older than this.
  std::string error;           // The last, while it lasts.
  bool takes_us_for_a_copy = false;  // Another process speaks for this site.
  Pump::Counts sent;
  uint64_t received_batches = 0, received_urls = 0, received_pages = 0;
  BatchBytes received_bytes;
};

using NeighbourSnapshots = std::map<uint32_t, NeighbourSnapshot>;  // By id.

class Neighbour {
 public:
  // Begins. `own` is the site that it is a neighbour of, `condition` how that
  // is doing.
  Neighbour(const OwnSite& own, std::function<peers::Condition()> condition,
            const NeighbourSettings& settings, const proto::MapSite& site,
            std::shared_ptr<PeerClient> client);
  // Ends what is under way.
  ~Neighbour();

  const proto::MapSite& site() const { return site_; }
  PeerClient& client() { return *client_; }
  std::shared_ptr<PeerClient> shared_client() { return client_; }

  // It called, and was let in.
  void OnHeard(const peers::Greeting& greeting) ABSL_LOCKS_EXCLUDED(mu_);
  void OnReceived(uint64_t urls, uint64_t pages, const BatchBytes& bytes);
  // Its beat thread calls at once, and so hears of a newer map.
  void BeatNow() ABSL_LOCKS_EXCLUDED(mu_);

  // Fetches its map, if that is newer.
  absl::Status CatchUp();
  // One beat now, in the caller's thread.
  absl::Status Beat() ABSL_LOCKS_EXCLUDED(mu_);

  NeighbourSnapshot Snapshot() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  absl::Status CheckReply(const peers::Greeting& asked,
                          const peers::Greeting& reply) const;
  static constexpr size_t kRoundTrips = 9;

  void BeatLoop();
  void PumpLoop();
  // True if it is over. Only the beat is woken by news.
  bool Rest(absl::Duration time, bool is_beat) ABSL_LOCKS_EXCLUDED(mu_);
  void SetError(std::string Neighbour::*which, const absl::Status& status)
      ABSL_LOCKS_EXCLUDED(mu_);

  const OwnSite own_;
  const std::function<peers::Condition()> own_condition_;
  const NeighbourSettings settings_;
  const proto::MapSite site_;
  const std::shared_ptr<PeerClient> client_;
  Pump pump_;
  std::atomic<bool> stop_ = false;
  std::atomic<uint64_t> received_batches_ = 0, received_urls_ = 0,
                        received_pages_ = 0, received_url_bytes_ = 0,
                        received_page_bytes_ = 0;

  mutable storage::Mutex mu_;
  storage::Condition changed_;
  bool has_news_ ABSL_GUARDED_BY(mu_) = false;
  absl::Time heard_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
  bool answers_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<absl::Duration> round_trips_ ABSL_GUARDED_BY(mu_);
  size_t next_round_trip_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t term_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t epoch_ ABSL_GUARDED_BY(mu_) = 0;
  std::optional<peers::Condition> condition_ ABSL_GUARDED_BY(mu_);
  absl::Time condition_asked_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
  std::string beat_error_ ABSL_GUARDED_BY(mu_);
  absl::Time taken_for_a_copy_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
  std::string pump_error_ ABSL_GUARDED_BY(mu_);

  std::thread beat_thread_, pump_thread_;
};

}  // namespace gannet::federation
