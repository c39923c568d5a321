#include "federation/member/losses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "federation/map/map_changes.h"
#include "tests/temporary_folder.h"

namespace gannet::federation {
namespace {

using storage::SiteId;
using testing::ElementsAre;
using testing::IsEmpty;

Applicant From(const std::string& name, uint64_t incarnation = 7) {
  Applicant applicant;
  applicant.name = name;
  applicant.incarnation = incarnation;
  applicant.address = "127.0.0.1:7701";
  return applicant;
}

Map WithMember(const Map& map, const std::string& name) {
  return FinishHandOff(Join(Invite(map, name).value(), From(name)).value())
      .value();
}

class LossesTest : public testing::Test {
 protected:
  LossesTest() {
    storage::CrawlDbSettings settings;
    settings.folder = folder_.path();
    db_ = storage::CrawlDb::Open(settings).value();
    map_ = FoundFederation(From("tokyo"), 9, {}, true).value();
    map_ = WithMember(WithMember(map_, "paris"), "oslo");
    losses_ = std::make_unique<Losses>(*db_);
  }
  Losses::List AfterARestart() {
    losses_ = std::make_unique<Losses>(*db_);
    EXPECT_TRUE(losses_->Load().ok());
    return losses_->Get();
  }
  void Add(const Map& before, const Map& after) {
    ASSERT_TRUE(losses_->Add(before, after, "tokyo").ok());
  }

  TemporaryFolder folder_;
  std::unique_ptr<storage::CrawlDb> db_;
  Map map_;
  std::unique_ptr<Losses> losses_;
};

TEST_F(LossesTest, WhoComesAndWhoIsAskedHasLostNothing) {
  Add(map_, Invite(map_, "lima").value());
  Add(map_, WithMember(map_, "lima"));
  // An invitation that was withdrawn, and seen.
  Add(Invite(map_, "lima").value(),
      Remove(Invite(map_, "lima").value(), "lima").value());
  EXPECT_TRUE(losses_->Get().empty());
  EXPECT_TRUE(AfterARestart().empty());
}

TEST_F(LossesTest, ANewLifeIsRememberedUntilAllWasSentAgain) {
  Add(map_, Join(map_, From("paris", 8), 7).value());
  EXPECT_THAT(losses_->Get().reborn, ElementsAre(SiteId{2}));
  const Losses::List list = AfterARestart();
  EXPECT_THAT(list.reborn, ElementsAre(SiteId{2}));
  EXPECT_FALSE(list.somebody_is_gone);
  ASSERT_TRUE(losses_->Forget(list).ok());
  EXPECT_TRUE(losses_->Get().empty());
  EXPECT_TRUE(AfterARestart().empty());
}

TEST_F(LossesTest, SoIsThatSomebodyIsGone) {
  Add(map_, Remove(map_, "oslo").value());
  EXPECT_TRUE(AfterARestart().somebody_is_gone);
  EXPECT_THAT(losses_->Get().reborn, IsEmpty());
}

TEST_F(LossesTest, WhoCameAndWentBetweenTwoMapsIsMissed) {
  Add(map_, Remove(WithMember(map_, "lima"), "lima").value());
  EXPECT_TRUE(losses_->Get().somebody_is_gone);
}

TEST_F(LossesTest, ThisSiteDoesNotMissItself) {
  Map without = Adopt(map_, "paris", 0).value();
  without = Remove(without, "tokyo").value();
  Add(map_, without);
  EXPECT_TRUE(losses_->Get().empty());
}

TEST_F(LossesTest, WhatIsLostWhileOtherThingsAreSentAgainIsNotForgotten) {
  Add(map_, Join(map_, From("paris", 8), 7).value());
  const Losses::List before = losses_->Get();
  Add(map_, Remove(map_, "oslo").value());
  ASSERT_TRUE(losses_->Forget(before).ok());
  const Losses::List list = AfterARestart();
  EXPECT_TRUE(list.somebody_is_gone);
  EXPECT_THAT(list.reborn, ElementsAre(SiteId{2}));
}

}  // namespace
}  // namespace gannet::federation
