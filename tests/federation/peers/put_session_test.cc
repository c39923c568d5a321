// The receiving end of a stream, over loopback: what it does at the same time,
// and how the sender learns of a refusal while the receiver waits for it.
#include "federation/peers/put_session.h"

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "federation/peers/peer_client.h"
#include "federation/peers/peer_server.h"
#include "proto/peers.grpc.pb.h"
#include "storage/mutex.h"
#include "tests/federation/peers/put_only_verbs.h"
#include "tests/simulated_clock.h"

namespace gannet::federation {
namespace {

// Stores the batches that the test lets it store, and remembers which it opened
// and stored.
class ScriptedSite : public PutOnlyVerbs {
 public:
  absl::StatusOr<PutPair> OpenPut(const Caller&, const peers::Greeting&,
                                  peers::PutReply&) override {
    return PutPair{{storage::SiteId{1}, 1}, 1};
  }
  OpenedBatch OpenBatch(const PutPair&, const peers::Batch& batch) override {
    storage::MutexLock lock(&mu_);
    opened_.insert(batch.sequence());
    changed_.SignalAll();
    return {nullptr, storage::Delivery()};
  }
  absl::Status StoreBatch(const PutPair&, const peers::Batch& batch,
                          OpenedBatch, peers::PutReply& reply) override {
    std::function<absl::Status(uint64_t)> take;
    {
      storage::MutexLock lock(&mu_);
      taken_.insert(batch.sequence());
      take = take_;
    }
    if (take) {
      if (absl::Status s = take(batch.sequence()); !s.ok()) return s;
    }
    reply.set_last(batch.sequence());
    return absl::OkStatus();
  }

  void SetTake(std::function<absl::Status(uint64_t sequence)> take) {
    storage::MutexLock lock(&mu_);
    take_ = std::move(take);
  }
  std::set<uint64_t> taken() {
    storage::MutexLock lock(&mu_);
    return taken_;
  }

  bool IsOpened(uint64_t sequence) {
    storage::MutexLock lock(&mu_);
    return opened_.contains(sequence);
  }
  bool AwaitOpened(uint64_t sequence) {
    const absl::Time until = absl::Now() + absl::Seconds(20);
    storage::MutexLock lock(&mu_);
    while (!opened_.contains(sequence) && absl::Now() < until) {
      changed_.WaitFor(&mu_, until - absl::Now());
    }
    return opened_.contains(sequence);
  }

 private:
  storage::Mutex mu_;
  storage::Condition changed_;
  std::function<absl::Status(uint64_t)> take_ ABSL_GUARDED_BY(mu_);
  std::set<uint64_t> opened_ ABSL_GUARDED_BY(mu_);
  std::set<uint64_t> taken_ ABSL_GUARDED_BY(mu_);
};

peers::PutRequest Greeting() {
  peers::PutRequest request;
  request.mutable_greeting()->set_site(1);
  return request;
}

peers::PutRequest Batch(uint64_t sequence) {
  peers::PutRequest request;
  request.mutable_batch()->set_sequence(sequence);
  return request;
}

class PutSessionTest : public testing::Test {
 protected:
  // A stream whose greeting was answered.
  std::unique_ptr<PutStream> Open() {
    std::unique_ptr<PutStream> stream = client_.OpenPut();
    peers::PutReply reply;
    EXPECT_TRUE(stream->Write(Greeting()));
    EXPECT_TRUE(stream->Read(reply));
    return stream;
  }
  // Sends `batches` at once, and expects one answer each, in their order.
  void ExpectAnswers(uint64_t batches) {
    const std::unique_ptr<PutStream> stream = Open();
    for (uint64_t i = 1; i <= batches; ++i) {
      ASSERT_TRUE(stream->Write(Batch(i)));
    }
    for (uint64_t i = 1; i <= batches; ++i) {
      peers::PutReply reply;
      ASSERT_TRUE(stream->Read(reply)) << stream->Finish();
      EXPECT_EQ(reply.last(), i);
    }
  }

