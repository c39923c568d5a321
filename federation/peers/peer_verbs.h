// PeerVerbs is what a site does when another calls it: the methods of
// proto/peers.proto without the network. federation/member implements it,
// PeerServer brings the calls. Implementations are thread-safe.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "federation/exchange/batch_receiver.h"
#include "proto/peers.pb.h"
#include "storage/crawl_db/crawl_db.h"

namespace gannet::federation {

// The caller, as far as the network can tell.
struct Caller {
  // By its certificate; nothing where there is no TLS, and then anybody on this
  // machine may speak for any site.
  std::optional<std::string> site_name;
  bool is_secured = false;
};

// Who sends on a stream, and to which life of this site: batches are numbered
// for the two.
struct PutPair {
  storage::Peer from;
  uint64_t to_incarnation = 0;
};

class PeerVerbs {
 public:
  virtual ~PeerVerbs() = default;

  // The first message of a stream. Tells who sends on it from now on, and the
  // reply.
  virtual absl::StatusOr<PutPair> OpenPut(const Caller& caller,
                                          const peers::Greeting& greeting,
                                          peers::PutReply& reply) = 0;
  // A batch as it will be taken: a look at it, while the one before is taken.
  virtual OpenedBatch OpenBatch(const PutPair& pair,
                                const peers::Batch& batch) = 0;
  // The batch that was opened, on the disk when this returns.
  virtual absl::Status StoreBatch(const PutPair& pair,
                                  const peers::Batch& batch, OpenedBatch opened,
                                  peers::PutReply& reply) = 0;
  // A stream has ended without a status from the sender: the other side
  // stopped, the line broke, or it sent what was not even a message (too large,
  // no protobuf).
  virtual void OnCut(const std::optional<storage::Peer>& from) = 0;
  // A stream is ended because it breaks the protocol: it begins without a
  // greeting, or greets twice. Returns `why`.
  virtual absl::Status RefuseStream(absl::Status why) = 0;

  virtual absl::Status Beat(const Caller& caller,
                            const peers::BeatRequest& request,
                            peers::BeatReply& reply) = 0;
  virtual absl::Status GetMap(const Caller& caller,
                              const peers::GetMapRequest& request,
                              peers::MapReply& reply) = 0;
  virtual absl::Status CompareAndSwapMap(
      const Caller& caller, const peers::CompareAndSwapMapRequest& request,
      peers::MapReply& reply) = 0;
  virtual absl::Status Join(const Caller& caller,
                            const peers::JoinRequest& request,
                            peers::MapReply& reply) = 0;
  virtual absl::Status Verify(const Caller& caller,
                              const peers::VerifyRequest& request,
                              peers::VerifyReply& reply) = 0;
  virtual absl::Status CountMoves(const Caller& caller,
                                  const peers::CountMovesRequest& request,
                                  peers::MoveCounts& reply) = 0;
};

}  // namespace gannet::federation
