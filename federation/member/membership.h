// Membership is a site's part in the federation: it holds the map, knows its
// neighbours, sends and takes what belongs elsewhere, and hands over what it no
// longer owns. It runs beside the rounds, which ask it for the current map, and
// goes on whether or not anybody else can be reached.
//
//   MapHolder ◄── Neighbour (each other site: beat, pump) ──► PeerClient
//       ▲                                                         network
//       └─────── PeerVerbs (member_verbs.cc) ◄───────────────── PeerServer
//
// One thread ("the watch") does what the map asks for: neighbours that come and
// go, the block list, joining, and, as the registrar, ending a hand-off.
// Another
// ("the mover") hands over what this site has of others. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "federation/exchange/batch_receiver.h"
#include "federation/handoff/hand_off.h"
#include "federation/map/map_changes.h"
#include "federation/map/map_holder.h"
#include "federation/map/map_keeper.h"
#include "federation/member/back_off.h"
#include "federation/member/condition.h"
#include "federation/member/lives.h"
#include "federation/member/losses.h"
#include "federation/member/neighbour.h"
#include "federation/member/registrar_map.h"
#include "federation/peers/peer_client.h"
#include "federation/peers/peer_server.h"
#include "federation/peers/peer_verbs.h"
#include "storage/clock.h"
#include "storage/crawl_db/crawl_db.h"
#include "storage/mutex.h"

namespace gannet::federation {

// A line for the log: what happened, and to whom.
using NoteEvent = std::function<void(
    std::string_view event,
    const std::vector<std::pair<std::string, std::string>>& fields)>;

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
  PumpSettings pump;
  BatchReceiverSettings receiver;
  absl::Duration beat_every = absl::Seconds(1);
  absl::Duration away_after = absl::Seconds(10);

  std::function<double()> pages_per_second;
  // Called with each map that it takes up, by one thread at a time: what
  // losses() name is to be sent again.
  std::function<void(Membership&)> on_map;
  // Checks this site's invariants.
  std::function<absl::StatusOr<std::vector<storage::Check>>(bool full)> verify;
  NoteEvent note;
};

// One look at the federation from here.
struct FederationSnapshot {
  std::shared_ptr<const MapView> view;  // Null: in none (yet).
  bool is_quiet = false;
  // The last call to it was answered (or it is this site).
  bool registrar_is_reachable = false;
  std::string error;  // Why it is not in the map, or cannot read it.
  peers::Condition self;
  std::map<uint32_t, NeighbourSnapshot> neighbours;  // By id.
  BatchReceiver::Counts received;
  uint64_t refused_calls = 0;  // Of strangers, and of broken peers.
  uint64_t cut_streams = 0;    // Of sites: PeerVerbs::OnCut.
};

// One check of `federation verify`.
struct FederationCheck : storage::Check {
  // It could not be made: a site did not answer. Nothing is known to be broken.
  bool is_unanswered = false;
};

// What a change of the map would move.
struct Plan {
  Map next;
  std::map<uint32_t, peers::MoveCounts> by_site;
  std::map<uint32_t, std::string> unknown;  // Sites that did not answer.
};

class Membership : private PeerVerbs {
 public:
  // All must outlive it. Listens and begins; whether others can be reached is
  // not waited for.
  static absl::StatusOr<std::unique_ptr<Membership>> Start(
      MembershipSettings settings, storage::CrawlDb& crawl_db,
      const storage::Canonicaliser& canonicaliser,
      const storage::UrlFilter& filter, storage::Clock& clock);
  ~Membership() override;

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
  BatchBytes bytes_sent() ABSL_LOCKS_EXCLUDED(mu_);
  int port() const { return server_->port(); }

  // What is known here: `is_quiet` is what the watch found last, from beats of
  // the last second or two. Costs no call; for who asks often.
  FederationSnapshot Snapshot() ABSL_LOCKS_EXCLUDED(mu_);
  // Asks all sites once more if the watch found them quiet, so `is_quiet` is
  // true now. Costs two round trips, and three seconds if a site has just died.
  FederationSnapshot FreshSnapshot() ABSL_LOCKS_EXCLUDED(mu_);

  // --- What administrators ask for -------------------------------------------

