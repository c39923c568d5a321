// Hand-offs between sites that are nothing but their crawl DBs; what is cut is
// carried by hand.
#include "federation/handoff/hand_off.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "federation/handoff/fence.h"
#include "federation/map/map_changes.h"
#include "federation/ownership/ownership.h"
#include "tests/simulated_clock.h"
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
    EXPECT_TRUE(db->records().SetIdentity(identity).ok());
    Restart();
  }
  void Restart() {
    HandOffSettings settings;
    settings.pages_of_batch = 7;
    settings.hosts_of_step = 10;
    settings.most_unacknowledged = 3;
    settings.between_walks = between_walks;
    hand_off = std::make_unique<HandOff>(settings, *db, clock);
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
    const auto checks = db->checks().Verify(true);
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
  absl::Duration between_walks;
  SimulatedClock clock{kNow};
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
          if (Ownership(*view).IsMine(PageOf(h, p).bytes))
            pages.push_back(PageOf(h, p));
        }
      }
      ASSERT_TRUE(site->db->incoming().Inject(pages, kNow).ok());
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
    if (sender.db->outgoing().sent_pair(to)->their_incarnation() !=
        receiver.db->records().identity()->incarnation()) {
      return;
    }
    const auto cuts = sender.db->outgoing().Sending(to, 0, most);
    ASSERT_TRUE(cuts.ok());
    for (const storage::OutboxCut& cut : *cuts) {
      storage::Delivery delivery;
      delivery.from = {from, sender.db->records().identity()->incarnation()};
      delivery.sequence = cut.sequence;
      delivery.cash_so_far = cut.batch.cash_so_far();
      delivery.moved.assign(cut.batch.pages().begin(), cut.batch.pages().end());
      for (const proto::MovedHost& host : cut.batch.hosts()) {
        delivery.hosts.push_back(
            {storage::HostKey{host.host()}, host.record()});
      }
      delivery.complete_for = cut.batch.complete_for();
      for (const proto::MovedPage& page : cut.batch.pages()) {
        if (!Ownership(*view).IsMine(page.page()))
          receiver.hand_off->WalkAgain();
      }
      for (const proto::FoundUrl& url : cut.batch.urls()) {
        const storage::FoundUrl found{PageKey{url.page()}, url.cash()};
        const SiteId owner = Ownership(*view).OwnerOf(url.page()).value();
        if (owner == to) {
          delivery.mine.push_back(found);
        } else {
          delivery.forwarded.emplace_back(owner, found);
        }
      }
      const auto receipt = receiver.db->incoming().Receive(delivery, {kNow});
      ASSERT_TRUE(receipt.ok()) << receipt.status();
      const storage::Peer by{to,
                             receiver.db->records().identity()->incarnation()};
      ASSERT_TRUE(sender.db->outgoing().Acknowledge(by, receipt->last).ok());
    }
  }
  // As the pump does, after what the hand-off has cut.
  static void CutOutbox(TestSite& site, SiteId to) {
    ASSERT_TRUE(site.db->outgoing().OpenPair({to, 7}).ok());
    ASSERT_TRUE(site.db->outgoing().CutOutbox({to, 7}, 1000).ok());
  }
  // So many that the site owns by `map`.
  static std::vector<PageKey> PagesOf(const Map& map, SiteId site,
                                      size_t most) {
    const auto view = MapView::Create(map, "tokyo").value();
    std::vector<PageKey> pages;
    for (int h = 1000; pages.size() < most; ++h) {
      if (Ownership(*view).OwnerOf(PageOf(h, 0).bytes) == site) {
        pages.push_back(PageOf(h, 0));
      }
    }
    return pages;
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
      EXPECT_TRUE(site->db->records()
                      .ScanPages({},
                                 [&](std::string_view page, const auto&) {
                                   EXPECT_TRUE(Ownership(*view).IsMine(page))
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
    ASSERT_TRUE(site.db->round().Open(kNow).ok());
    ASSERT_GT(
        *site.db->frontier().Claim(*site.db->frontier().Top(width, width)), 0);
    ASSERT_TRUE(site.db->round().PayRoot().ok());
    ASSERT_TRUE(site.db->round().SetPhase(proto::FETCH).ok());
  }
  static void ReleaseAll(TestSite& site) {
    ASSERT_TRUE(site.db->frontier()
                    .Release(*site.db->round().FetchList({}, 10'000))
                    .ok());
    ASSERT_TRUE(site.db->round().SetPhase(proto::UPDATE).ok());
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
    EXPECT_EQ(*oslo_.db->incoming().completed_for({from, 7}),
              PlacedStamp(three_));
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

// A second later nobody takes anything from it any more.
TEST_F(HandOffTest, ASiteThatLeavesIsNotDoneBeforeItsOutboxesAreEmpty) {
  Know(two_, 40, 3);
  const Map leaving = Leave(two_, "paris").value();
  const auto urls = PagesOf(leaving, SiteId{1}, 3);
  ASSERT_TRUE(paris_.db->outgoing().OpenPair({SiteId{1}, 7}).ok());
  // One waits, one is deferred, one has gained; as an update leaves them.
  OpenRound(paris_, 1);
  storage::Completion done;
  done.page = paris_.db->round().FetchList({}, 1)->front();
  done.outcome.set_state(proto::FETCHED);
  done.outlinks = urls;
  ASSERT_EQ(*paris_.db->round().Complete({done}, {}, {}), 1);
  ASSERT_TRUE(paris_.db->round().SetPhase(proto::UPDATE).ok());
  storage::Settlement batch;
  batch.cursor = std::max({urls[0], urls[1], urls[2]}).bytes;
  const int64_t cash = paris_.db->totals().round / 3;
  batch.remote.emplace_back(SiteId{1}, storage::FoundUrl{urls[0], cash});
  batch.deferred.push_back(storage::FoundUrl{urls[1], cash});
  batch.gains.emplace_back(SiteId{1}, storage::FoundUrl{urls[2], cash});
  ASSERT_TRUE(paris_.db->round().Settle(batch, {kNow}).ok());
  ASSERT_TRUE(paris_.db->round().Close("{}").ok());

  for (int i = 0; i < 300; ++i) {
    EXPECT_FALSE(paris_.Step(leaving));
    (void)tokyo_.Step(leaving);
    Carry(leaving);
  }
  EXPECT_EQ(*tokyo_.db->incoming().completed_for({SiteId{2}, 7}),
            PlacedStamp(leaving));
  EXPECT_TRUE(paris_.hand_off->progress().is_waiting);
  EXPECT_NE(paris_.hand_off->progress().handed_off, PlacedStamp(leaving));
  CutOutbox(paris_, SiteId{1});
  EXPECT_FALSE(paris_.Step(leaving));  // On their way is not there.
  Settle(leaving, {&tokyo_, &paris_});
  for (const PageKey& url : urls)
    EXPECT_TRUE(tokyo_.db->records().GetPage(url).ok());
  EXPECT_EQ(paris_.FailedChecks(), "");
}

TEST_F(HandOffTest, NorBeforeWhatOthersSentItBeforeTheyKnewHasGoneOn) {
  const Map three = FinishHandOff(three_).value();
  const Map leaving = Leave(three, "paris").value();
  // Tokyo takes it for Paris's still; it is Oslo's.
  const PageKey url = PagesOf(leaving, SiteId{3}, 1)[0];
  ASSERT_TRUE(tokyo_.db->waiting()
                  .SendAgain({{SiteId{2}, storage::FoundUrl{url}}})
                  .ok());
  CutOutbox(tokyo_, SiteId{2});
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(paris_.Step(leaving));
    (void)oslo_.Step(leaving);
    CarryFrom(leaving, SiteId{2}, SiteId{1});
    CarryFrom(leaving, SiteId{2}, SiteId{3});
    CarryFrom(leaving, SiteId{3}, SiteId{2});
  }
  for (int i = 0; i < 100; ++i) {
    (void)tokyo_.Step(leaving);
    Carry(leaving);
    EXPECT_FALSE(paris_.Step(leaving));
  }
  CutOutbox(paris_, SiteId{3});
  Settle(leaving, {&tokyo_, &paris_, &oslo_});
  EXPECT_TRUE(oslo_.db->records().GetPage(url).ok());
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
  EXPECT_EQ(*oslo_.db->incoming().completed_for({SiteId{1}, 7}), 0u);
  EXPECT_TRUE(tokyo_.hand_off->progress().is_waiting);
  EXPECT_GT(tokyo_.hand_off->progress().pages_left, 0);
  ReleaseAll(tokyo_);
  ASSERT_TRUE(tokyo_.db->round().Close("{}").ok());
  Settle(three_, {&tokyo_, &paris_, &oslo_});
  ExpectAllInPlace(three_, {&tokyo_, &paris_, &oslo_});
}

TEST_F(HandOffTest, WhatAnUpdateByTheOldMapFindsLateMovesOn) {
  Know(two_, 40, 3);
  Settle(three_, {&tokyo_, &paris_, &oslo_});
  // The next round still goes by the old map, and finds a page of Oslo's.
  const auto view = MapView::Create(three_, "oslo").value();
  int host = 0;
  while (!Ownership(*view).IsMine(PageOf(host, 0).bytes)) ++host;
  OpenRound(tokyo_, 1);
  ASSERT_TRUE(tokyo_.db->incoming().Inject({PageOf(host, 99)}, kNow).ok());
  EXPECT_TRUE(tokyo_.Step(three_));
  ReleaseAll(tokyo_);
  ASSERT_TRUE(tokyo_.db->round().Close("{}").ok());
  ++pages_;
  EXPECT_FALSE(tokyo_.Step(three_));
  Settle(three_, {&tokyo_, &paris_, &oslo_});
  ExpectAllInPlace(three_, {&tokyo_, &paris_, &oslo_});
  // Rounds that come later cost no walk.
  OpenRound(tokyo_, 1);
  ReleaseAll(tokyo_);
  ASSERT_TRUE(tokyo_.db->round().Close("{}").ok());
  EXPECT_TRUE(tokyo_.Step(three_));
}

TEST_F(HandOffTest, ItDoesNotRunAheadOfASiteThatTakesNothing) {
  Know(two_, 120, 5);
  for (int i = 0; i < 300; ++i) (void)tokyo_.Step(three_);
  EXPECT_EQ(tokyo_.db->outgoing().Sending(SiteId{3})->size(), 3u);
  EXPECT_TRUE(tokyo_.hand_off->progress().is_waiting);
  Carry(three_, 1);
  (void)tokyo_.Step(three_);
  EXPECT_EQ(tokyo_.db->outgoing().Sending(SiteId{3})->size(), 3u);
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
  EXPECT_TRUE(paris_.db->records()
                  .ScanPages({},
                             [&](std::string_view page, const auto&) {
                               EXPECT_EQ(Ownership(*view).OwnerOf(page),
                                         SiteId{3});
                               return true;
                             })
                  .ok());
  EXPECT_GT(paris_.db->totals().KnownPages(), 0);
  paris_.unreachable.clear();
  Settle(leaving, {&tokyo_, &paris_, &oslo_});
  ExpectAllInPlace(leaving, {&tokyo_, &paris_, &oslo_});
}

TEST_F(HandOffTest, WhoIsAwayHoldsUpNeitherCompleteNorSeedsForTheOthers) {
  Know(two_, 120, 5);
  // All is Oslo's that moves, and it takes nothing.
  const auto step = [&] {
    for (int i = 0; i < 300; ++i) {
      EXPECT_FALSE(tokyo_.Step(three_));
      (void)paris_.Step(three_);
      CarryFrom(three_, SiteId{1}, SiteId{2});
      CarryFrom(three_, SiteId{2}, SiteId{1});
    }
  };
  step();
  EXPECT_TRUE(tokyo_.hand_off->progress().is_waiting);
  EXPECT_GT(tokyo_.hand_off->progress().pages_left, 0);
  EXPECT_EQ(*paris_.db->incoming().completed_for({SiteId{1}, 7}),
            PlacedStamp(three_));
  EXPECT_EQ(tokyo_.db->outgoing().sent_pair(SiteId{3})->completed_for(), 0u);

  const auto seeds = PagesOf(three_, SiteId{2}, 5);
  ASSERT_TRUE(tokyo_.db->incoming().Inject(seeds, kNow).ok());
  tokyo_.hand_off->WalkAgain();
  step();
  EXPECT_TRUE(tokyo_.hand_off->progress().is_waiting);
  for (const PageKey& seed : seeds)
    EXPECT_TRUE(paris_.db->records().GetPage(seed).ok());
  pages_ += static_cast<int64_t>(seeds.size());
  Settle(three_, {&tokyo_, &paris_, &oslo_});
  ExpectAllInPlace(three_, {&tokyo_, &paris_, &oslo_});
}

TEST_F(HandOffTest, WhoGetsPagesIsToldCompleteThoughOthersAreAway) {
  const Map three = FinishHandOff(three_).value();
  Know(three, 120, 5);
  const Map leaving = Leave(three, "paris").value();
  (void)paris_.Step(leaving);
  // By the map of a moment ago, with pages of both: they move when it is over.
  OpenRound(paris_, 40);
  const auto step = [&] {
    for (int i = 0; i < 300; ++i) {
      EXPECT_FALSE(paris_.Step(leaving));
      (void)tokyo_.Step(leaving);
      CarryFrom(leaving, SiteId{1}, SiteId{2});
      CarryFrom(leaving, SiteId{2}, SiteId{1});
    }
  };
  step();
  EXPECT_TRUE(paris_.hand_off->progress().is_waiting);
  EXPECT_EQ(*tokyo_.db->incoming().completed_for({SiteId{2}, 7}), 0u);
  ReleaseAll(paris_);
  ASSERT_TRUE(paris_.db->round().Close("{}").ok());
  step();
  EXPECT_TRUE(paris_.hand_off->progress().is_waiting);
  EXPECT_EQ(*tokyo_.db->incoming().completed_for({SiteId{2}, 7}),
            PlacedStamp(leaving));
  EXPECT_EQ(paris_.db->outgoing().sent_pair(SiteId{3})->completed_for(), 0u);
  const auto view = MapView::Create(leaving, "paris").value();
  EXPECT_TRUE(paris_.db->records()
                  .ScanPages({},
                             [&](std::string_view page, const auto&) {
                               EXPECT_EQ(Ownership(*view).OwnerOf(page),
                                         SiteId{3});
                               return true;
                             })
                  .ok());
  EXPECT_GT(paris_.db->totals().KnownPages(), 0);
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
  EXPECT_TRUE(tokyo_.db->outgoing().Sending(SiteId{3})->empty());
}

TEST_F(HandOffTest, WhatWaitsForASiteThatDiedGoesToTheNewOwners) {
  const Map three = FinishHandOff(three_).value();
  const auto before = MapView::Create(three, "tokyo").value();
  std::vector<std::pair<SiteId, storage::FoundUrl>> urls;
  for (int i = 0; i < 100; ++i) {
    if (Ownership(*before).OwnerOf(PageOf(i, 0).bytes) == SiteId{3}) {
      urls.emplace_back(SiteId{3}, storage::FoundUrl{PageOf(i, 0)});
    }
  }
  ASSERT_GT(urls.size(), 10u);
  ASSERT_TRUE(tokyo_.db->waiting().SendAgain(urls).ok());
  ASSERT_TRUE(tokyo_.db->outgoing().OpenPair({SiteId{3}, 7}).ok());
  ASSERT_TRUE(
      tokyo_.db->outgoing().CutOutbox({SiteId{3}, 7}, 5).ok());  // Under way.
  for (int i = 0; i < 20; ++i) (void)tokyo_.Step(three);

  const Map removed = Remove(three, "oslo").value();
  for (int i = 0; i < 20; ++i) (void)tokyo_.Step(removed);
  const auto after = MapView::Create(removed, "tokyo").value();
  int64_t mine = 0;
  for (const auto& [site, url] : urls) {
    mine += Ownership(*after).IsMine(url.page.bytes) ? 1 : 0;
    EXPECT_EQ(tokyo_.db->records().GetPage(url.page).ok(),
              Ownership(*after).IsMine(url.page.bytes));
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
  ASSERT_TRUE(tokyo_.db->outgoing().OpenPair({SiteId{2}, 7}).ok());
  const auto tokyo = MapView::Create(finished, "tokyo").value();
  int host = 0;
  while (Ownership(*tokyo).OwnerOf(PageOf(host, 0).bytes) != SiteId{3}) ++host;
  ASSERT_TRUE(tokyo_.db->incoming().Inject({PageOf(host, 77)}, kNow).ok());
  ++pages_;
  const storage::HostKey key{
      std::string(storage::HostPartOf(PageOf(host, 77).bytes))};
  ASSERT_EQ(tokyo_.db->moves().CutPages({SiteId{2}, 7}, {key}, 10)->pages, 1);
  CarryFrom(finished, SiteId{1}, SiteId{2});
  EXPECT_FALSE(paris_.Step(finished));
  Settle(finished, {&tokyo_, &paris_, &oslo_});
  ExpectAllInPlace(finished, {&tokyo_, &paris_, &oslo_});
}

TEST_F(HandOffTest, ARestoredReceiverIsToldCompleteAgain) {
  Know(two_, 40, 3);
  Settle(three_, {&tokyo_, &paris_, &oslo_});
  ASSERT_TRUE(oslo_.db->incoming().Reincarnate().ok());
  const uint64_t life = oslo_.db->records().identity()->incarnation();
  const Map joined = Join(three_, From("oslo", life), 7).value();
  Settle(joined, {&tokyo_, &paris_, &oslo_});
  EXPECT_EQ(*oslo_.db->incoming().completed_for({SiteId{1}, 7}),
            PlacedStamp(three_));
  ExpectAllInPlace(joined, {&tokyo_, &paris_, &oslo_});
}

// What the sender had on its way comes back when it hears of the new life: the
// walk had ended by then.
TEST_F(HandOffTest, AReceiverRestoredBeforeItTookAnythingGetsAllTheSame) {
  Know(two_, 40, 3);
  for (int i = 0; i < 1000; ++i) {
    for (TestSite* site : {&tokyo_, &paris_, &oslo_}) (void)site->Step(three_);
  }
  ASSERT_FALSE(tokyo_.db->outgoing().Sending(SiteId{3})->empty());
  ASSERT_TRUE(oslo_.db->incoming().Reincarnate().ok());
  const uint64_t life = oslo_.db->records().identity()->incarnation();
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
    if (Ownership(*view).IsMine(PageOf(h, 0).bytes))
      pages.push_back(PageOf(h, 0));
  }
  ASSERT_FALSE(pages.empty());
  ASSERT_TRUE(tokyo_.db->incoming().Inject(pages, kNow).ok());
  pages_ = static_cast<int>(pages.size());
  tokyo_.hand_off->WalkAgain();
  for (int i = 0; i < 100; ++i) (void)tokyo_.Step(settled);
  ASSERT_FALSE(tokyo_.db->outgoing().Sending(SiteId{3})->empty());
  ASSERT_TRUE(oslo_.db->incoming().Reincarnate().ok());
  const uint64_t life = oslo_.db->records().identity()->incarnation();
  const Map joined = Join(settled, From("oslo", life), 7).value();
  for (int i = 0; i < 100; ++i) (void)tokyo_.Step(joined);  // All done.
  // The pump greets the new life.
  ASSERT_TRUE(tokyo_.db->outgoing().OpenPair({SiteId{3}, life}).ok());
  Settle(joined, {&tokyo_, &paris_, &oslo_});
  ExpectAllInPlace(joined, {&tokyo_, &paris_, &oslo_});
}

// 'gannet inject' of a long list is many batches, and each asks for a walk.
TEST_F(HandOffTest, WalksThatAreAskedForKeepADistance) {
  const Map settled = FinishHandOff(three_).value();
  tokyo_.between_walks = absl::Seconds(2);
  tokyo_.Restart();
  Settle(settled, {&tokyo_});
  tokyo_.clock.Advance(absl::Seconds(2));
  const std::vector<PageKey> pages = PagesOf(settled, SiteId{3}, 3);
  const auto inject = [&](size_t i) {
    ASSERT_TRUE(tokyo_.db->incoming().Inject({pages[i]}, kNow).ok());
    tokyo_.hand_off->WalkAgain();
    for (int s = 0; s < 50; ++s) (void)tokyo_.Step(settled);
  };
  inject(0);  // At once.
  EXPECT_TRUE(
      absl::IsNotFound(tokyo_.db->records().GetPage(pages[0]).status()));
  inject(1);
  inject(2);
  EXPECT_TRUE(tokyo_.db->records().GetPage(pages[1]).ok());
  EXPECT_TRUE(tokyo_.hand_off->progress().is_waiting);
  EXPECT_FALSE(tokyo_.hand_off->progress().is_done);
  EXPECT_FALSE(tokyo_.Step(settled));

  tokyo_.clock.Advance(absl::Seconds(2));
  Settle(settled, {&tokyo_});
  EXPECT_TRUE(
      absl::IsNotFound(tokyo_.db->records().GetPage(pages[1]).status()));
  EXPECT_TRUE(
      absl::IsNotFound(tokyo_.db->records().GetPage(pages[2]).status()));
  EXPECT_TRUE(tokyo_.hand_off->progress().is_done);
}

// A change of the map is no such walk.
TEST_F(HandOffTest, ANewMapIsFollowedAtOnce) {
  tokyo_.between_walks = absl::Hours(1);
  tokyo_.Restart();
  Know(two_, 60, 5);
  Settle(two_, {&tokyo_, &paris_});
  Settle(three_, {&tokyo_, &paris_, &oslo_});
  ExpectAllInPlace(three_, {&tokyo_, &paris_, &oslo_});
}

}  // namespace
}  // namespace gannet::federation