  ScriptedSite site_;
  SimulatedClock clock_;  // Nobody is cut off before it is moved on.
  const std::unique_ptr<PeerServer> server_ =
      PeerServer::Start({.address = "127.0.0.1:0"}, site_, clock_).value();
  const std::string address_ = "127.0.0.1:" + std::to_string(server_->port());
  PeerClient client_{ConnectInsecurely(address_, ""), "receiver"};
};

TEST_F(PutSessionTest, TheNextBatchIsOpenedWhileOneIsTaken) {
  site_.SetTake([&](uint64_t sequence) {
    return sequence == 3 || site_.AwaitOpened(sequence + 1)
               ? absl::OkStatus()
               : absl::InternalError("the next was not opened meanwhile");
  });
  ExpectAnswers(3);
}

TEST_F(PutSessionTest, NoMoreThanThreeBatchesAreInMemory) {
  site_.SetTake([&](uint64_t sequence) {
    if (sequence > 1) return absl::OkStatus();
    // One that is being stored, one that waits, one that was just opened.
    EXPECT_TRUE(site_.AwaitOpened(3));
    absl::SleepFor(absl::Milliseconds(100));
    EXPECT_FALSE(site_.IsOpened(4));
    return absl::OkStatus();
  });
  ExpectAnswers(5);
}

TEST_F(PutSessionTest, ASenderThatWaitsIsToldWhyItsBatchWasRefused) {
  site_.SetTake([](uint64_t sequence) {
    return sequence < 2 ? absl::OkStatus() : absl::OutOfRangeError("no 2nd");
  });
  const std::unique_ptr<PutStream> stream = Open();
  ASSERT_TRUE(stream->Write(Batch(1)));
  ASSERT_TRUE(stream->Write(Batch(2)));
  peers::PutReply reply;
  EXPECT_TRUE(stream->Read(reply));
  EXPECT_FALSE(stream->Read(reply));
  EXPECT_TRUE(reply.is_refused());
  EXPECT_EQ(reply.last(), 1u);  // The last that is on the disk.
  const absl::Status status = stream->Finish();
  EXPECT_TRUE(absl::IsOutOfRange(status)) << status;
}

TEST_F(PutSessionTest, ASenderThatOnlyWritesIsToldWhyItsBatchWasRefused) {
  site_.SetTake([](uint64_t) { return absl::OutOfRangeError("no"); });
  const std::unique_ptr<PutStream> stream = Open();
  for (uint64_t i = 1; stream->Write(Batch(i)); ++i) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  const absl::Status status = stream->Finish();
  EXPECT_TRUE(absl::IsOutOfRange(status)) << status;
}

TEST_F(PutSessionTest, NothingIsTakenAfterARefusal) {
  site_.SetTake([&](uint64_t) {
    EXPECT_TRUE(site_.AwaitOpened(2));
    return absl::InvalidArgumentError("no");
  });
  const std::unique_ptr<PutStream> stream = Open();
  for (uint64_t i = 1; i <= 3; ++i) (void)stream->Write(Batch(i));
  peers::PutReply reply;
  EXPECT_FALSE(stream->Read(reply));
  EXPECT_TRUE(absl::IsInvalidArgument(stream->Finish()));
  EXPECT_EQ(site_.taken(), std::set<uint64_t>({1}));
}

TEST_F(PutSessionTest, BatchesBeforeAWrongMessageAreTaken) {
  const std::unique_ptr<PutStream> stream = Open();
  ASSERT_TRUE(stream->Write(Batch(1)));
  ASSERT_TRUE(stream->Write(Greeting()));
  peers::PutReply reply;
  EXPECT_TRUE(stream->Read(reply));
  EXPECT_EQ(reply.last(), 1u);
  EXPECT_FALSE(stream->Read(reply));
  EXPECT_TRUE(absl::IsInvalidArgument(stream->Finish()));
}

TEST_F(PutSessionTest, ASenderThatDoesNotHeedARefusalIsCutOff) {
  site_.SetTake([](uint64_t) { return absl::OutOfRangeError("no"); });
  const auto stub = peers::Peers::NewStub(
      grpc::CreateChannel(address_, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  const auto stream = stub->PutIfAbsent(&context);
  peers::PutReply reply;
  ASSERT_TRUE(stream->Write(Greeting()));
  ASSERT_TRUE(stream->Read(&reply));
  ASSERT_TRUE(stream->Write(Batch(1)));
  ASSERT_TRUE(stream->Read(&reply));
  EXPECT_TRUE(reply.is_refused());
  std::atomic<bool> has_ended = false;
  std::thread waits_for_the_end([&] {
    EXPECT_FALSE(stream->Read(&reply));
    has_ended = true;
  });
  clock_.AwaitWaiters(1);
  clock_.Advance(absl::Milliseconds(4999));
  clock_.Settle(1);
  EXPECT_FALSE(has_ended);
  clock_.Advance(absl::Milliseconds(1));
  waits_for_the_end.join();
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

}  // namespace
}  // namespace gannet::federation
