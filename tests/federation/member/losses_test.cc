#include "federation/member/losses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "federation/map/map_changes.h"
#include "federation/ownership/ownership.h"
#include "tests/temporary_folder.h"

namespace gannet::federation {
namespace {

using storage::PageKey;
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

PageKey PageOf(int host) {
  return storage::PageKeyOf(
      storage::Url::Parse("http://d" + std::to_string(host) + ".example/")
          .value());
}

// Of a thousand hosts.
int CountOwned(const Map& map, SiteId site) {
  const auto view = MapView::Create(map, "tokyo").value();
  int owned = 0;
  for (int h = 0; h < 1000; ++h) {
    owned += Ownership(*view).OwnerOf(PageOf(h).bytes) == site;
  }
  return owned;
}

// So many of them are lost, and all that `site` had by `before`.
int CountLost(const Losses::List& list, const Map& now, const Map& before,
              SiteId site) {
  const LostPages lost(list, MapView::Create(now, "tokyo").value());
  const auto view = MapView::Create(before, "tokyo").value();
  int pages = 0;
  for (int h = 0; h < 1000; ++h) {
    const bool is_lost = lost.Contains(PageOf(h).bytes);
    pages += is_lost;
    EXPECT_TRUE(is_lost || Ownership(*view).OwnerOf(PageOf(h).bytes) != site)
        << h;
  }
  return pages;
}

// All that others have would be read from every archive for nothing.
TEST_F(LossesTest, OfASiteThatLeftOnlyWhatItHadIsLost) {
  const Map leaving = Leave(map_, "oslo").value();
  const Map left = FinishHandOff(leaving).value();
  Add(map_, leaving);
  EXPECT_TRUE(losses_->Get().empty());
  Add(leaving, left);
  EXPECT_EQ(CountLost(AfterARestart(), left, map_, SiteId{3}),
            CountOwned(map_, SiteId{3}));
  ASSERT_TRUE(losses_->Forget(losses_->Get()).ok());
  EXPECT_TRUE(AfterARestart().gone.empty());
}

TEST_F(LossesTest, SoItIsOfOneThatWasRemovedAlsoWhenAllHasMoved) {
  const Map removed = Remove(map_, "oslo").value();
  Add(map_, removed);
  const int owned = CountOwned(map_, SiteId{3});
  EXPECT_EQ(CountLost(AfterARestart(), removed, map_, SiteId{3}), owned);
  const Map moved = FinishHandOff(removed).value();
  EXPECT_EQ(CountLost(losses_->Get(), moved, map_, SiteId{3}), owned);
  // Another one goes before that was sent again.
  const Map leaving = Leave(moved, "paris").value();
  const Map left = FinishHandOff(leaving).value();
  Add(leaving, left);
  EXPECT_EQ(losses_->Get().gone.size(), 2u);
  EXPECT_EQ(CountLost(AfterARestart(), left, moved, SiteId{2}),
            CountLost(losses_->Get(), left, map_, SiteId{3}));
  EXPECT_LT(CountLost(losses_->Get(), left, map_, SiteId{3}), 1000);
}

TEST_F(LossesTest, WhereItIsNotKnownWhoHadWhatAllIsLost) {
  const Map joining = Join(Invite(map_, "lima").value(), From("lima")).value();
  const Map in_haste = Remove(joining, "oslo").value();
  Add(joining, in_haste);
  EXPECT_EQ(CountLost(losses_->Get(), in_haste, map_, SiteId{3}), 1000);
  ASSERT_TRUE(losses_->Forget(losses_->Get()).ok());
  // A change was missed: Oslo may have had more by then.
  const Map more = FinishHandOff(SetCapacity(map_, "oslo", 5).value()).value();
  const Map removed = Remove(more, "oslo").value();
  Add(map_, removed);
  EXPECT_TRUE(losses_->Get().gone.empty());
  EXPECT_GE(CountLost(losses_->Get(), FinishHandOff(removed).value(), more,
                      SiteId{3}),
            CountOwned(more, SiteId{3}));
  // What is known of the next does not say what the first had.
  const Map left = FinishHandOff(removed).value();
  Add(Leave(left, "paris").value(),
      FinishHandOff(Leave(left, "paris").value()).value());
  EXPECT_TRUE(AfterARestart().gone.empty());
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
