// How a site gets into a map that one of the sites keeps, step by step and in
// simulated time: a script answers instead of the others.
#include "federation/member/registrar_follower.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/federation/member/test_own_site.h"

namespace gannet::federation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RegistrarFollowerTest : public testing::Test {
 protected:
  void Start(const std::string& door) {
    follower_ = std::make_unique<RegistrarFollower>(
        site_.own(), losses_, door,
        [this](const std::string& address, const std::string&,
               const peers::JoinRequest& request) {
          asked_.push_back(address);
          asked_at_.push_back(site_.clock.SteadyNow());
          requests_.push_back(request);
          return answer_(address);
        },
        registrar_, neighbours_, [this](const MapView&) { return all_done_; });
  }
  // As the watch does, for so long. Returns what it said last.
  std::string StepFor(absl::Duration time) {
    std::string said;
    for (absl::Duration t; t < time; t += absl::Milliseconds(100)) {
      said = follower_->Step();
      says_.insert(said);
      site_.clock.Advance(absl::Milliseconds(100));
    }
    return said;
  }
  void AnswerWith(absl::StatusOr<Map> answer) {
    answer_ = [answer](const std::string&) { return answer; };
  }

  // tokyo's, with so many of the others in it, and nothing that moves.
  static Map MapOf(const std::vector<Applicant>& others) {
    Map map = FoundFederation(TestOwnSite::Other("tokyo"), 9, {}, true).value();
    for (const Applicant& other : others) {
      map = federation::Join(Invite(map, other.name).value(), other).value();
      map = FinishHandOff(map).value();
    }
    return map;
  }
  // paris is let in, as it asks by now, after it was removed from that map.
  Map LetIn(const Map& map) {
    return FinishHandOff(federation::Join(Invite(map, "paris").value(),
                                          site_.own().AsApplicant())
                             .value())
        .value();
  }

  TestOwnSite site_{"paris"};
  Losses losses_{*site_.db};
  Neighbours neighbours_{
      site_.own(), [] { return peers::Condition(); }, {}, ConnectInsecurely};
  RegistrarMap registrar_{site_.own(), neighbours_};
  bool all_done_ = false;
  std::function<absl::StatusOr<Map>(const std::string& address)> answer_;
  std::vector<std::string> asked_;
  std::vector<absl::Time> asked_at_;
  std::vector<peers::JoinRequest> requests_;
  std::set<std::string> says_;
  std::unique_ptr<RegistrarFollower> follower_;
};

