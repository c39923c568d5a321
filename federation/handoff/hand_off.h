// HandOff moves what a site has, and others own by the map, to its owners, in
// bounded steps (README.md tells how): HandOffPlan says which, and this does it
// in the crawl DB. No threads and no network: the caller steps, and the pump
// (federation/exchange) carries what is cut. Resumable at any point, by walking
// again. Used by one thread, but for progress() and WalkAgain().
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "federation/handoff/hand_off_plan.h"
#include "federation/map/map_view.h"
#include "storage/clock.h"
#include "storage/crawl_db/crawl_db.h"
#include "storage/mutex.h"

namespace gannet::federation {

struct HandOffSettings {
  size_t pages_of_batch = 1000;
  size_t bytes_of_batch = 1 << 20;
  // Batches to one site; beyond, its pages wait.
  size_t most_unacknowledged = 8;
  size_t hosts_of_step = 20'000;  // Looked at.
  // WalkAgain() is called for each batch of URLs that is injected, and a walk
  // reads all hosts. So the next such pass begins at least this long after the
  // last one began, and at least ten times as long as that one took to read; it
  // moves all that came meanwhile. A new map does not wait.
  absl::Duration between_walks = absl::Seconds(2);
  absl::Duration most_between_walks = absl::Minutes(5);
};

class HandOff {
 public:
  // Which incarnation of a site to send to; nullopt: not known now, and its
  // part waits. The map's incarnation will do.
  using PeerOf = std::function<std::optional<storage::Peer>(storage::SiteId)>;

  // Both must outlive this.
  HandOff(HandOffSettings settings, storage::CrawlDb& crawl_db,
          storage::Clock& clock);

  // Takes the next step. True: all pages are where they belong, and every peer
  // has acknowledged "complete"; further calls are cheap, and true until the
  // map changes or WalkAgain() is called. Does nothing for a site that is not
  // in the map.
  absl::StatusOr<bool> Step(const MapView& view, const PeerOf& peer_of)
      ABSL_LOCKS_EXCLUDED(mu_);

  // Pages of others may have come (BatchReceiver::Counts::foreign has grown). A
  // walk begins soon; HandOffSettings::between_walks says when at the earliest.
  void WalkAgain() { walk_again_ = true; }

  struct Progress {
    // The last change of placement for which this site's part was done
    // (PlacedStamp()). Stays while late pages of others move on.
    uint64_t handed_off = 0;
    int64_t pages_left = 0;  // An estimate.
    // The last step found nothing to do but wait: for acknowledgements, for a
    // peer, or for the end of a round.
    bool is_waiting = false;
    // The last step said that all is where it belongs, and no other walk was
    // asked for since.
    bool is_done = false;
  };
  Progress progress() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // The parts of the map that a pass depends on.
  static std::string KeyOf(const MapView& view);
  absl::Status LoadNote(const MapView& view);
  HandOffPlan::Round LookAtRound() const;
  HandOffPlan::Facts LookAround(const MapView& view) const;
  bool MayWalkAgain() const;
  absl::Status Do(HandOffPlan::Action action, const MapView& view,
                  const PeerOf& peer_of);
  // The work that grows with the site: counted, see between_walks.
  absl::Status Read(const std::function<absl::Status()>& work);
  absl::Status BeginPass(const MapView& view);
  absl::Status SortOutbox(const MapView& view);
  absl::Status SweepDeferred(const MapView& view);
  absl::Status BeginWalk(const MapView& view);
  // The next hosts, by owner.
  absl::Status Scan(const MapView& view);
  // False if no site takes a batch now.
  absl::StatusOr<bool> Cut(const MapView& view, const PeerOf& peer_of);
  // Sends "complete" to the peers for which no pages are left.
  absl::Status TellComplete(const MapView& view, const PeerOf& peer_of);
  // Whether a site that leaves may say that its part is done; it is then taken
  // out of the map.
  absl::StatusOr<bool> MayBeGone(const MapView& view);
  // The pair of lives, opened; nothing if the peer is not known now.
  absl::StatusOr<std::optional<storage::Peer>> Open(const MapView& view,
                                                    storage::SiteId site,
                                                    const PeerOf& peer_of);
  void SetPagesLeft(int64_t pages) ABSL_LOCKS_EXCLUDED(mu_);
  void ForgetWish() ABSL_LOCKS_EXCLUDED(mu_);

  const HandOffSettings settings_;
  storage::CrawlDb& crawl_db_;
  storage::Clock& clock_;
  std::atomic<bool> walk_again_ = false;

  HandOffPlan plan_;
  std::string key_;
  bool is_waiting_ = false;  // This step.
  absl::Time pass_began_ = absl::InfinitePast();
  absl::Duration reading_;                 // Of this pass so far.
  std::vector<storage::SiteId> outboxes_;  // To be sorted.

  // The walk.
  std::string next_host_;
  // Of the sites in HandOffPlan::left().
  std::map<storage::SiteId, std::vector<storage::HostKey>> hosts_;
  // Where in the first of them the last batch ended.
  std::map<storage::SiteId, std::string> cursors_;

  mutable storage::Mutex mu_;
  Progress progress_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gannet::federation
