#include "federation/peers/put_session.h"

#include <chrono>
#include <thread>
#include <utility>

#include "absl/time/time.h"
#include "proto/peers.grpc.pb.h"

namespace gannet::federation {
namespace {

// A sender that does not end the stream after it was told of a refusal is
// broken, or of a version that does not know the word.
constexpr std::chrono::seconds kTimeToEnd{5};

}  // namespace

absl::Status PutSession::Run() {
  absl::Status taken;
  std::thread taker([&] { taken = TakeAll(); });
  const absl::Status read = ReadAll();
  {
    storage::MutexLock lock(&mu_);
    all_are_read_ = true;
    changed_.SignalAll();
  }
  taker.join();
  if (!taken.ok()) return taken;
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
    if (!Hand(std::move(arrival))) return absl::OkStatus();
  }
}

absl::Status PutSession::TakeAll() {
  while (std::optional<Arrival> arrival = Next()) {
    const absl::Status status = Take(*std::move(arrival));
    if (status.ok()) continue;
    {
      storage::MutexLock lock(&mu_);
      takes_no_more_ = true;
      changed_.SignalAll();
    }
    AwaitItsEnd();
    return status;
  }
  return absl::OkStatus();
}

bool PutSession::Read(peers::PutRequest& request) {
  const auto set_in_read = [this](bool is_in_read) {
    storage::MutexLock lock(&mu_);
    is_in_read_ = is_in_read;
    changed_.SignalAll();
  };
  set_in_read(true);
  const bool has_come = stream_.Read(&request);
  set_in_read(false);
  return has_come;
}

bool PutSession::Hand(Arrival arrival) {
  storage::MutexLock lock(&mu_);
  while (next_.has_value() && !takes_no_more_) changed_.Wait(&mu_);
  if (takes_no_more_) return false;
  next_ = std::move(arrival);
  changed_.SignalAll();
  return true;
}

std::optional<PutSession::Arrival> PutSession::Next() {
  storage::MutexLock lock(&mu_);
  while (!next_.has_value() && !all_are_read_) changed_.Wait(&mu_);
  changed_.SignalAll();
  return std::exchange(next_, std::nullopt);
}

absl::Status PutSession::Take(Arrival arrival) {
  peers::PutReply reply;
  const absl::Status status = verbs_.Take(pair_, arrival.request.batch(),
                                          std::move(arrival.opened), reply);
  reply.set_is_refused(!status.ok());
  const bool is_told = stream_.Write(reply);
  if (status.ok() && !is_told) {
    return absl::CancelledError("the stream has ended");
  }
  return status;
}

// A status can be sent only when nobody reads any more.
void PutSession::AwaitItsEnd() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point until = Clock::now() + kTimeToEnd;
  storage::MutexLock lock(&mu_);
  while (is_in_read_ && Clock::now() < until) {
    changed_.WaitFor(&mu_, absl::FromChrono(until - Clock::now()));
  }
  if (is_in_read_) context_.TryCancel();
}

}  // namespace gannet::federation
