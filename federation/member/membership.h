// Membership is a site's part in the federation: it holds the map, knows its
// neighbours, sends and takes what belongs elsewhere, and hands over what it no
// longer owns. It runs beside the rounds, which ask it for the current map, and
// goes on whether or not anybody else can be reached.
//
//   MapHolder ◄── Neighbour (each other site: beat, pump) ──► PeerClient
//       ▲                                                         network
//       └──────────── PeerService ◄──────────────────────────── PeerServer
//
// One thread ("the watch") does what the map asks for: neighbours that come and
// go, the block list, joining, and, as the registrar, ending a hand-off.
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "federation/exchange/batch_receiver.h"
#include "federation/handoff/hand_off.h"
#include "federation/member/map_blocks.h"
#include "federation/member/map_follower.h"
#include "federation/member/map_scope.h"
#include "federation/member/mover.h"
#include "federation/member/neighbours.h"
#include "federation/member/own_site.h"
#include "federation/member/peer_service.h"
#include "federation/member/questions.h"
#include "federation/member/quiet_watch.h"
#include "federation/peers/peer_server.h"
#include "storage/mutex.h"

namespace gannet::federation {

class Membership;

struct MembershipSettings {
  // This site; its incarnation is the crawl DB's.
  Applicant self;
  // The map is in this file, which the administrator copies; empty: one of the
  // sites keeps it, the registrar.
  std::string map_file;
  // A site that is asked to be let in; empty: a site that has no map founds a
  // federation, and is its registrar.
  std::string join;

  PeerServerSettings server;
  Connect connect = ConnectInsecurely;
  NeighbourSettings neighbours;
  BatchReceiverSettings receiver;

  // Called with each map that it takes up, by one thread at a time: what
  // losses() name is to be sent again.
  std::function<void(Membership&)> on_map;
  AgentAnswers answers;
  NoteEvent note = [](std::string_view, const auto&) {};
};

// One look at the federation from here.
struct FederationSnapshot {
  std::shared_ptr<const MapView> view;  // Null: in none (yet).
  bool is_quiet = false;
  // The last call to it was answered (or it is this site).
  bool registrar_is_reachable = false;
  std::string error;  // Why it is not in the map, or cannot read it.
  peers::Condition self;
  NeighbourSnapshots neighbours;
  BatchReceiver::Counts received;
  uint64_t refused_calls = 0;  // Of strangers, and of broken peers.
  uint64_t cut_streams = 0;    // Of sites: PeerVerbs::OnCut.
};

class Membership {
 public:
  // All must outlive it. Listens and begins; whether others can be reached is
  // not waited for.
  static absl::StatusOr<std::unique_ptr<Membership>> Start(
      MembershipSettings settings, storage::CrawlDb& crawl_db,
      const storage::Canonicaliser& canonicaliser,
      const storage::UrlFilter& filter, storage::Clock& clock);
  ~Membership();

  const MapHolder& maps() const { return maps_; }
  // What others may have lost, and is to be sent again.
  Losses& losses() { return losses_; }
  // Whether this site may begin a round: it is in the map, nothing is paused,
  // and no other site takes it for a copy of itself. If not, why not.
  absl::Status MayBeginRound() ABSL_LOCKS_EXCLUDED(mu_);
  // Which hosts this site may crawl by that map: its own, except those whose
  // last owner has not handed them over yet.
  absl::StatusOr<storage::HostFilter> MayCrawl(
      const std::shared_ptr<const MapView>& view) const;
  // Pages have come that others own: seeds, say. They are handed over.
  void OnForeignPages() { hand_off_.WalkAgain(); }
  // To all sites that are neighbours now, since they are. Cheap.
  BatchBytes bytes_sent();
  int port() const { return server_->port(); }

  // What is known here: `is_quiet` is what the watch found last, from beats of
  // the last second or two. Costs no call; for who asks often.
  FederationSnapshot Snapshot() ABSL_LOCKS_EXCLUDED(mu_);
  // Asks all sites once more if the watch found them quiet, so `is_quiet` is
  // true now. Costs two round trips, and three seconds if a site has just died.
  FederationSnapshot FreshSnapshot();

  // --- What administrators ask for -------------------------------------------

  // Changes of the map, also joining. Of a map in a file only the next one is
  // made: the administrator copies it.
  MapFollower& follower() { return *follower_; }
  bool MapIsAFile() const { return !settings_.map_file.empty(); }
  // Plan and verify.
  Questions& questions() { return questions_; }

 private:
  Membership(MembershipSettings settings, storage::CrawlDb& crawl_db,
             uint64_t incarnation, const storage::Canonicaliser& canonicaliser,
             const storage::UrlFilter& filter, storage::Clock& clock);

  // The watch's thread.
  void Watch();
  void SetError(const std::string& error) ABSL_LOCKS_EXCLUDED(mu_);

  const MembershipSettings settings_;
  Losses losses_;
  OwnLife life_;
  MapHolder maps_;
  const OwnSite own_;
  BatchReceiver receiver_;
  HandOff hand_off_;
  OwnAnswers answers_;
  Neighbours neighbours_;
  RegistrarMap registrar_;
  Questions questions_;
  PeerService service_;
  MapBlocks blocks_;
  MapScope scope_;
  QuietWatch quiet_;
  std::unique_ptr<MapFollower> follower_;
  std::unique_ptr<PeerServer> server_;

  std::atomic<bool> is_ending_ = false;
  storage::Mutex mu_;
  std::string error_ ABSL_GUARDED_BY(mu_);  // As the follower says.

  std::unique_ptr<Mover> mover_;
  std::thread watch_;
};

}  // namespace gannet::federation
