// Hand-offs between sites that are nothing but their crawl DBs; what is cut is
// carried by hand.
#include "federation/handoff/hand_off.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "federation/handoff/fence.h"
#include "federation/map/map_changes.h"
#include "tests/temporary_folder.h"

namespace gannet::federation {
namespace {

using storage::PageKey;
using storage::SiteId;

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

Applicant From(const std::string& name, uint64_t incarnation = 7) {
  Applicant applicant;
  applicant.name = name;
  applicant.incarnation = incarnation;
  applicant.address = "127.0.0.1:7701";
  return applicant;
}

PageKey PageOf(int host, int page) {
  return storage::PageKeyOf(
      storage::Url::Parse(fmt::format("http://d{}.example/{}", host, page))
          .value());
}

struct TestSite {
  explicit TestSite(const std::string& name, uint64_t incarnation = 7)
      : name(name) {
    storage::CrawlDbSettings settings;
    settings.folder = folder.path();
    db = storage::CrawlDb::Open(settings).value();
    proto::SiteIdentity identity;
    identity.set_name(name);
    identity.set_incarnation(incarnation);
    EXPECT_TRUE(db->SetIdentity(identity).ok());
    Restart();
  }
  void Restart() {
    HandOffSettings settings;
    settings.pages_of_batch = 7;
    settings.hosts_of_step = 10;
    settings.most_unacknowledged = 3;
    settings.now = [] { return kNow; };
    hand_off = std::make_unique<HandOff>(settings, *db);
  }
  // A step; true if it is done.
  bool Step(const Map& map) {
    const auto view = MapView::Create(map, name).value();
    const auto done =
        hand_off->Step(*view, [&](SiteId site) -> std::optional<storage::Peer> {
          if (unreachable.contains(site)) return std::nullopt;
          return storage::Peer{
              site, FindSite(map, static_cast<uint32_t>(site))->incarnation()};
        });
    EXPECT_TRUE(done.ok()) << done.status();
    return done.ok() && *done;
  }
  std::string FailedChecks() {
    const auto checks = db->Verify(true);
    if (!checks.ok()) return checks.status().ToString();
    std::string failed;
    for (const storage::Check& check : *checks) {
      if (!check.ok) failed += check.name + ": " + check.detail + "\n";
    }
    return failed;
  }

