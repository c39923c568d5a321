// PeerVerbs for tests in which a site only receives batches: it refuses all
// other calls.
#pragma once

#include "federation/peers/peer_verbs.h"

namespace gannet::federation {

class PutOnlyVerbs : public PeerVerbs {
 public:
  void OnCut(const std::optional<storage::Peer>&) override {}
  absl::Status RefuseStream(absl::Status why) override { return why; }

#define GANNET_NOT_HERE(Verb, Request, Reply)                            \
  absl::Status Verb(const Caller&, const peers::Request&, peers::Reply&) \
      override {                                                         \
    return absl::UnimplementedError("not here");                         \
  }
  GANNET_NOT_HERE(Beat, BeatRequest, BeatReply)
  GANNET_NOT_HERE(GetMap, GetMapRequest, MapReply)
  GANNET_NOT_HERE(CompareAndSwapMap, CompareAndSwapMapRequest, MapReply)
  GANNET_NOT_HERE(Join, JoinRequest, MapReply)
  GANNET_NOT_HERE(Verify, VerifyRequest, VerifyReply)
  GANNET_NOT_HERE(CountMoves, CountMovesRequest, MoveCounts)
#undef GANNET_NOT_HERE
};

}  // namespace gannet::federation
