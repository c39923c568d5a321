#include "federation/peers/put_session.h"

#include <thread>
#include <utility>

#include "absl/time/time.h"
#include "proto/peers.grpc.pb.h"

namespace gannet::federation {
namespace {

// A sender that has not ended the stream so long after a refusal is faulty, of
// a version that does not know the reply, or does not receive. It is cut off
// without a status.
constexpr absl::Duration kTimeToEnd = absl::Seconds(5);

}  // namespace

absl::Status PutSession::Run() {
  absl::Status stored;
  std::thread storing([&] { stored = StoreAll(); });
  const absl::Status read = ReadAll();
  {
    storage::MutexLock lock(&mu_);
    all_are_read_ = true;
    changed_.SignalAll();
  }
  storing.join();
  if (!stored.ok()) return stored;
  return read.ok() ? read : verbs_.RefuseStream(read);
}

absl::Status PutSession::ReadAll() {
  for (;;) {
    Arrival arrival;
    if (!Read(arrival.request)) return absl::OkStatus();
    if (!arrival.request.has_batch()) {
      return absl::InvalidArgumentError(
          "after the greeting there are only batches");
    }
    arrival.opened = verbs_.OpenBatch(pair_, arrival.request.batch());
    if (!Enqueue(std::move(arrival))) return absl::OkStatus();
  }
}

absl::Status PutSession::StoreAll() {
  while (std::optional<Arrival> arrival = Next()) {
    const absl::StatusOr<bool> is_told = StoreArrival(*std::move(arrival));
    if (is_told.ok() && *is_told) continue;
    StopAccepting();
    if (is_told.ok()) break;  // The stream has ended; the reader will see it.
    WaitForReader();
    return is_told.status();
  }
  return absl::OkStatus();
}

bool PutSession::Read(peers::PutRequest& request) {
  const bool has_come = stream_.Read(&request);
  storage::MutexLock lock(&mu_);
  is_in_read_ = false;
  changed_.SignalAll();
  return has_come;
}

void PutSession::StopAccepting() {
  storage::MutexLock lock(&mu_);
  takes_no_more_ = true;
  changed_.SignalAll();
}

bool PutSession::Enqueue(Arrival arrival) {
  storage::MutexLock lock(&mu_);
  while (next_.has_value() && !takes_no_more_) changed_.Wait(&mu_);
  if (takes_no_more_) return false;
  next_ = std::move(arrival);
  is_in_read_ = true;
  changed_.SignalAll();
  return true;
}

std::optional<PutSession::Arrival> PutSession::Next() {
  storage::MutexLock lock(&mu_);
  while (!next_.has_value() && !all_are_read_) changed_.Wait(&mu_);
  changed_.SignalAll();
  return std::exchange(next_, std::nullopt);
}

absl::StatusOr<bool> PutSession::StoreArrival(Arrival arrival) {
  peers::PutReply reply;
  const absl::Status status = verbs_.StoreBatch(
      pair_, arrival.request.batch(), std::move(arrival.opened), reply);
  if (status.ok()) {
    last_ = reply.last();
    return stream_.Write(reply);
  }
  reply.set_last(last_);
  reply.set_is_refused(true);
  stream_.Write(reply);
  return status;
}

// A status can be sent only when no thread reads from the stream any more.
void PutSession::WaitForReader() {
  const absl::Time until = clock_.SteadyNow() + kTimeToEnd;
  storage::MutexLock lock(&mu_);
  while (is_in_read_ && clock_.SteadyNow() < until) {
    clock_.WaitUntil(changed_, &mu_, until);
  }
  if (is_in_read_) context_.TryCancel();
}

}  // namespace gannet::federation