  TemporaryFolder folder;
  const std::string name;
  std::set<SiteId> unreachable;
  std::unique_ptr<storage::CrawlDb> db;
  std::unique_ptr<HandOff> hand_off;
};

class HandOffTest : public testing::Test {
 protected:
  HandOffTest() {
    Map map = FoundFederation(From("tokyo"), 9, {}, true).value();
    two_ = FinishHandOff(WithMember(map, "paris")).value();
    three_ = WithMember(two_, "oslo");
  }
  static Map WithMember(const Map& map, const std::string& name) {
    return Join(Invite(map, name).value(), From(name)).value();
  }
  // Each site knows the pages of its hosts by `map`.
  void Know(const Map& map, int hosts, int pages_each) {
    for (TestSite* site : {&tokyo_, &paris_, &oslo_}) {
      const auto view = MapView::Create(map, site->name).value();
      std::vector<PageKey> pages;
      for (int h = 0; h < hosts; ++h) {
        for (int p = 0; p < pages_each; ++p) {
          if (view->IsMine(PageOf(h, p).bytes)) pages.push_back(PageOf(h, p));
        }
      }
      ASSERT_TRUE(site->db->Inject(pages, kNow).ok());
    }
    pages_ = hosts * pages_each;
  }
  TestSite& SiteOf(const Map& map, SiteId id) {
    const std::string name = FindSite(map, static_cast<uint32_t>(id))->name();
    return name == "tokyo" ? tokyo_ : name == "paris" ? paris_ : oslo_;
  }
  // What is being sent arrives: at most so many batches of each pair.
  void Carry(const Map& map, size_t most = 100) {
    for (const proto::MapSite& from : map.sites()) {
      for (const proto::MapSite& to : map.sites()) {
        if (from.id() == to.id() || !IsActive(from) || !IsActive(to)) continue;
        CarryFrom(map, SiteId{from.id()}, SiteId{to.id()}, most);
      }
    }
  }
  void CarryFrom(const Map& map, SiteId from, SiteId to, size_t most = 100) {
    TestSite& sender = SiteOf(map, from);
    TestSite& receiver = SiteOf(map, to);
    const auto view = MapView::Create(map, receiver.name).value();
    // No pump sends to one life what was cut for another.
    if (sender.db->sent_pair(to)->their_incarnation() !=
        receiver.db->identity()->incarnation()) {
      return;
    }
    const auto cuts = sender.db->Sending(to, 0, most);
    ASSERT_TRUE(cuts.ok());
    for (const storage::OutboxCut& cut : *cuts) {
      storage::Delivery delivery;
      delivery.from = {from, sender.db->identity()->incarnation()};
      delivery.sequence = cut.sequence;
      delivery.cash_so_far = cut.batch.cash_so_far();
      delivery.moved.assign(cut.batch.pages().begin(), cut.batch.pages().end());
      for (const proto::MovedHost& host : cut.batch.hosts()) {
        delivery.hosts.push_back(
            {storage::HostKey{host.host()}, host.record()});
      }
      delivery.complete_for = cut.batch.complete_for();
      for (const proto::MovedPage& page : cut.batch.pages()) {
        if (!view->IsMine(page.page())) receiver.hand_off->WalkAgain();
      }
      ASSERT_TRUE(cut.batch.urls().empty());
      const auto receipt = receiver.db->Receive(delivery, {kNow});
      ASSERT_TRUE(receipt.ok()) << receipt.status();
      const storage::Peer by{to, receiver.db->identity()->incarnation()};
      ASSERT_TRUE(sender.db->Acknowledge(by, receipt->last).ok());
    }
  }
  // Steps and carries until all are done.
  void Settle(const Map& map, std::vector<TestSite*> sites) {
    for (int i = 0; i < 3000; ++i) {
      bool all = true;
      for (TestSite* site : sites) all = site->Step(map) && all;
      if (all) return;
      Carry(map);
    }
    FAIL() << "the hand-off does not end";
  }
  // Every page is at its owner's, and only there.
  void ExpectAllInPlace(const Map& map, std::vector<TestSite*> sites) {
    int64_t known = 0, cash = 0;
    for (TestSite* site : sites) {
      EXPECT_EQ(site->FailedChecks(), "") << site->name;
      known += site->db->totals().KnownPages();
      cash += site->db->totals().pages;
      EXPECT_EQ(site->db->totals().outbox, 0);
      const auto view = MapView::Create(map, site->name).value();
      EXPECT_TRUE(site->db
                      ->ScanPages({},
                                  [&](std::string_view page, const auto&) {
                                    EXPECT_TRUE(view->IsMine(page))
                                        << site->name << " " << page;
                                    return true;
                                  })
                      .ok());
      if (view->self() != nullptr) {
        EXPECT_EQ(site->hand_off->progress().handed_off, PlacedStamp(map));
        EXPECT_EQ(site->hand_off->progress().pages_left, 0);
      }
    }
    EXPECT_EQ(known, pages_);
    EXPECT_EQ(cash, pages_ * storage::kSeedCash);
  }
  static void OpenRound(TestSite& site, size_t width) {
    ASSERT_TRUE(site.db->OpenRound(kNow).ok());
    ASSERT_GT(*site.db->Claim(*site.db->Top(width, width)), 0);
    ASSERT_TRUE(site.db->PayRoot().ok());
    ASSERT_TRUE(site.db->SetPhase(proto::FETCH).ok());
  }
  static void ReleaseAll(TestSite& site) {
    ASSERT_TRUE(site.db->Release(*site.db->FetchList({}, 10'000)).ok());
    ASSERT_TRUE(site.db->SetPhase(proto::UPDATE).ok());
  }

  Map two_, three_;
  TestSite tokyo_{"tokyo"}, paris_{"paris"}, oslo_{"oslo"};
  int64_t pages_ = 0;
};

TEST_F(HandOffTest, ASiteThatJoinsGetsItsChannelsFromAllOthers) {
  Know(two_, 60, 5);
  Settle(three_, {&tokyo_, &paris_, &oslo_});
  ExpectAllInPlace(three_, {&tokyo_, &paris_, &oslo_});
  EXPECT_GT(oslo_.db->totals().KnownPages(), 30);
  for (const SiteId from : {SiteId{1}, SiteId{2}}) {
    EXPECT_EQ(*oslo_.db->completed_for({from, 7}), PlacedStamp(three_));
  }
  // Done stays done, and costs nothing.
  EXPECT_TRUE(tokyo_.Step(three_));
  const Map finished = FinishHandOff(three_).value();
  Settle(finished, {&tokyo_, &paris_, &oslo_});
  ExpectAllInPlace(finished, {&tokyo_, &paris_, &oslo_});
}

TEST_F(HandOffTest, ASiteThatLeavesHandsOverEverything) {
  Know(two_, 40, 3);
  const Map leaving = Leave(two_, "paris").value();
  Settle(leaving, {&tokyo_, &paris_});
  ExpectAllInPlace(leaving, {&tokyo_, &paris_});
  EXPECT_EQ(paris_.db->totals().KnownPages(), 0);
  // Out of the map it does nothing.
  EXPECT_TRUE(paris_.Step(FinishHandOff(leaving).value()));
}

TEST_F(HandOffTest, NobodyIsToldCompleteWhileTheOpenRoundHasItsPages) {
  Know(two_, 40, 3);
  OpenRound(tokyo_, 1000);
  for (int i = 0; i < 200; ++i) {
    EXPECT_FALSE(tokyo_.Step(three_));
    (void)paris_.Step(three_);
    (void)oslo_.Step(three_);
    Carry(three_);
  }
  EXPECT_EQ(*oslo_.db->completed_for({SiteId{1}, 7}), 0u);
  EXPECT_TRUE(tokyo_.hand_off->progress().is_waiting);
  EXPECT_GT(tokyo_.hand_off->progress().pages_left, 0);
  ReleaseAll(tokyo_);
  ASSERT_TRUE(tokyo_.db->CloseRound("{}").ok());
  Settle(three_, {&tokyo_, &paris_, &oslo_});
  ExpectAllInPlace(three_, {&tokyo_, &paris_, &oslo_});
}

TEST_F(HandOffTest, WhatAnUpdateByTheOldMapFindsLateMovesOn) {
  Know(two_, 40, 3);
  Settle(three_, {&tokyo_, &paris_, &oslo_});
  // The next round still goes by the old map, and finds a page of Oslo's.
  const auto view = MapView::Create(three_, "oslo").value();
  int host = 0;
  while (!view->IsMine(PageOf(host, 0).bytes)) ++host;
  OpenRound(tokyo_, 1);
  ASSERT_TRUE(tokyo_.db->Inject({PageOf(host, 99)}, kNow).ok());
  EXPECT_TRUE(tokyo_.Step(three_));
  ReleaseAll(tokyo_);
  ASSERT_TRUE(tokyo_.db->CloseRound("{}").ok());
  ++pages_;
  EXPECT_FALSE(tokyo_.Step(three_));
  Settle(three_, {&tokyo_, &paris_, &oslo_});
  ExpectAllInPlace(three_, {&tokyo_, &paris_, &oslo_});
  // Rounds that come later cost no walk.
  OpenRound(tokyo_, 1);
  ReleaseAll(tokyo_);
  ASSERT_TRUE(tokyo_.db->CloseRound("{}").ok());
  EXPECT_TRUE(tokyo_.Step(three_));
}

TEST_F(HandOffTest, ItDoesNotRunAheadOfASiteThatTakesNothing) {
  Know(two_, 120, 5);
  for (int i = 0; i < 300; ++i) (void)tokyo_.Step(three_);
  EXPECT_EQ(tokyo_.db->Sending(SiteId{3})->size(), 3u);
  EXPECT_TRUE(tokyo_.hand_off->progress().is_waiting);
  Carry(three_, 1);
  (void)tokyo_.Step(three_);
  EXPECT_EQ(tokyo_.db->Sending(SiteId{3})->size(), 3u);
  Settle(three_, {&tokyo_, &paris_, &oslo_});
  ExpectAllInPlace(three_, {&tokyo_, &paris_, &oslo_});
}

TEST_F(HandOffTest, OneThatIsAwayDoesNotHoldUpTheOthers) {
  // Paris leaves: its pages are Tokyo's and Oslo's, and Oslo is away.
  const Map three = FinishHandOff(three_).value();
  Know(three, 90, 3);
  const Map leaving = Leave(three, "paris").value();
  paris_.unreachable.insert(SiteId{3});
  for (int i = 0; i < 500; ++i) {
    EXPECT_FALSE(paris_.Step(leaving));
    Carry(leaving);
  }
  const auto view = MapView::Create(leaving, "paris").value();
  EXPECT_TRUE(paris_.db
                  ->ScanPages({},
                              [&](std::string_view page, const auto&) {
                                EXPECT_EQ(view->OwnerOf(page), SiteId{3});
                                return true;
                              })
                  .ok());
  EXPECT_GT(paris_.db->totals().KnownPages(), 0);
  paris_.unreachable.clear();
  Settle(leaving, {&tokyo_, &paris_, &oslo_});
  ExpectAllInPlace(leaving, {&tokyo_, &paris_, &oslo_});
}

TEST_F(HandOffTest, CutOffAtAnyPointItGoesOn) {
  Know(two_, 60, 5);
  std::mt19937 random(3);
  for (int i = 0; i < 400; ++i) {
    for (TestSite* site : {&tokyo_, &paris_, &oslo_}) {
      if (random() % 10 == 0) site->Restart();
      (void)site->Step(three_);
    }
    if (random() % 3 == 0) Carry(three_, 1);
  }
  Settle(three_, {&tokyo_, &paris_, &oslo_});
  ExpectAllInPlace(three_, {&tokyo_, &paris_, &oslo_});
  tokyo_.Restart();
  (void)tokyo_.Step(three_);  // It remembers that it was done.
  EXPECT_EQ(tokyo_.hand_off->progress().handed_off, PlacedStamp(three_));
}

TEST_F(HandOffTest, IfASiteDiesMeanwhileThePagesGoToWhoeverOwnsThemNow) {
  Know(two_, 80, 5);
  // Some have moved to Oslo, some are on their way, when Oslo is removed.
  for (int i = 0; i < 40; ++i) {
    (void)tokyo_.Step(three_);
    (void)paris_.Step(three_);
  }
  EXPECT_GT(tokyo_.db->totals().outbox_urls.at(SiteId{3}), 0);
  const Map removed = Remove(three_, "oslo").value();
  ASSERT_TRUE(removed.in_haste());
  Settle(removed, {&tokyo_, &paris_});
  ExpectAllInPlace(removed, {&tokyo_, &paris_});
  EXPECT_TRUE(tokyo_.db->Sending(SiteId{3})->empty());
}

TEST_F(HandOffTest, WhatWaitsForASiteThatDiedGoesToTheNewOwners) {
  const Map three = FinishHandOff(three_).value();
  const auto before = MapView::Create(three, "tokyo").value();
  std::vector<std::pair<SiteId, storage::Found>> urls;
  for (int i = 0; i < 100; ++i) {
    if (before->OwnerOf(PageOf(i, 0).bytes) == SiteId{3}) {
      urls.emplace_back(SiteId{3}, storage::Found{PageOf(i, 0)});
    }
  }
  ASSERT_GT(urls.size(), 10u);
  ASSERT_TRUE(tokyo_.db->SendAgain(urls).ok());
  ASSERT_TRUE(tokyo_.db->OpenPair({SiteId{3}, 7}).ok());
  ASSERT_TRUE(tokyo_.db->CutOutbox({SiteId{3}, 7}, 5).ok());  // Under way.
  for (int i = 0; i < 20; ++i) (void)tokyo_.Step(three);

  const Map removed = Remove(three, "oslo").value();
  for (int i = 0; i < 20; ++i) (void)tokyo_.Step(removed);
  const auto after = MapView::Create(removed, "tokyo").value();
  int64_t mine = 0;
  for (const auto& [site, url] : urls) {
    mine += after->IsMine(url.page.bytes) ? 1 : 0;
    EXPECT_EQ(tokyo_.db->GetPage(url.page).ok(), after->IsMine(url.page.bytes));
  }
  EXPECT_EQ(tokyo_.db->totals().outbox_urls.at(SiteId{2}),
            static_cast<int64_t>(urls.size()) - mine);
  EXPECT_FALSE(tokyo_.db->totals().outbox_urls.contains(SiteId{3}));
  EXPECT_EQ(tokyo_.FailedChecks(), "");
}

TEST_F(HandOffTest, PagesOfAThirdSiteThatComeAreMovedOn) {
  Know(two_, 60, 5);
  // Oslo hears of its own leaving before it has got everything.
  for (int i = 0; i < 30; ++i) {
    (void)tokyo_.Step(three_);
    (void)paris_.Step(three_);
    Carry(three_, 1);
  }
  Settle(three_, {&tokyo_, &paris_, &oslo_});
  const Map finished = FinishHandOff(three_).value();
  Settle(finished, {&tokyo_, &paris_, &oslo_});
  // A straggler from a site with an old map.
  ASSERT_TRUE(tokyo_.db->OpenPair({SiteId{2}, 7}).ok());
  const auto tokyo = MapView::Create(finished, "tokyo").value();
  int host = 0;
  while (tokyo->OwnerOf(PageOf(host, 0).bytes) != SiteId{3}) ++host;
  ASSERT_TRUE(tokyo_.db->Inject({PageOf(host, 77)}, kNow).ok());
  ++pages_;
  const storage::HostKey key{
      std::string(storage::HostPartOf(PageOf(host, 77).bytes))};
  ASSERT_EQ(tokyo_.db->CutPages({SiteId{2}, 7}, {key}, 10)->pages, 1);
  CarryFrom(finished, SiteId{1}, SiteId{2});
  EXPECT_FALSE(paris_.Step(finished));
  Settle(finished, {&tokyo_, &paris_, &oslo_});
  ExpectAllInPlace(finished, {&tokyo_, &paris_, &oslo_});
}

TEST_F(HandOffTest, ARestoredReceiverIsToldCompleteAgain) {
  Know(two_, 40, 3);
  Settle(three_, {&tokyo_, &paris_, &oslo_});
  ASSERT_TRUE(oslo_.db->Reincarnate().ok());
  const uint64_t life = oslo_.db->identity()->incarnation();
  const Map joined = Join(three_, From("oslo", life), 7).value();
  Settle(joined, {&tokyo_, &paris_, &oslo_});
  EXPECT_EQ(*oslo_.db->completed_for({SiteId{1}, 7}), PlacedStamp(three_));
  ExpectAllInPlace(joined, {&tokyo_, &paris_, &oslo_});
}

// What the sender had on its way comes back when it hears of the new life: the
// walk had ended by then.
TEST_F(HandOffTest, AReceiverRestoredBeforeItTookAnythingGetsAllTheSame) {
  Know(two_, 40, 3);
  for (int i = 0; i < 1000; ++i) {
    for (TestSite* site : {&tokyo_, &paris_, &oslo_}) (void)site->Step(three_);
  }
  ASSERT_FALSE(tokyo_.db->Sending(SiteId{3})->empty());
  ASSERT_TRUE(oslo_.db->Reincarnate().ok());
  const uint64_t life = oslo_.db->identity()->incarnation();
  const Map joined = Join(three_, From("oslo", life), 7).value();
  Settle(joined, {&tokyo_, &paris_, &oslo_});
  ExpectAllInPlace(joined, {&tokyo_, &paris_, &oslo_});
}

// Without any change that moves channels: seeds that were injected elsewhere.
TEST_F(HandOffTest, SoItDoesWhenItWasOnlyAwayAndNothingMoves) {
  const Map settled = FinishHandOff(three_).value();
  Settle(settled, {&tokyo_, &paris_, &oslo_});
  const auto view = MapView::Create(settled, "oslo").value();
  std::vector<PageKey> pages;
  for (int h = 0; h < 40; ++h) {
    if (view->IsMine(PageOf(h, 0).bytes)) pages.push_back(PageOf(h, 0));
  }
  ASSERT_FALSE(pages.empty());
  ASSERT_TRUE(tokyo_.db->Inject(pages, kNow).ok());
  pages_ = static_cast<int>(pages.size());
  tokyo_.hand_off->WalkAgain();
  for (int i = 0; i < 100; ++i) (void)tokyo_.Step(settled);
  ASSERT_FALSE(tokyo_.db->Sending(SiteId{3})->empty());
  ASSERT_TRUE(oslo_.db->Reincarnate().ok());
  const uint64_t life = oslo_.db->identity()->incarnation();
  const Map joined = Join(settled, From("oslo", life), 7).value();
  for (int i = 0; i < 100; ++i) (void)tokyo_.Step(joined);  // All done.
  // The pump greets the new life.
  ASSERT_TRUE(tokyo_.db->OpenPair({SiteId{3}, life}).ok());
  Settle(joined, {&tokyo_, &paris_, &oslo_});
  ExpectAllInPlace(joined, {&tokyo_, &paris_, &oslo_});
}

}  // namespace
}  // namespace gannet::federation
