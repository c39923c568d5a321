// Sites that begin another life, or have old maps, and streams that go on from
// the life before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "federation/exchange/batch_codec.h"
#include "federation/exchange/greeting.h"
#include "federation/peers/peer_client.h"
#include "federation/peers/put_turns.h"
#include "tests/federation/member/test_federation.h"

namespace gannet::federation {
namespace {

using storage::SiteId;
using testing::HasSubstr;

class RebirthTest : public FederationTest {
 protected:
  static bool IsInTheMapOf(TestSite& other, TestSite& site) {
    const proto::MapSite* known =
        FindSite(other->maps().view()->map(), site.name());
    return known != nullptr &&
           known->incarnation() ==
               site.db().records().identity()->incarnation();
  }
  // A page of `to` that `from` has, and hands over.
  bool Arrives(TestSite& from, TestSite& to, int number) {
    const std::string url = UrlOf(to, number);
    EXPECT_TRUE(from.db().incoming().Inject({{KeyOf(url)}}, absl::Now()).ok());
    from->OnForeignPages();
    return Becomes([&] { return Knows(to, url); });
  }
};

// --- Registrars that were restored -------------------------------------------

TEST_F(RebirthTest, ARestoredRegistrarDoesNothingByItsOldMap) {
  StartSites(2);
  TestSite restored({.of = tokyo(), .has_own_address = true});
  ASSERT_TRUE(restored.db().incoming().Reincarnate().ok());
  ASSERT_TRUE(tokyo().Invite("oslo").ok());
  ASSERT_TRUE(Becomes([&] { return paris().epoch() == tokyo().epoch(); }));
  tokyo().Stop();
  restored.rules.set_filters("others");  // It is not let in.
  restored.Start();
  const absl::Status refused = restored.Invite("rome");
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("was restored"));
  // Nobody has told it of the newer map: it has asked.
  EXPECT_EQ(restored.epoch(), paris().epoch());
  const absl::Status adopted = restored->follower().Adopt().status();
  EXPECT_TRUE(absl::IsFailedPrecondition(adopted)) << adopted;
  EXPECT_THAT(std::string(adopted.message()), HasSubstr("was restored"));
  EXPECT_EQ(restored.epoch(), paris().epoch());
}

TEST_F(RebirthTest, ARestoredRegistrarIsLetInByTheOthers) {
  StartSites(2);
  const std::string old_map = tokyo().db().records().GetNote("map").value();
  ASSERT_TRUE(tokyo().Invite("oslo").ok());
  ASSERT_TRUE(Becomes([&] { return paris().epoch() == tokyo().epoch(); }));
  tokyo().Stop();
  ASSERT_TRUE(tokyo().db().records().PutNote("map", old_map).ok());
  ASSERT_TRUE(tokyo().db().incoming().Reincarnate().ok());
  tokyo().Start();
  EXPECT_TRUE(Becomes([&] { return IsInTheMapOf(paris(), tokyo()); }));
  EXPECT_TRUE(Becomes([&] { return tokyo().Invite("rome").ok(); }));
  EXPECT_NE(FindSite(tokyo()->maps().view()->map(), "oslo"), nullptr);
}

// --- Removals that are undone ------------------------------------------------

// tokyo is cut off from the two others, and takes lima for dead; paris takes
// tokyo for dead, adopts the role, and has lima all the time.
TEST_F(RebirthTest, WhoTookPartInARemovalThatIsUndoneBeginsAnotherLife) {
  StartSites(3);
  const SiteId lima_id{3};
  ASSERT_TRUE(Arrives(tokyo(), lima(), 0));
  ASSERT_TRUE(Becomes([&] {  // lima has told it so.
    return tokyo().db().outgoing().sent_pair(lima_id)->acknowledged() > 0;
  }));
  const uint64_t life = tokyo().db().records().identity()->incarnation();
  const Map map = paris()->maps().view()->map();
  paris().Stop();
  lima().Stop();
  ASSERT_TRUE(tokyo()
                  .Change([](const Map& map) {
                    return federation::Remove(map, "lima");
                  })
                  .ok());
  ASSERT_TRUE(Becomes(
      [&] { return tokyo().db().outgoing().sent_pair(lima_id)->cut() == 0; }));

  const Map adopted = federation::Adopt(map, "paris", map.epoch()).value();
  ASSERT_TRUE(
      paris().db().records().PutNote("map", adopted.SerializeAsString()).ok());
  paris().Start();
  ASSERT_TRUE(Becomes([&] { return tokyo().Noted("removal_undone") == 1; }));
  lima().Start();
  EXPECT_TRUE(Becomes([&] {
    return tokyo().db().records().identity()->incarnation() != life &&
           IsInTheMapOf(paris(), tokyo()) && IsInTheMapOf(lima(), tokyo());
  }));
  EXPECT_TRUE(Arrives(tokyo(), lima(), 1));
  EXPECT_TRUE(Arrives(lima(), tokyo(), 0));
  EXPECT_EQ(tokyo().Noted("removal_undone"), 1);
  // The others have seen no removal.
  EXPECT_EQ(paris().Noted("removal_undone"), 0);
  EXPECT_EQ(lima().Noted("removal_undone"), 0);
}

// --- Rules -------------------------------------------------------------------

TEST_F(RebirthTest, ASiteThatHasTheOldRulesGetsNothingUntilItHasTheNew) {
  StartSites(2);
  proto::MapRules rules;
  rules.set_filters("others");
  ASSERT_TRUE(tokyo()
                  .Change([&](const Map& map) {
                    return federation::SetRules(map, rules);
                  })
                  .ok());
  ASSERT_TRUE(Becomes([&] { return paris().epoch() == tokyo().epoch(); }));
  const std::string url = UrlOf(paris());
  ASSERT_TRUE(tokyo().db().incoming().Inject({{KeyOf(url)}}, absl::Now()).ok());
  tokyo()->OnForeignPages();
  ASSERT_TRUE(Becomes([&] {
    return tokyo()->Snapshot().neighbours.at(2).error.find("the filters") !=
           std::string::npos;
  }));
  EXPECT_FALSE(Knows(paris(), url));
  EXPECT_EQ(paris()->Snapshot().received.refused, 0u);
  paris().Stop();
  paris().rules = rules;
  paris().Start();
  EXPECT_TRUE(Becomes([&] { return Knows(paris(), url); }));
}

// --- Streams -----------------------------------------------------------------

// tokyo, and a voice that speaks for paris, which has stopped.
class StreamsTest : public RebirthTest {
 protected:
  void SetUp() override {
    StartSites(2);
    greeting_ = MakeGreeting(*paris()->maps().view(),
                             paris().db().records().identity()->incarnation())
                    .value();
    greeting_.set_process(1234);
    client_ = std::make_unique<PeerClient>(
        ConnectInsecurely(tokyo().address(), "tokyo"), "tokyo");
    paris().Stop();
    ASSERT_TRUE(Becomes([&] {
      peers::BeatRequest request;
      *request.mutable_greeting() = greeting_;
      peers::BeatReply reply;
      return client_->Beat(request, reply, absl::Seconds(20)).ok();
    }));
  }