  // Changes the map where it is kept, and takes the new one up. Of a map in a
  // file only the next one is made: the administrator copies it.
  using MapChange = std::function<absl::StatusOr<Map>(const Map&)>;
  absl::StatusOr<Map> Change(const MapChange& change);
  bool MapIsAFile() const { return !settings_.map_file.empty(); }
  // Of a map that is a file: the next one, with this site in it; the first one,
  // if there is none yet.
  absl::StatusOr<Map> MapWithSelf();
  // Makes this site the registrar.
  absl::StatusOr<Map> Adopt();
  // Asks to be let in, now: the site at `address`, or the one that the settings
  // name.
  absl::Status JoinNow(const std::string& address = "")
      ABSL_LOCKS_EXCLUDED(mu_);
  absl::StatusOr<Plan> MakePlan(const MapChange& change);
  // Every site checks itself; then what each pair says of the other is
  // compared.
  absl::StatusOr<std::vector<FederationCheck>> VerifyAll(bool full);

 private:
  Membership(MembershipSettings settings, storage::CrawlDb& crawl_db,
             uint64_t incarnation, const storage::Canonicaliser& canonicaliser,
             const storage::UrlFilter& filter, storage::Clock& clock);

  using Neighbours = std::map<uint32_t, std::shared_ptr<Neighbour>>;

  // A site that is refused waits longer before each next attempt: the site that
  // it asks counts each call as refused, and only an administrator can help. A
  // site that reaches nobody, or must wait until channels have moved, asks
  // again soon.
  static constexpr absl::Duration kFirstJoin = absl::Seconds(2);
  static constexpr absl::Duration kLongestRefused = absl::Minutes(2);
  static constexpr absl::Duration kLongestUnheard = absl::Seconds(5);

  // The mover.
  void Move();

  // Called before the map is used.
  absl::Status KeepMap(const Map& map);

  // The watch.
  void Watch();
  void ReadFile();
  void FoundIfAlone();
  void JoinIfNeeded() ABSL_LOCKS_EXCLUDED(mu_);
  // Takes a new incarnation, once until it is in the map. For a site that was
  // removed as dead and is back: the others have written off what they sent to
  // its last one. The same for a site that took part in a removal that was
  // undone.
  absl::Status BeReborn() ABSL_LOCKS_EXCLUDED(reborn_mu_);
  // What an administrator should do about a site that is not in the map.
  std::string WhyNotIn(const absl::Status& refused) const;
  void MeetNeighbours(const MapView& view) ABSL_LOCKS_EXCLUDED(mu_);
  // False: not all was done; try again.
  bool ApplyBlocks(const MapView& view);
  std::string RulesProblem(const MapView& view) const;
  void FinishHandOffIfDone(const MapView& view);
  bool AllHaveHandedOff(const MapView& view);
  void LookForQuiet(const MapView& view) ABSL_LOCKS_EXCLUDED(mu_);

  absl::StatusOr<peers::Greeting> Greeting() const;
  peers::Condition OwnCondition();
  std::shared_ptr<Neighbour> NeighbourOf(uint32_t site)
      ABSL_LOCKS_EXCLUDED(mu_);
  Neighbours neighbours() ABSL_LOCKS_EXCLUDED(mu_);
  void AskNeighbours();
  void SetError(const std::string& error) ABSL_LOCKS_EXCLUDED(mu_);
  void Note(std::string_view event,
            const std::vector<std::pair<std::string, std::string>>& fields);
  absl::StatusOr<peers::MoveCounts> CountOwnMoves(const Map& next);
  absl::StatusOr<storage::Check> CheckOwnership();
  absl::StatusOr<storage::Check> LookAtOwnership();
  absl::Status VerifySelf(bool full, peers::VerifyReply& reply);
  Conditions AskConditions();
  // The same question to this site and all others, side by side.
  template <typename Reply>
  std::map<uint32_t, absl::StatusOr<Reply>> AskAll(
      const std::function<absl::Status(Neighbour&, Reply&)>& ask,
      const std::function<absl::Status(Reply&)>& ask_self);

