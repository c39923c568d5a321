// What a stranger, or a broken site, may say on an open line, and what it gets:
// a clear refusal, a count, and nothing in the crawl DB. With certificates and
// real processes: tests/faults/strangers_test.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "federation/exchange/batch_codec.h"
#include "federation/exchange/greeting.h"
#include "federation/exchange/zstd_frame.h"
#include "federation/peers/peer_client.h"
#include "tests/federation/member/test_federation.h"

namespace gannet::federation {
namespace {

using testing::HasSubstr;

// tokyo and paris; paris stops, and a stranger speaks in its place.
class StrangersTest : public FederationTest {
 protected:
  void SetUp() override {
    StartSites(2);
    greeting_ = MakeGreeting(*paris()->maps().view(),
                             paris().db().records().identity()->incarnation())
                    .value();
    greeting_.set_process(1234);
    client_ = std::make_unique<PeerClient>(
        ConnectInsecurely(tokyo().address(), "tokyo"), "tokyo");
  }

  // Its voice is believed once the true one has been silent for a while.
  void TakeThePlaceOfParis() {
    paris().Stop();
    ASSERT_TRUE(Becomes([&] { return Beat(greeting_).ok(); }));
  }

  absl::Status Beat(const peers::Greeting& greeting) {
    peers::BeatRequest request;
    *request.mutable_greeting() = greeting;
    peers::BeatReply reply;
    return client_->Beat(request, reply, absl::Seconds(20));
  }

  // Greets, sends, and reads until the stream ends. `last` is what tokyo says
  // that it has.
  absl::Status Put(const std::vector<peers::Batch>& batches,
                   uint64_t* last = nullptr) {
    const std::unique_ptr<PutStream> stream = client_->OpenPut();
    peers::PutRequest request;
    *request.mutable_greeting() = greeting_;
    peers::PutReply reply;
    if (!stream->Write(request) || !stream->Read(reply)) {
      return stream->Finish();
    }
    for (const peers::Batch& batch : batches) {
      *request.mutable_batch() = batch;
      if (!stream->Write(request) || !stream->Read(reply)) {
        return stream->Finish();
      }
      if (last != nullptr) *last = reply.last();
    }
    return absl::OkStatus();
  }

  peers::Batch BatchOf(uint64_t sequence, const std::string& urls,
                       int64_t cash_so_far = 0) {
    peers::Batch batch;
    batch.set_sequence(sequence);
    batch.set_term(greeting_.term());
    batch.set_epoch(greeting_.epoch());
    batch.set_cash_so_far(cash_so_far);
    batch.set_urls(urls);
    return batch;
  }
  // One URL, of tokyo.
  std::string GoodUrls() {
    storage::FoundUrl url;
    url.page = KeyOf(UrlOf(tokyo()));
    url.cash = 5;
    return EncodeBatch({{url}}).value();
  }
  // One row with any key at all: EncodeBatch would refuse it.
  static std::string Row(std::string_view key) {
    std::string row("\x01\x00\x01\x00", 4);
    row += key;
    return row + std::string("\x00\x05\x01\x00", 4);
  }

  // The next batch that tokyo would take.
  uint64_t Next() {
    return tokyo()
               .db()
               .incoming()
               .received_pair(
                   {storage::SiteId{greeting_.site()}, greeting_.incarnation()})
               ->last() +
           1;
  }
  uint64_t refused_calls() { return tokyo()->Snapshot().refused_calls; }
  uint64_t refused_batches() { return tokyo()->Snapshot().received.refused; }

  // Whatever was said: tokyo is well, and knows nothing new.
  void ExpectUntouched() {
    const auto checks = tokyo().db().checks().Verify(/*full=*/true);
    ASSERT_TRUE(checks.ok()) << checks.status();
    for (const auto& check : *checks) {
      EXPECT_TRUE(check.ok) << check.name << check.detail;
    }
    EXPECT_EQ(tokyo().db().totals().KnownPages(), 0);
  }