TEST_F(RegistrarFollowerTest, ASiteWithNoMapAndNobodyToAskFoundsAFederation) {
  Start("");
  EXPECT_EQ(StepFor(absl::Seconds(1)), "");
  ASSERT_NE(site_.maps.view(), nullptr);
  EXPECT_EQ(site_.maps.view()->map().epoch(), 1);
  EXPECT_EQ(site_.maps.view()->map().registrar(),
            site_.maps.view()->self()->id());
  EXPECT_EQ(site_.noted["federation_founded"], 1);
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(RegistrarFollowerTest, ASiteThatHasSomebodyToAskFoundsNone) {
  Start("door:1");
  AnswerWith(absl::UnavailableError("nobody is there"));
  EXPECT_EQ(StepFor(absl::Seconds(1)), "nobody is there");
  EXPECT_EQ(site_.maps.view(), nullptr);
  // As soon as it is let in, it has nothing to complain of.
  AnswerWith(MapOf({site_.own().AsApplicant()}));
  EXPECT_EQ(StepFor(absl::Seconds(3)), "");
  EXPECT_EQ(site_.noted["federation_joined"], 1);
}

TEST_F(RegistrarFollowerTest, WhoIsRefusedAsksEverMoreSeldom) {
  Start("door:1");
  AnswerWith(absl::PermissionDeniedError("not invited"));
  StepFor(absl::Minutes(20));
  ASSERT_GE(asked_.size(), 12u);
  absl::Duration longest = absl::Seconds(2);
  for (size_t i = 1; i < asked_at_.size(); ++i) {
    const absl::Duration gap = asked_at_[i] - asked_at_[i - 1];
    EXPECT_GE(gap, longest / 2) << i;
    EXPECT_LE(gap, longest + absl::Milliseconds(100)) << i;
    longest = std::min(2 * longest, absl::Minutes(2));
  }
  EXPECT_EQ(longest, absl::Minutes(2));
}

TEST_F(RegistrarFollowerTest, WhoReachesNobodyGoesOnAskingEveryFewSeconds) {
  Start("door:1");
  AnswerWith(absl::UnavailableError("nobody is there"));
  StepFor(absl::Minutes(10));
  for (size_t i = 1; i < asked_at_.size(); ++i) {
    EXPECT_GE(asked_at_[i] - asked_at_[i - 1], absl::Seconds(1));
    EXPECT_LE(asked_at_[i] - asked_at_[i - 1], absl::Milliseconds(5100));
  }
  EXPECT_GE(asked_.size(), 600u / 5);
}

TEST_F(RegistrarFollowerTest, OtherDoorsAreTriedUnlessOneRefuses) {
  const Applicant lima = TestOwnSite::Other("lima");
  Applicant self = site_.own().AsApplicant();
  self.address = "before.example:7701";  // It has moved since.
  ASSERT_TRUE(site_.maps.Offer(MapOf({self, lima})).ok());
  Start("door:1");
  AnswerWith(absl::UnavailableError("nobody is there"));
  follower_->Step();
  EXPECT_THAT(asked_,
              ElementsAre("door:1", "tokyo.example:7701", "lima.example:7701"));
  EXPECT_EQ(requests_[0].replaces(), TestOwnSite::kFirstLife);
  // An administrator names a door: no other.
  asked_.clear();
  EXPECT_TRUE(absl::IsUnavailable(follower_->Join("other:2").status()));
  EXPECT_THAT(asked_, ElementsAre("other:2"));
  EXPECT_TRUE(absl::IsInvalidArgument(follower_->Join("no port").status()));
  EXPECT_THAT(asked_, ElementsAre("other:2"));
  asked_.clear();
  AnswerWith(absl::AlreadyExistsError("a second copy"));
  EXPECT_TRUE(absl::IsAlreadyExists(follower_->Join("").status()));
  EXPECT_THAT(asked_, ElementsAre("door:1"));
}

TEST_F(RegistrarFollowerTest, ASiteThatStopsAsksAtNoOtherDoor) {
  Applicant self = site_.own().AsApplicant();
  self.address = "before.example:7701";
  ASSERT_TRUE(site_.maps.Offer(MapOf({self})).ok());
  Start("door:1");
  AnswerWith(absl::CancelledError("this site stops"));
  follower_->Step();
  EXPECT_THAT(asked_, ElementsAre("door:1"));
}

TEST_F(RegistrarFollowerTest, ARemovedSiteIsRebornOnceUntilItIsLetIn) {
  const Map with = MapOf({site_.own().AsApplicant()});
  const Map without = federation::Remove(with, "paris").value();
  ASSERT_TRUE(site_.maps.Offer(with).ok());
  Start("door:1");
  EXPECT_EQ(follower_->Step(), "");
  EXPECT_EQ(site_.life.incarnation(), TestOwnSite::kFirstLife);

  ASSERT_TRUE(site_.maps.Offer(FinishHandOff(without).value()).ok());
  AnswerWith(absl::PermissionDeniedError("not invited"));
  const std::string said = StepFor(absl::Minutes(5));
  EXPECT_THAT(said, HasSubstr("it was removed, or it left"));
  EXPECT_THAT(said, HasSubstr("'gannet federation invite paris'"));
  EXPECT_EQ(says_.size(), 1u);  // Always the same.
  const uint64_t second = site_.life.incarnation();
  EXPECT_NE(second, TestOwnSite::kFirstLife);
  ASSERT_GT(requests_.size(), 3u);
  for (const peers::JoinRequest& request : requests_) {
    EXPECT_EQ(request.site().incarnation(), second);
    EXPECT_EQ(request.replaces(), 0u);
  }

  // The administrator does not wait for the next attempt.
  const Map back = LetIn(site_.maps.view()->map());
  AnswerWith(back);
  EXPECT_TRUE(follower_->Join("").ok());
  EXPECT_EQ(follower_->Step(), "");
  // The next removal is another one, and begins with short waits.
  ASSERT_TRUE(
      site_.maps
          .Offer(
              FinishHandOff(federation::Remove(back, "paris").value()).value())
          .ok());
  AnswerWith(absl::PermissionDeniedError("not invited"));
  asked_.clear();
  StepFor(absl::Seconds(3));
  EXPECT_EQ(asked_.size(), 2u);
  EXPECT_NE(site_.life.incarnation(), second);
}

TEST_F(RegistrarFollowerTest, AMemberWithOtherRulesSaysSo) {
  ASSERT_TRUE(site_.maps.Offer(MapOf({site_.own().AsApplicant()})).ok());
  site_.self.rules.set_filters("others");
  Start("door:1");
  EXPECT_THAT(follower_->Step(), HasSubstr("begins no round"));
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(RegistrarFollowerTest,
       TheRegistrarEndsAHandOffWhenAllHaveDoneTheirPart) {
  Start("");
  EXPECT_EQ(follower_->Step(), "");
  const Map map = Invite(site_.maps.view()->map(), "lima").value();
  ASSERT_TRUE(
      site_.maps
          .Offer(federation::Join(map, TestOwnSite::Other("lima")).value())
          .ok());
  EXPECT_EQ(StepFor(absl::Minutes(1)), "");
  EXPECT_TRUE(IsHandingOff(site_.maps.view()->map()));
  all_done_ = true;
  EXPECT_EQ(follower_->Step(), "");
  EXPECT_FALSE(IsHandingOff(site_.maps.view()->map()));
  EXPECT_EQ(site_.noted["hand_off_done"], 1);
}

TEST_F(RegistrarFollowerTest, ANewMapIsOnTheDiskWithTheLossesThatItTells) {
  Start("");
  const Map with =
      MapOf({site_.own().AsApplicant(), TestOwnSite::Other("lima")});
  ASSERT_TRUE(follower_->Keep(with).ok());
  ASSERT_TRUE(site_.maps.Offer(with).ok());
  const Map without = federation::Remove(with, "lima").value();
  ASSERT_TRUE(follower_->Keep(without).ok());
  EXPECT_TRUE(losses_.Get().somebody_is_gone);
  EXPECT_EQ(site_.noted["removal_undone"], 0);

  // paris has taken part in the removal; lima's new term knows nothing of it.
  ASSERT_TRUE(site_.maps.Offer(without).ok());
  const Map undone = federation::Adopt(with, "lima", with.epoch()).value();
  ASSERT_TRUE(follower_->Keep(undone).ok());
  EXPECT_EQ(site_.noted["removal_undone"], 1);
  EXPECT_NE(site_.life.incarnation(), TestOwnSite::kFirstLife);

  // As it was kept.
  TestOwnSite other("paris");
  ASSERT_TRUE(other.db->records()
                  .PutNote("map", site_.db->records().GetNote("map").value())
                  .ok());
  Losses none(*other.db);
  RegistrarFollower again(other.own(), none, "", nullptr, registrar_,
                          neighbours_, nullptr);
  ASSERT_TRUE(again.Load().ok());
  EXPECT_TRUE(IsSame(other.maps.view()->map(), undone));
}

}  // namespace
}  // namespace gannet::federation