  // PeerVerbs (member_verbs.cc).
  absl::StatusOr<storage::Peer> CheckCaller(const Caller& caller,
                                            const peers::Greeting& greeting);
  absl::Status CheckOnlyLife(const peers::JoinRequest& request);
  absl::Status Refuse(absl::Status status);
  absl::StatusOr<PutPair> OpenPut(const Caller& caller,
                                  const peers::Greeting& greeting,
                                  peers::PutReply& reply) override;
  OpenedBatch OpenBatch(const PutPair& pair,
                        const peers::Batch& batch) override;
  absl::Status StoreBatch(const PutPair& pair, const peers::Batch& batch,
                          OpenedBatch opened, peers::PutReply& reply) override;
  void OnCut(const std::optional<storage::Peer>& from) override;
  absl::Status RefuseStream(absl::Status why) override;
  absl::Status Beat(const Caller& caller, const peers::BeatRequest& request,
                    peers::BeatReply& reply) override;
  absl::Status GetMap(const Caller& caller, const peers::GetMapRequest& request,
                      peers::MapReply& reply) override;
  absl::Status CompareAndSwapMap(const Caller& caller,
                                 const peers::CompareAndSwapMapRequest& request,
                                 peers::MapReply& reply) override;
  absl::Status Join(const Caller& caller, const peers::JoinRequest& request,
                    peers::MapReply& reply) override;
  absl::Status Verify(const Caller& caller, const peers::VerifyRequest& request,
                      peers::VerifyReply& reply) override;
  absl::Status CountMoves(const Caller& caller,
                          const peers::CountMovesRequest& request,
                          peers::MoveCounts& reply) override;

  // How often the mover looks whether there is something to move.
  static constexpr absl::Duration kMoveEvery = absl::Milliseconds(200);

  const MembershipSettings settings_;
  storage::CrawlDb& crawl_db_;
  storage::Clock& clock_;
  std::atomic<uint64_t> incarnation_;
  const uint64_t process_;
  const absl::Time started_;  // Steady.
  Losses losses_;
  MapHolder maps_;
  BatchReceiver receiver_;
  HandOff hand_off_;
  Lives lives_;
  RegistrarMap registrar_;
  std::unique_ptr<MapKeeper> file_;  // Null: the registrar keeps the map.
  std::atomic<uint64_t> refused_ = 0, cut_streams_ = 0;
  std::unique_ptr<PeerServer> server_;

  storage::Mutex mu_;
  storage::Condition changed_;
  bool is_ending_ ABSL_GUARDED_BY(mu_) = false;
  Neighbours neighbours_ ABSL_GUARDED_BY(mu_);
  std::string error_ ABSL_GUARDED_BY(mu_);
  // At which it is asking to be let in: by the watch, and by operators.
  std::set<std::shared_ptr<PeerClient>> doors_ ABSL_GUARDED_BY(mu_);
  bool is_quiet_ ABSL_GUARDED_BY(mu_) = false;
  std::shared_ptr<const MapView> quiet_view_ ABSL_GUARDED_BY(mu_);

  // The watch's own.
  absl::Time next_join_ = absl::InfinitePast();
  BackOff join_refused_{kFirstJoin, kLongestRefused};
  BackOff join_unheard_{kFirstJoin, kLongestUnheard};
  std::atomic<bool> is_reborn_ = false;  // Since it was removed.
  storage::Mutex reborn_mu_;             // One rebirth at a time.
  std::shared_ptr<const MapView> applied_;
  std::shared_ptr<const MapView> blocked_by_;
  Conditions last_look_;
  absl::Time last_look_ended_ = absl::InfinitePast();

  std::thread watch_, mover_;
};

template <typename Reply>
std::map<uint32_t, absl::StatusOr<Reply>> Membership::AskAll(
    const std::function<absl::Status(Neighbour&, Reply&)>& ask,
    const std::function<absl::Status(Reply&)>& ask_self) {
  std::map<uint32_t, absl::StatusOr<Reply>> replies;
  storage::Mutex mu;
  const auto put = [&](uint32_t id, const absl::Status& status, Reply reply) {
    storage::MutexLock lock(&mu);
    if (status.ok()) {
      replies.insert_or_assign(id, std::move(reply));
    } else {
      replies.insert_or_assign(id, status);
    }
  };
  std::vector<std::thread> questions;
  for (const auto& [id, neighbour] : neighbours()) {
    questions.emplace_back([&, id = id, neighbour = neighbour] {
      Reply reply;
      const absl::Status status = ask(*neighbour, reply);
      put(id, status, std::move(reply));
    });
  }
  const auto view = maps_.view();
  if (view != nullptr && view->self() != nullptr) {
    Reply reply;
    const absl::Status status = ask_self(reply);
    put(view->self()->id(), status, std::move(reply));
  }
  for (std::thread& question : questions) question.join();
  return replies;
}

}  // namespace gannet::federation