  peers::Greeting greeting_;
  std::unique_ptr<PeerClient> client_;
};

TEST_F(StrangersTest, AForgedGreetingIsRefusedAndCounted) {
  TakeThePlaceOfParis();
  ASSERT_TRUE(tokyo().Invite("oslo").ok());
  const Map map = tokyo()->maps().view()->map();
  struct Case {
    const char* what;
    std::function<void(peers::Greeting&)> forge;
    absl::StatusCode code;
    const char* says;
  };
  const std::vector<Case> cases = {
      {"another federation", [](auto& g) { g.set_federation(7); },
       absl::StatusCode::kFailedPrecondition, "another federation"},
      {"a site that is not in the map", [](auto& g) { g.set_site(77); },
       absl::StatusCode::kPermissionDenied, "not in the map"},
      {"a site that was only invited",
       [&](auto& g) { g.set_site(FindSite(map, "oslo")->id()); },
       absl::StatusCode::kPermissionDenied, "not in the map"},
      {"another life", [](auto& g) { g.set_incarnation(g.incarnation() + 1); },
       absl::StatusCode::kPermissionDenied, "another incarnation"},
      {"a protocol that is to come",
       [](auto& g) {
         g.set_protocol(99);
         g.set_oldest_protocol(99);
       },
       absl::StatusCode::kUnimplemented, "upgrade the older"},
      {"no protocol", [](auto& g) { g.Clear(); },
       absl::StatusCode::kUnimplemented, "protocol"},
      {"the site itself",
       [&](auto& g) {
         const proto::MapSite* self = FindSite(map, "tokyo");
         g.set_site(self->id());
         g.set_incarnation(self->incarnation());
       },
       absl::StatusCode::kPermissionDenied,
       "the caller says that it is this site"},
      {"a second process", [](auto& g) { g.set_process(g.process() + 1); },
       absl::StatusCode::kAlreadyExists, ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    peers::Greeting forged = greeting_;
    c.forge(forged);
    const uint64_t before = refused_calls();
    const absl::Status beat = Beat(forged);
    EXPECT_EQ(beat.code(), c.code) << beat;
    EXPECT_THAT(std::string(beat.message()), HasSubstr(c.says));
    EXPECT_EQ(refused_calls(), before + 1);

    std::swap(greeting_, forged);
    const absl::Status put = Put({BatchOf(1, GoodUrls(), 5)});
    std::swap(greeting_, forged);
    EXPECT_EQ(put.code(), c.code) << put;
    EXPECT_EQ(refused_calls(), before + 2);

    peers::CompareAndSwapMapRequest swap;
    *swap.mutable_greeting() = forged;
    swap.set_expected_term(map.term());
    swap.set_expected_epoch(map.epoch());
    peers::MapReply reply;
    EXPECT_EQ(client_->CompareAndSwapMap(swap, reply).code(), c.code);
    peers::VerifyRequest verify;
    *verify.mutable_greeting() = forged;
    peers::VerifyReply verified;
    EXPECT_EQ(client_->Verify(verify, verified).code(), c.code);
    peers::CountMovesRequest count;
    *count.mutable_greeting() = forged;
    peers::MoveCounts counts;
    EXPECT_EQ(client_->CountMoves(count, counts).code(), c.code);
    EXPECT_EQ(refused_calls(), before + 5);
  }
  EXPECT_EQ(tokyo().epoch(), map.epoch());
  ExpectUntouched();
}

TEST_F(StrangersTest, AMapOfTheFutureIsNotBelievedWithoutItsMap) {
  TakeThePlaceOfParis();
  const uint64_t epoch = tokyo().epoch();
  peers::Greeting forged = greeting_;
  forged.set_term(1000);
  forged.set_epoch(1'000'000);
  (void)Beat(forged);
  peers::Batch batch = BatchOf(Next(), GoodUrls(), 5);
  batch.set_epoch(1'000'000);
  EXPECT_FALSE(Put({batch}).ok());
  EXPECT_EQ(tokyo().epoch(), epoch);
  ExpectUntouched();
}

TEST_F(StrangersTest, AMapThatDoesNotFollowIsNotTaken) {
  TakeThePlaceOfParis();
  const Map map = tokyo()->maps().view()->map();
  peers::CompareAndSwapMapRequest swap;
  *swap.mutable_greeting() = greeting_;
  swap.set_expected_term(map.term());
  swap.set_expected_epoch(map.epoch());
  peers::MapReply reply;
  // None at all; then this one, 5 epochs on.
  EXPECT_FALSE(client_->CompareAndSwapMap(swap, reply).ok());
  *swap.mutable_next() = map;
  swap.mutable_next()->set_epoch(map.epoch() + 5);
  EXPECT_FALSE(client_->CompareAndSwapMap(swap, reply).ok());
  EXPECT_EQ(tokyo().epoch(), map.epoch());
}

TEST_F(StrangersTest, NamesThatAreNoNamesMayNotJoin) {
  for (const std::string& name :
       {std::string(), std::string("../oslo"), std::string("os\nlo"),
        std::string(100'000, 'x'), std::string("tokyo")}) {
    peers::JoinRequest request;
    request.set_protocol(kProtocol);
    request.set_oldest_protocol(kOldestProtocol);
    request.mutable_site()->set_name(name);
    request.mutable_site()->set_incarnation(9);
    request.mutable_site()->set_address("127.0.0.1:9");
    request.mutable_site()->set_capacity(1);
    const uint64_t before = refused_calls();
    peers::MapReply reply;
    EXPECT_FALSE(client_->Join(request, reply).ok()) << name.substr(0, 10);
    EXPECT_GT(refused_calls(), before);
  }
  EXPECT_TRUE(AllAgree());
}

TEST_F(StrangersTest, ASiteIsNotLetInAtItsOwnDoor) {
  const proto::MapSite self = *FindSite(tokyo()->maps().view()->map(), "tokyo");
  peers::JoinRequest request;
  request.set_protocol(kProtocol);
  request.set_oldest_protocol(kOldestProtocol);
  *request.mutable_site() = self;
  request.mutable_site()->set_address("127.0.0.1:9");
  request.set_process(1234);
  const uint64_t before = refused_calls();
  peers::MapReply reply;
  const absl::Status status = client_->Join(request, reply);
  EXPECT_TRUE(absl::IsAlreadyExists(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("'tokyo' itself"));
  EXPECT_GT(refused_calls(), before);
  EXPECT_EQ(FindSite(tokyo()->maps().view()->map(), "tokyo")->address(),
            self.address());
}

TEST_F(StrangersTest, AStreamThatDoesNotGreetIsEnded) {
  const std::unique_ptr<PutStream> stream = client_->OpenPut();
  peers::PutRequest request;
  *request.mutable_batch() = BatchOf(1, GoodUrls(), 5);
  const uint64_t before = refused_calls();
  peers::PutReply reply;
  (void)stream->Write(request);
  EXPECT_FALSE(stream->Read(reply));
  EXPECT_TRUE(absl::IsInvalidArgument(stream->Finish()));
  EXPECT_EQ(refused_calls(), before + 1);
  ExpectUntouched();
}

TEST_F(StrangersTest, AStreamThatGreetsTwiceIsEnded) {
  TakeThePlaceOfParis();
  const std::unique_ptr<PutStream> stream = client_->OpenPut();
  peers::PutRequest request;
  *request.mutable_greeting() = greeting_;
  const uint64_t before = refused_calls();
  peers::PutReply reply;
  ASSERT_TRUE(stream->Write(request));
  ASSERT_TRUE(stream->Read(reply));
  (void)stream->Write(request);
  EXPECT_FALSE(stream->Read(reply));
  EXPECT_TRUE(absl::IsInvalidArgument(stream->Finish()));
  EXPECT_EQ(refused_calls(), before + 1);
  ExpectUntouched();
}

TEST_F(StrangersTest, ForgedSequenceNumbersChangeNothing) {
  TakeThePlaceOfParis();
  const uint64_t next = Next();
  for (const uint64_t sequence : {next + 1, next + 1000, ~uint64_t{0}}) {
    const uint64_t before = refused_batches();
    const absl::Status status = Put({BatchOf(sequence, GoodUrls(), 5)});
    EXPECT_TRUE(absl::IsOutOfRange(status)) << status;
    EXPECT_EQ(refused_batches(), before + 1);
  }
  // One that came before is acknowledged, and not taken again.
  uint64_t last = 99;
  EXPECT_TRUE(Put({BatchOf(0, GoodUrls(), 5)}, &last).ok());
  EXPECT_EQ(last, next - 1);
  ExpectUntouched();
  EXPECT_EQ(Next(), next);

  // The right one is taken, once.
  const int64_t before = tokyo()
                             .db()
                             .incoming()
                             .received_pair({storage::SiteId{greeting_.site()},
                                             greeting_.incarnation()})
                             ->cash();
  const peers::Batch good = BatchOf(next, GoodUrls(), before + 5);
  EXPECT_TRUE(Put({good, good}, &last).ok());
  EXPECT_EQ(last, next);
  EXPECT_EQ(tokyo().db().totals().KnownPages(), 1);
}

TEST_F(StrangersTest, CashThatDoesNotAddUpIsRefused) {
  TakeThePlaceOfParis();
  for (const int64_t cash : {int64_t{4}, int64_t{-1}, int64_t{1} << 62}) {
    const uint64_t before = refused_batches();
    EXPECT_FALSE(Put({BatchOf(Next(), GoodUrls(), cash)}).ok()) << cash;
    EXPECT_EQ(refused_batches(), before + 1);
  }
  ExpectUntouched();
}

TEST_F(StrangersTest, AMessageBeyondTheLimitIsNotReadAtAll) {
  TakeThePlaceOfParis();
  const uint64_t cut = tokyo()->Snapshot().cut_streams;
  const absl::Status status =
      Put({BatchOf(Next(), std::string(kMostPeerMessageBytes + 1, '\x01'), 0)});
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("larger than max"));
  EXPECT_TRUE(Becomes([&] { return tokyo()->Snapshot().cut_streams > cut; }));
  // The first word of a stream: nobody knows whose it is.
  const uint64_t before = refused_calls();
  const std::unique_ptr<PutStream> stream = client_->OpenPut();
  peers::PutRequest request;
  *request.mutable_batch() =
      BatchOf(1, std::string(kMostPeerMessageBytes + 1, '\x01'));
  peers::PutReply reply;
  (void)stream->Write(request);
  EXPECT_FALSE(stream->Read(reply));
  EXPECT_FALSE(stream->Finish().ok());
  EXPECT_TRUE(Becomes([&] { return refused_calls() == before + 1; }));
  ExpectUntouched();
  EXPECT_TRUE(Beat(greeting_).ok());
}

TEST_F(StrangersTest, ASmallBatchThatUnpacksToALotIsRefused) {
  TakeThePlaceOfParis();
  const std::string frame =
      CompressZstd(std::string(size_t{1} << 30, '\0'), /*level=*/1);
  ASSERT_LT(frame.size(), size_t{kMostPeerMessageBytes});
  uint64_t before = refused_batches();
  absl::Status status =
      Put({BatchOf(Next(), std::string("\x01\x01", 2) + frame)});
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("unpacks to more"));
  EXPECT_EQ(refused_batches(), before + 1);

  peers::Batch moved = BatchOf(Next(), "");
  moved.set_moved(frame);
  status = Put({moved});
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(refused_batches(), before + 2);
  ExpectUntouched();
}

TEST_F(StrangersTest, WhatIsNoUrlIsRefusedWithItsBatch) {
  TakeThePlaceOfParis();
  for (const std::string& urls :
       {std::string("junk"), std::string(), Row("not a url"), Row(")"),
        Row("javascript:alert(1)"), Row(std::string(2 << 20, 'a')),
        std::string("\x01\x00\xff\xff\xff\xff\x0f", 7)}) {
    const uint64_t before = refused_batches();
    const absl::Status status = Put({BatchOf(Next(), urls, 5)});
    EXPECT_FALSE(status.ok()) << urls.substr(0, 20);
    EXPECT_FALSE(absl::IsUnavailable(status)) << status;
    EXPECT_EQ(refused_batches(), before + 1) << urls.substr(0, 20);
  }
  ExpectUntouched();
}

TEST_F(StrangersTest, AUrlThatTheRulesDoNotAcceptIsDroppedAndItsCashCounted) {
  TakeThePlaceOfParis();
  const uint64_t before = tokyo()->Snapshot().received.filtered;
  const std::string deep(4000, 'a');  // urls.max_bytes is 2048.
  const absl::Status status =
      Put({BatchOf(Next(), Row("example,host,)http/" + deep), 5)});
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(tokyo()->Snapshot().received.filtered, before + 1);
  ExpectUntouched();
}

TEST_F(StrangersTest, MovedPagesThatCannotBeAreRefused) {
  TakeThePlaceOfParis();
  peers::MovedPages pages;
  proto::MovedPage& page = *pages.add_pages();
  page.set_page(KeyOf(UrlOf(tokyo())).bytes);
  page.mutable_record()->set_cash(-5);
  peers::Batch batch = BatchOf(Next(), "", -5);
  batch.set_moved(CompressZstd(pages.SerializeAsString(), 3));
  uint64_t before = refused_batches();
  EXPECT_TRUE(absl::IsInvalidArgument(Put({batch})));
  batch.set_moved("junk");
  EXPECT_TRUE(absl::IsInvalidArgument(Put({batch})));
  // Complete for a change that is to come.
  batch = BatchOf(Next(), "");
  batch.set_complete_for(Stamp(greeting_.term(), greeting_.epoch() + 1));
  EXPECT_TRUE(absl::IsInvalidArgument(Put({batch})));
  EXPECT_EQ(refused_batches(), before + 3);
  ExpectUntouched();
}

}  // namespace
}  // namespace gannet::federation
