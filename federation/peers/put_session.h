// PutSession is the receiving end of a stream of PutIfAbsent, once it has been
// let in. While one batch is on its way to the disk, the next is read and
// opened, which takes a while too; so there are at most three in memory. Each
// is answered once it is on the disk, in the order in which they came. Used by
// one thread, beside its own.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/sync_stream.h>

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "federation/peers/peer_verbs.h"
#include "proto/peers.pb.h"
#include "storage/clock.h"
#include "storage/mutex.h"

namespace gannet::federation {

class PutSession {
 public:
  using Stream = grpc::ServerReaderWriter<peers::PutReply, peers::PutRequest>;

  // All must outlive this. REQUIRES: the greeting is answered; `last` is what
  // that answer says.
  PutSession(PeerVerbs& verbs, const PutPair& pair, uint64_t last,
             grpc::ServerContext& context, Stream& stream,
             storage::Clock& clock)
      : verbs_(verbs),
        pair_(pair),
        context_(context),
        stream_(stream),
        clock_(clock),
        last_(last) {}

  // Until the sender is done or gone (OK), or something is refused.
  absl::Status Run() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Arrival {
    peers::PutRequest request;
    OpenedBatch opened;
  };

  // The caller's thread reads; both return what was refused, if anything.
  absl::Status ReadAll() ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status StoreAll() ABSL_LOCKS_EXCLUDED(mu_);

  // False: the sender is done or gone.
  bool Read(peers::PutRequest& request) ABSL_LOCKS_EXCLUDED(mu_);
  // The reader is about to read the next. False: no more are taken.
  bool Enqueue(Arrival arrival) ABSL_LOCKS_EXCLUDED(mu_);
  // Nothing: no more will come.
  std::optional<Arrival> Next() ABSL_LOCKS_EXCLUDED(mu_);
  // False: the sender could not be told.
  absl::StatusOr<bool> StoreArrival(Arrival arrival);
  void StopAccepting() ABSL_LOCKS_EXCLUDED(mu_);
  void WaitForReader() ABSL_LOCKS_EXCLUDED(mu_);

  PeerVerbs& verbs_;
  const PutPair& pair_;
  grpc::ServerContext& context_;
  Stream& stream_;
  storage::Clock& clock_;
  uint64_t last_;  // The storing thread's: the last batch that is on the disk.

  storage::Mutex mu_;
  storage::Condition changed_;
  bool is_in_read_ ABSL_GUARDED_BY(mu_) = true;
  bool all_are_read_ ABSL_GUARDED_BY(mu_) = false;
  bool takes_no_more_ ABSL_GUARDED_BY(mu_) = false;
  std::optional<Arrival> next_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gannet::federation