  std::unique_ptr<PutStream> Open(uint64_t* last = nullptr) {
    std::unique_ptr<PutStream> stream = client_->OpenPut();
    peers::PutRequest request;
    *request.mutable_greeting() = greeting_;
    peers::PutReply reply;
    EXPECT_TRUE(stream->Write(request));
    EXPECT_TRUE(stream->Read(reply));
    if (last != nullptr) *last = reply.last();
    return stream;
  }
  // One URL, of tokyo; whether it is acknowledged.
  bool Send(PutStream& stream, uint64_t sequence) {
    storage::FoundUrl url;
    url.page = KeyOf(UrlOf(tokyo()));
    peers::PutRequest request;
    peers::Batch& batch = *request.mutable_batch();
    batch.set_sequence(sequence);
    batch.set_term(greeting_.term());
    batch.set_epoch(greeting_.epoch());
    batch.set_urls(EncodeBatch({{url}}).value());
    batch.set_cash_so_far(CashSoFar());
    peers::PutReply reply;
    return stream.Write(request) && stream.Read(reply) &&
           reply.last() == sequence;
  }
  int64_t CashSoFar() {
    return tokyo()
        .db()
        .incoming()
        .received_pair({SiteId{greeting_.site()}, greeting_.incarnation()})
        ->cash();
  }

  peers::Greeting greeting_;
  std::unique_ptr<PeerClient> client_;
};

TEST_F(StreamsTest, AStreamToTheLifeBeforeBringsNothingIntoTheNewOne) {
  const std::unique_ptr<PutStream> stream = Open();
  ASSERT_TRUE(tokyo().db().incoming().Reincarnate().ok());
  // Just what the new life would take from it.
  ASSERT_FALSE(Send(*stream, 1));
  const absl::Status ended = stream->Finish();
  EXPECT_TRUE(absl::IsFailedPrecondition(ended)) << ended;
  EXPECT_EQ(tokyo().db().totals().KnownPages(), 0);
}

TEST_F(StreamsTest, ANewStreamOfASiteEndsTheOneBefore) {
  const std::unique_ptr<PutStream> first = Open();
  uint64_t last = 0;
  const std::unique_ptr<PutStream> second = Open(&last);
  ASSERT_FALSE(Send(*first, last + 1));
  EXPECT_FALSE(first->Finish().ok());
  EXPECT_TRUE(Send(*second, last + 1));
  EXPECT_TRUE(Send(*second, last + 2));
}

// However many a broken site opens: one is read, one waits, the rest are over.
TEST(PutTurnsTest, AStreamWaitsForTheEndOfTheOneBeforeUnlessANewerComes) {
  PutTurns turns;
  std::atomic<int> ended = 0;
  const auto end = [&ended] { ++ended; };
  auto first = turns.Begin(SiteId{1}, end);
  ASSERT_TRUE(first.has_value());
  EXPECT_TRUE(turns.Begin(SiteId{2}, end).has_value());
  EXPECT_EQ(ended, 0);

  bool second_has_begun = true;
  std::atomic<bool> third_has_begun = false;
  std::thread second(
      [&] { second_has_begun = turns.Begin(SiteId{1}, end).has_value(); });
  EXPECT_TRUE(Becomes([&] { return ended == 1; }));
  std::thread third([&] {
    const auto turn = turns.Begin(SiteId{1}, end);
    third_has_begun = turn.has_value();
  });
  second.join();
  EXPECT_FALSE(second_has_begun);
  EXPECT_EQ(ended, 2);
  EXPECT_FALSE(third_has_begun);
  first.reset();
  third.join();
  EXPECT_TRUE(third_has_begun);
  // Whose turn is over is told nothing more.
  EXPECT_TRUE(turns.Begin(SiteId{1}, end).has_value());
  EXPECT_EQ(ended, 2);
}

}  // namespace
}  // namespace gannet::federation
