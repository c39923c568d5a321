// PeerService is what a site does when another calls: it decides who is let in
// (by certificate, greeting and life, CheckCaller()), and gives what is asked
// for. What is refused is counted. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "federation/exchange/batch_receiver.h"
#include "federation/member/lives.h"
#include "federation/member/neighbours.h"
#include "federation/member/own_answers.h"
#include "federation/member/own_site.h"
#include "federation/member/registrar_map.h"
#include "federation/peers/peer_verbs.h"

namespace gannet::federation {

class PeerService : public PeerVerbs {
 public:
  // All must outlive this. `registrar` is null if no site can change the map.
  PeerService(const OwnSite& own, const OwnAnswers& answers,
              Neighbours& neighbours, BatchReceiver& receiver,
              RegistrarMap* registrar)
      : own_(own),
        answers_(answers),
        neighbours_(neighbours),
        receiver_(receiver),
        registrar_(registrar) {}

  uint64_t refused_calls() const { return refused_; }
  uint64_t cut_streams() const { return cut_streams_; }

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

 private:
  // Who calls, if it is a site of the map, in the life that the map knows, and
  // no second copy. If the caller's map is newer, it is fetched first.
  absl::StatusOr<storage::Peer> CheckCaller(const Caller& caller,
                                            const peers::Greeting& greeting);
  absl::Status CheckOnlyLife(const peers::JoinRequest& request);
  absl::Status Refuse(absl::Status status);

  const OwnSite own_;
  const OwnAnswers& answers_;
  Neighbours& neighbours_;
  BatchReceiver& receiver_;
  RegistrarMap* const registrar_;
  Lives lives_;
  std::atomic<uint64_t> refused_ = 0, cut_streams_ = 0;
};

}  // namespace gannet::federation
