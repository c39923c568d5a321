// Pages that move from one crawl DB to another: none is lost and none is in
// both, whatever happens in between.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "storage/crawl_db/crawl_db.h"
#include "tests/storage/crawl_db/random_verbs.h"
#include "tests/temporary_folder.h"

namespace gannet::storage {
namespace {

using model::PageOf;

constexpr SiteId kTokyo{1}, kParis{2}, kOslo{3};

class MovingTest : public testing::Test {
 protected:
  MovingTest() {
    tokyo_ = model::OpenSmallDb(tokyo_folder_.path());
    paris_ = model::OpenSmallDb(paris_folder_.path());
    EXPECT_TRUE(tokyo_->outgoing().OpenPair(kToParis).ok());
  }
  ~MovingTest() override {
    for (CrawlDb* db : {tokyo_.get(), paris_.get()}) {
      EXPECT_EQ(model::FailedChecks(*db, false), "");
      EXPECT_EQ(model::FailedChecks(*db, true), "");
    }
  }

  static HostKey HostOf(const PageKey& page) {
    return HostKey{std::string(HostPartOf(page.bytes))};
  }
  // Fetches the page in a round of its own, due again at `ready`.
  void Fetch(CrawlDb& db, const PageKey& page, absl::Time visited,
             std::optional<absl::Time> ready) {
    ASSERT_TRUE(db.round().Open(now_).ok());
    Selection only = *db.frontier().Top(1000, 1000);
    std::erase_if(only.pages, [&](const auto& p) { return p.page != page; });
    ASSERT_EQ(*db.frontier().Claim(only), 1);
    ASSERT_TRUE(db.round().PayRoot().ok());
    ASSERT_TRUE(db.round().SetPhase(proto::FETCH).ok());
    Completion done;
    done.page = page;
    done.outcome.set_state(proto::FETCHED);
    done.outcome.set_visited_ms(ToMillis(visited));
    done.outcome.set_etag("\"v1\"");
    done.outcome.set_last_modified("yesterday");
    done.outcome.set_payload_digest("sha1:ABC");
    done.outcome.mutable_archive()->set_length(77);
    done.outcome.mutable_change()->set_visits(3);
    done.keeps_history = true;
    done.ready = ready;
    ASSERT_EQ(*db.round().Complete({done}, {}, {}), 1);
    ASSERT_TRUE(db.round().SetPhase(proto::UPDATE).ok());
    ASSERT_TRUE(db.round().Close("{}").ok());
  }
  // The batch as its receiver gets it.
  static Delivery DeliveryOf(const OutboxCut& cut) {
    Delivery delivery;
    delivery.from = kFromTokyo;
    delivery.sequence = cut.sequence;
    delivery.cash_so_far = cut.batch.cash_so_far();
    delivery.moved.assign(cut.batch.pages().begin(), cut.batch.pages().end());
    for (const proto::MovedHost& host : cut.batch.hosts()) {
      delivery.hosts.push_back({HostKey{host.host()}, host.record()});
    }
    delivery.complete_for = cut.batch.complete_for();
    return delivery;
  }
  // Delivers all batches that are being sent, and acknowledges them.
  void Deliver() {
    const auto cuts = tokyo_->outgoing().Sending(kParis);
    ASSERT_TRUE(cuts.ok());
    for (const OutboxCut& cut : *cuts) {
      const auto receipt = paris_->incoming().Receive(DeliveryOf(cut), {now_});
      ASSERT_TRUE(receipt.ok()) << receipt.status();
      ASSERT_TRUE(tokyo_->outgoing().Acknowledge(kToParis, receipt->last).ok());
    }
  }

  static constexpr Peer kToParis{kParis, 5};
  static constexpr Peer kFromTokyo{kTokyo, 9};
  TemporaryFolder tokyo_folder_, paris_folder_;
  std::unique_ptr<CrawlDb> tokyo_, paris_;
  absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
};

TEST_F(MovingTest, APageArrivesAsItWasButForWhatTheArchiveHas) {
  const PageKey page = PageOf(1, 1, 1);
  ASSERT_TRUE(tokyo_->incoming().Inject({page}, now_).ok());
  Fetch(*tokyo_, page, now_, now_ + absl::Hours(5));
  const proto::PageRecord before = *tokyo_->records().GetPage(page);
  const auto cut = tokyo_->moves().CutPages(kToParis, {HostOf(page)}, 10);
  ASSERT_TRUE(cut.ok()) << cut.status();
  EXPECT_EQ(cut->sequence, 1u);
  EXPECT_EQ(cut->pages, 1);
  EXPECT_EQ(cut->hosts_done, 1u);
  EXPECT_TRUE(absl::IsNotFound(tokyo_->records().GetPage(page).status()));
  EXPECT_EQ(tokyo_->totals().KnownPages(), 0);
  EXPECT_EQ(tokyo_->totals().outbox_urls.at(kParis), 1);
  Deliver();
  proto::PageRecord expected = before;
  expected.clear_archive();
  expected.clear_etag();
  expected.clear_last_modified();
  EXPECT_EQ(paris_->records().GetPage(page)->SerializeAsString(),
            expected.SerializeAsString());
  EXPECT_EQ(paris_->totals().scheduled_pages, 1);
  EXPECT_EQ(*paris_->records().HostPages(HostOf(page)), 1);
  EXPECT_EQ(*tokyo_->records().HostPages(HostOf(page)), 0);
  EXPECT_TRUE(tokyo_->totals().outbox_urls.empty());
}

TEST_F(MovingTest, CashThatMovesIsBookedAsHandedAndTakenOver) {
  ASSERT_TRUE(
      tokyo_->incoming().Inject({PageOf(1, 1, 1), PageOf(1, 1, 2)}, now_).ok());
  ASSERT_TRUE(
      tokyo_->moves().CutPages(kToParis, {HostOf(PageOf(1, 1, 1))}, 10).ok());
  EXPECT_EQ(tokyo_->totals().outbox, 2 * kSeedCash);
  EXPECT_EQ(tokyo_->totals().pages, 0);
  Deliver();
  EXPECT_EQ(tokyo_->totals().outbox, 0);
  EXPECT_EQ(tokyo_->totals().handed_over, 2 * kSeedCash);
  EXPECT_EQ(tokyo_->totals().acknowledged, 0);
  EXPECT_EQ(paris_->totals().taken_over, 2 * kSeedCash);
  EXPECT_EQ(paris_->totals().received, 0);
  EXPECT_EQ(paris_->totals().pages, 2 * kSeedCash);
}

TEST_F(MovingTest, ABatchEndsWithTheMostPagesAndTheNextGoesOn) {
  std::vector<PageKey> pages;
  for (int i = 0; i < 10; ++i) pages.push_back(PageOf(1, i % 2, i));
  ASSERT_TRUE(tokyo_->incoming().Inject(pages, now_).ok());
  const std::vector<HostKey> hosts = {HostOf(PageOf(1, 0, 0)),
                                      HostOf(PageOf(1, 1, 1))};
  auto cut = *tokyo_->moves().CutPages(kToParis, hosts, 7);
  EXPECT_EQ(cut.pages, 7);
  EXPECT_EQ(cut.hosts_done, 1u);
  cut = *tokyo_->moves().CutPages(kToParis, {hosts[1]}, 7);
  EXPECT_EQ(cut.pages, 3);
  EXPECT_EQ(cut.hosts_done, 1u);
  EXPECT_EQ(tokyo_->moves().CutPages(kToParis, hosts, 7)->sequence, 0u);
  // The limit on bytes always allows one page.
  Deliver();
  EXPECT_EQ(paris_->totals().frontier_pages, 10);
  ASSERT_TRUE(paris_->outgoing().OpenPair({kOslo, 1}).ok());
  EXPECT_EQ(paris_->moves().CutPages({kOslo, 1}, hosts, 7, 1)->pages, 1);
}

// A page is added that the cursor has already passed: the cut does not read it
// again; its host's record stays because of it, and the next walk finds it.
TEST_F(MovingTest, WithACursorItGoesOnWhereTheLastCutEnded) {
  std::vector<PageKey> pages;
  for (int i = 0; i < 9; ++i) pages.push_back(PageOf(1, 1, i));
  std::sort(pages.begin(), pages.end());
  HostUpdate host{HostOf(pages[0]), {}};
  host.record.set_version(1);
  host.record.set_delay_ms(7);
  ASSERT_TRUE(tokyo_->records().PutHost(host).ok());
  ASSERT_TRUE(tokyo_->incoming().Inject(pages, now_).ok());
  std::string cursor;
  auto cut =
      *tokyo_->moves().CutPages(kToParis, {host.host}, 4, 1 << 20, &cursor);
  EXPECT_EQ(cut.pages, 4);
  EXPECT_EQ(cut.hosts_done, 0u);
  EXPECT_EQ(cursor, pages[4].bytes);
  ASSERT_TRUE(tokyo_->incoming().Inject({pages[1]}, now_).ok());
  cut = *tokyo_->moves().CutPages(kToParis, {host.host}, 10, 1 << 20, &cursor);
  EXPECT_EQ(cut.pages, 5);
  EXPECT_EQ(cut.hosts_done, 1u);
  EXPECT_EQ(cursor, "");
  EXPECT_EQ(*tokyo_->records().HostPages(host.host), 1);
  EXPECT_EQ(tokyo_->records().GetHost(host.host)->delay_ms(), 7u);
  cut = *tokyo_->moves().CutPages(kToParis, {host.host}, 10, 1 << 20, &cursor);
  EXPECT_EQ(cut.pages, 1);
  EXPECT_EQ(tokyo_->records().GetHost(host.host)->delay_ms(), 0u);
  Deliver();
  EXPECT_EQ(*paris_->records().HostPages(host.host), 9);
}

TEST_F(MovingTest, ACursorPassesPagesOfTheOpenRoundAndTheyKeepTheirHost) {
  std::vector<PageKey> pages;
  for (int i = 0; i < 6; ++i) pages.push_back(PageOf(1, 1, i));
  std::sort(pages.begin(), pages.end());
  ASSERT_TRUE(tokyo_->incoming().Inject(pages, now_).ok());
  ASSERT_TRUE(tokyo_->round().Open(now_).ok());
  Selection first = *tokyo_->frontier().Top(10, 10);
  std::erase_if(first.pages, [&](const auto& p) { return p.page != pages[0]; });
  ASSERT_EQ(*tokyo_->frontier().Claim(first), 1);
  const HostKey host = HostOf(pages[0]);
  std::string cursor;
  auto cut = *tokyo_->moves().CutPages(kToParis, {host}, 3, 1 << 20, &cursor);
  EXPECT_EQ(cut.in_round, 1);
  cut = *tokyo_->moves().CutPages(kToParis, {host}, 3, 1 << 20, &cursor);
  EXPECT_EQ(cut.pages, 2);
  EXPECT_EQ(cut.hosts_done, 1u);
  EXPECT_EQ(*tokyo_->records().HostPages(host), 1);
}

TEST_F(MovingTest, PagesOfTheOpenRoundStayUntilTheyAreFetched) {
  const PageKey claimed = PageOf(1, 1, 1), free = PageOf(1, 1, 2);
  ASSERT_TRUE(tokyo_->incoming().Inject({claimed}, now_).ok());
  ASSERT_TRUE(tokyo_->round().Open(now_).ok());
  ASSERT_EQ(*tokyo_->frontier().Claim(*tokyo_->frontier().Top(10, 10)), 1);
  ASSERT_TRUE(tokyo_->round().PayRoot().ok());
  ASSERT_TRUE(tokyo_->round().SetPhase(proto::FETCH).ok());
  ASSERT_TRUE(tokyo_->incoming().PutIfAbsent({FoundUrl{free, 8}}, {now_}).ok());
  HostUpdate rest{HostOf(free), {}};
  rest.record.set_rest_until_ms(ToMillis(now_ + absl::Hours(1)));
  ASSERT_TRUE(tokyo_->records().PutHost(rest).ok());

  auto cut = *tokyo_->moves().CutPages(kToParis, {HostOf(free)}, 10);
  EXPECT_EQ(cut.pages, 1);
  EXPECT_EQ(cut.in_round, 1);
  EXPECT_EQ(cut.hosts_done, 1u);
  EXPECT_EQ(tokyo_->outgoing().Sending(kParis)->front().batch.hosts_size(), 0);
  ASSERT_TRUE(tokyo_->frontier().Release({claimed}).ok());
  cut = *tokyo_->moves().CutPages(kToParis, {HostOf(free)}, 10);
  EXPECT_EQ(cut.pages, 1);
  EXPECT_EQ(cut.in_round, 0);
  EXPECT_EQ(tokyo_->outgoing().Sending(kParis)->back().batch.hosts_size(), 1);
  Deliver();
  EXPECT_EQ(paris_->totals().frontier_pages, 2);
  // The host's rest went with it.
  EXPECT_TRUE(paris_->frontier().Top(10, 10)->pages.empty());
  EXPECT_EQ(tokyo_->records().GetHost(HostOf(free))->version(), 0u);
  ASSERT_TRUE(tokyo_->incoming().PutIfAbsent({FoundUrl{free, 8}}, {now_}).ok());
  EXPECT_EQ(tokyo_->frontier().Top(10, 10)->pages.size(), 1u);
}

TEST_F(MovingTest, PagesThatStandAsideMoveToo) {
  ASSERT_TRUE(
      tokyo_->incoming().Inject({PageOf(1, 1, 1), PageOf(1, 1, 2)}, now_).ok());
  HostUpdate rest{HostOf(PageOf(1, 1, 1)), {}};
  rest.record.set_rest_until_ms(ToMillis(now_ + absl::Hours(1)));
  ASSERT_TRUE(tokyo_->records().PutHost(rest).ok());
  ASSERT_TRUE(
      tokyo_->frontier().PutAside(*tokyo_->frontier().Top(10, 10)).ok());
  EXPECT_EQ(tokyo_->moves().CutPages(kToParis, {rest.host}, 10)->pages, 2);
  Deliver();
  EXPECT_EQ(*paris_->frontier().WakeDue(now_ + absl::Hours(2), 10, 10), 0);
  EXPECT_EQ(paris_->frontier().Top(10, 10)->pages.size(), 2u);
}

TEST_F(MovingTest, AHostThatHasOnlyARecordMovesAlone) {
  HostUpdate host{HostOf(PageOf(1, 1, 1)), {}};
  host.record.set_failures(3);
  host.record.set_last_failure("tls_expired");
  ASSERT_TRUE(tokyo_->records().PutHost(host).ok());
  EXPECT_EQ(tokyo_->moves().CutPages(kToParis, {host.host}, 10)->sequence, 1u);
  EXPECT_EQ(tokyo_->moves().CutPages(kToParis, {host.host}, 10)->sequence, 0u);
  Deliver();
  EXPECT_EQ(paris_->records().GetHost(host.host)->failures(), 3u);
  EXPECT_EQ(paris_->records().GetHost(host.host)->last_failure(),
            "tls_expired");
}

// The peer may be of a later version, or hostile: records that are stored must
// be readable.
TEST_F(MovingTest, AnUnknownNameOfAFailureIsDropped) {
  // Cut anywhere, the last is not UTF-8.
  for (const std::string& name :
       {std::string(65, 'a'), std::string("Tls Expired"),
        std::string(63, 'a') + "\u00e9"}) {
    HostUpdate host{HostOf(PageOf(1, 1, 1)), {}};
    host.record.set_failures(paris_->records().GetHost(host.host)->failures() +
                             1);
    host.record.set_last_failure(name);
    ASSERT_TRUE(tokyo_->records().PutHost(host).ok());
    ASSERT_TRUE(tokyo_->moves().CutPages(kToParis, {host.host}, 10).ok());
    Deliver();
    const absl::StatusOr<proto::HostRecord> moved =
        paris_->records().GetHost(host.host);
    ASSERT_TRUE(moved.ok()) << moved.status();
    EXPECT_EQ(moved->failures(), host.record.failures());
    EXPECT_EQ(moved->last_failure(), "");
  }
}

TEST_F(MovingTest, OfTwoRecordsOfAHostTheMoreCarefulIsKept) {
  HostUpdate host{HostOf(PageOf(1, 1, 1)), {}};
  host.record.set_delay_ms(500);
  host.record.set_rest_until_ms(ToMillis(now_ + absl::Hours(2)));
  proto::RobotsRules* rules = host.record.add_robots();
  rules->set_origin("http://a");
  rules->set_text("newer");
  rules->set_expires_ms(20);
  ASSERT_TRUE(tokyo_->records().PutHost(host).ok());
  host.record.set_delay_ms(900);
  host.record.set_rest_until_ms(ToMillis(now_ + absl::Hours(1)));
  rules->set_text("older");
  rules->set_expires_ms(10);
  ASSERT_TRUE(paris_->records().PutHost(host).ok());
  ASSERT_TRUE(tokyo_->moves().CutPages(kToParis, {host.host}, 10).ok());
  Deliver();
  const proto::HostRecord merged = *paris_->records().GetHost(host.host);
  EXPECT_EQ(merged.delay_ms(), 900);
  EXPECT_EQ(merged.rest_until_ms(), ToMillis(now_ + absl::Hours(2)));
  ASSERT_EQ(merged.robots_size(), 1);
  EXPECT_EQ(merged.robots(0).text(), "newer");
}

// RFC 9309, 2.4: "Crawlers SHOULD NOT use the cached version for more than 24
// hours".
TEST_F(MovingTest, ARobotsTxtThatMovesIsNotUsedForLongerThanADay) {
  HostUpdate host{HostOf(PageOf(1, 1, 1)), {}};
  for (const char* origin : {"http://a", "https://a"}) {
    host.record.add_robots()->set_origin(origin);
  }
  host.record.mutable_robots(0)->set_expires_ms(
      ToMillis(now_ + absl::Hours(24 * 365)));
  host.record.mutable_robots(1)->set_expires_ms(
      ToMillis(now_ + absl::Hours(1)));
  ASSERT_TRUE(tokyo_->records().PutHost(host).ok());
  ASSERT_TRUE(tokyo_->moves().CutPages(kToParis, {host.host}, 10).ok());
  Deliver();
  const proto::HostRecord moved = *paris_->records().GetHost(host.host);
  ASSERT_EQ(moved.robots_size(), 2);
  EXPECT_EQ(moved.robots(0).expires_ms(), ToMillis(now_ + absl::Hours(24)));
  EXPECT_EQ(moved.robots(1).expires_ms(), ToMillis(now_ + absl::Hours(1)));
}

TEST_F(MovingTest, WhereBothHaveAPageTheLaterVisitWinsAndCashAdds) {
  const PageKey page = PageOf(1, 1, 1);
  ASSERT_TRUE(tokyo_->incoming().Inject({page}, now_).ok());
  Fetch(*tokyo_, page, now_, now_ + absl::Hours(5));
  // Paris has only heard of it.
  ASSERT_TRUE(
      paris_->incoming().PutIfAbsent({FoundUrl{page, 100}}, {now_}).ok());
  ASSERT_TRUE(tokyo_->moves().CutPages(kToParis, {HostOf(page)}, 10).ok());
  Deliver();
  proto::PageRecord merged = *paris_->records().GetPage(page);
  EXPECT_EQ(merged.state(), proto::FETCHED);
  EXPECT_EQ(merged.place(), proto::SCHEDULED);
  EXPECT_EQ(merged.cash(), 100);
  EXPECT_EQ(merged.history(), kSeedCash);
  EXPECT_EQ(paris_->totals().frontier_pages, 0);

  // Tokyo hears of it again: a page that was never fetched does not replace a
  // fetched one.
  ASSERT_TRUE(
      tokyo_->incoming().PutIfAbsent({FoundUrl{page, 11}}, {now_}).ok());
  ASSERT_TRUE(tokyo_->moves().CutPages(kToParis, {HostOf(page)}, 10).ok());
  Deliver();
  merged = *paris_->records().GetPage(page);
  EXPECT_EQ(merged.state(), proto::FETCHED);
  EXPECT_EQ(merged.cash(), 111);
  EXPECT_EQ(paris_->totals().KnownPages(), 1);
}

TEST_F(MovingTest, APageThatIsBeingFetchedOnlyGainsCash) {
  const PageKey page = PageOf(1, 1, 1);
  ASSERT_TRUE(
      tokyo_->incoming().PutIfAbsent({FoundUrl{page, 30}}, {now_}).ok());
  ASSERT_TRUE(paris_->incoming().PutIfAbsent({FoundUrl{page, 4}}, {now_}).ok());
  ASSERT_TRUE(paris_->round().Open(now_).ok());
  ASSERT_EQ(*paris_->frontier().Claim(*paris_->frontier().Top(10, 10)), 1);
  ASSERT_TRUE(tokyo_->moves().CutPages(kToParis, {HostOf(page)}, 10).ok());
  Deliver();
  EXPECT_EQ(paris_->records().GetPage(page)->cash(), 34);
  EXPECT_EQ(paris_->totals().round_pages, 1);
}

TEST_F(MovingTest, ABatchOfPagesThatComesAgainIsTakenOnce) {
  ASSERT_TRUE(tokyo_->incoming().Inject({PageOf(1, 1, 1)}, now_).ok());
  ASSERT_TRUE(
      tokyo_->moves().CutPages(kToParis, {HostOf(PageOf(1, 1, 1))}, 10).ok());
  const Delivery delivery =
      DeliveryOf(tokyo_->outgoing().Sending(kParis)->front());
  EXPECT_EQ(paris_->incoming().Receive(delivery, {now_})->moved, 1);
  EXPECT_FALSE(paris_->incoming().Receive(delivery, {now_})->is_new);
  EXPECT_EQ(paris_->totals().taken_over, kSeedCash);
}

TEST_F(MovingTest, MovedPagesAndHostsWithInvalidRecordsAreRefused) {
  const auto refuse = [&](const std::function<void(Delivery&)>& change) {
    Delivery delivery;
    delivery.from = kFromTokyo;
    delivery.sequence = 1;
    proto::MovedPage page;
    page.set_page(PageOf(1, 1, 1).bytes);
    page.mutable_record()->set_cash(7);
    delivery.moved.push_back(page);
    delivery.cash_so_far = 7;
    change(delivery);
    const absl::Status status =
        paris_->incoming().Receive(delivery, {now_}).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  };
  refuse([](Delivery& d) { d.moved[0].set_page("nonsense"); });
  refuse([](Delivery& d) { d.moved[0].mutable_record()->set_cash(-7); });
  refuse([](Delivery& d) { d.cash_so_far = 8; });
  refuse([](Delivery& d) {
    d.moved[0].mutable_record()->set_place(static_cast<proto::PagePlace>(9));
  });
  // The state to which the end of a block would return it is checked too.
  refuse([](Delivery& d) {
    proto::BeforeBlock& before =
        *d.moved[0].mutable_record()->mutable_before_block();
    before.set_state(static_cast<proto::PageState>(100'000));
  });
  refuse([](Delivery& d) {
    proto::BeforeBlock& before =
        *d.moved[0].mutable_record()->mutable_before_block();
    before.set_place(static_cast<proto::PagePlace>(-1));
  });
  refuse([](Delivery& d) {
    d.mine.push_back(FoundUrl{PageOf(1, 1, 1), 1});
    d.cash_so_far = 8;
  });
  refuse([](Delivery& d) { d.hosts.push_back({HostKey{"nonsense"}, {}}); });
  refuse([](Delivery& d) { d.hosts.assign(2, {HostOf(PageOf(1, 1, 1)), {}}); });
  EXPECT_EQ(paris_->totals().KnownPages(), 0);
}

TEST_F(MovingTest, IfTheReceiverIsRestoredThePagesAreBackWithTheirArchive) {
  const PageKey page = PageOf(1, 1, 1);
  ASSERT_TRUE(tokyo_->incoming().Inject({page, PageOf(1, 1, 2)}, now_).ok());
  Fetch(*tokyo_, page, now_, now_ + absl::Hours(5));
  HostUpdate rest{HostOf(page), {}};
  rest.record.set_rest_until_ms(ToMillis(now_ + absl::Hours(1)));
  ASSERT_TRUE(tokyo_->records().PutHost(rest).ok());
  const std::string before =
      tokyo_->records().GetPage(page)->SerializeAsString();
  ASSERT_TRUE(tokyo_->moves().CutPages(kToParis, {HostOf(page)}, 10).ok());
  ASSERT_TRUE(tokyo_->moves().CutComplete(kToParis, 4).ok());
  ASSERT_TRUE(tokyo_->outgoing().OpenPair({kParis, 6}).ok());
  EXPECT_EQ(tokyo_->records().GetPage(page)->SerializeAsString(), before);
  EXPECT_EQ(tokyo_->totals().outbox, 0);
  EXPECT_TRUE(tokyo_->outgoing().Sending(kParis)->empty());
  EXPECT_EQ(tokyo_->outgoing().sent_pair(kParis)->completed_for(), 0u);
  EXPECT_TRUE(
      tokyo_->frontier().Top(10, 10)->pages.empty());  // The host rests again.
}

TEST_F(MovingTest, APageThatWasFoundAgainMeanwhileIsMergedWhenItComesBack) {
  const PageKey page = PageOf(1, 1, 1);
  ASSERT_TRUE(tokyo_->incoming().Inject({page}, now_).ok());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(tokyo_->moves().CutPages(kToParis, {HostOf(page)}, 10).ok());
    ASSERT_TRUE(
        tokyo_->incoming().PutIfAbsent({FoundUrl{page, 5}}, {now_}).ok());
  }
  ASSERT_TRUE(tokyo_->outgoing().ClosePair(kParis).ok());
  EXPECT_EQ(tokyo_->records().GetPage(page)->cash(), kSeedCash + 15);
  EXPECT_TRUE(absl::IsFailedPrecondition(
      tokyo_->moves().CutPages(kToParis, {HostOf(page)}, 10).status()));
  EXPECT_TRUE(tokyo_->outgoing().Destinations()->empty());
}

TEST_F(MovingTest, CompleteIsSaidOnceAndHeardByThatLifeOnly) {
  ASSERT_TRUE(tokyo_->moves().CutComplete(kToParis, 4).ok());
  ASSERT_TRUE(tokyo_->moves().CutComplete(kToParis, 4).ok());
  EXPECT_EQ(tokyo_->outgoing().Sending(kParis)->size(), 1u);
  EXPECT_EQ(*paris_->incoming().completed_for(kFromTokyo), 0u);
  Deliver();
  EXPECT_EQ(*paris_->incoming().completed_for(kFromTokyo), 4u);
  EXPECT_EQ(*paris_->incoming().completed_for({kTokyo, 10}), 0u);
  const proto::SentPair pair = *tokyo_->outgoing().sent_pair(kParis);
  EXPECT_EQ(pair.completed_for(), 4u);
  EXPECT_EQ(pair.completed_at(), 1u);
  EXPECT_EQ(pair.acknowledged(), 1u);
}

TEST_F(MovingTest, ABlockTravelsWithThePageAndIsTheReceiversToJudge) {
  const PageKey page = PageOf(1, 1, 1), other = PageOf(2, 1, 1);
  ASSERT_TRUE(tokyo_->incoming().Inject({page, other}, now_).ok());
  ASSERT_EQ(*tokyo_->blocks().Block("d1.example"), 1);
  ASSERT_EQ(*paris_->blocks().Block("d2.example"), 0);
  ASSERT_TRUE(tokyo_->moves()
                  .CutPages(kToParis, {HostOf(page), HostOf(other)}, 10)
                  .ok());
  Deliver();
  // Not blocked in Paris: it is what it was before.
  EXPECT_EQ(paris_->records().GetPage(page)->state(), proto::NEW);
  EXPECT_EQ(paris_->records().GetPage(page)->place(), proto::READY);
  // Blocked in Paris, and put back when it no longer is.
  EXPECT_EQ(paris_->records().GetPage(other)->state(), proto::BLOCKED);
  EXPECT_EQ(paris_->totals().root, kSeedCash);
  EXPECT_EQ(*paris_->blocks().Unblock("d2.example"), 1);
  EXPECT_EQ(paris_->records().GetPage(other)->state(), proto::NEW);
}

TEST_F(MovingTest, ABrokenPeerCannotPutABlockedPageAwayForEver) {
  const PageKey page = PageOf(1, 1, 1);
  Delivery delivery;
  delivery.from = kFromTokyo;
  delivery.sequence = 1;
  proto::MovedPage& moved = delivery.moved.emplace_back();
  moved.set_page(page.bytes);
  proto::PageRecord& record = *moved.mutable_record();
  record.set_state(proto::BLOCKED);
  record.set_place(proto::FINISHED);
  record.set_finished_reason(kBlockedByOperator);
  record.mutable_before_block()->set_state(proto::FETCHED);
  record.mutable_before_block()->set_place(proto::SCHEDULED);
  record.mutable_before_block()->set_ready_ms(int64_t{1} << 60);
  ASSERT_TRUE(paris_->incoming().Receive(delivery, {now_}).ok());
  const proto::PageRecord arrived = *paris_->records().GetPage(page);
  EXPECT_EQ(arrived.place(), proto::SCHEDULED);
  EXPECT_LE(arrived.ready_ms(), ToMillis(now_ + absl::Hours(24 * 400)));
}

TEST_F(MovingTest, GainsWaitApartUntilTheyAreReleased) {
  const PageKey page = PageOf(1, 1, 1);
  ASSERT_TRUE(tokyo_->incoming().Inject({page}, now_).ok());
  ASSERT_TRUE(tokyo_->round().Open(now_).ok());
  ASSERT_EQ(*tokyo_->frontier().Claim(*tokyo_->frontier().Top(1, 1)), 1);
  ASSERT_TRUE(tokyo_->round().PayRoot().ok());
  ASSERT_TRUE(tokyo_->round().SetPhase(proto::FETCH).ok());
  Completion done;
  done.page = page;
  done.outcome.set_state(proto::FETCHED);
  done.outlinks = {PageOf(2, 1, 1), PageOf(2, 1, 2)};
  ASSERT_TRUE(tokyo_->round().Complete({done}, {}, {}).ok());
  ASSERT_TRUE(tokyo_->round().SetPhase(proto::UPDATE).ok());
  Settlement batch;
  batch.cursor = std::max(done.outlinks[0], done.outlinks[1]).bytes;
  batch.gains.emplace_back(kParis, FoundUrl{done.outlinks[0], kSeedCash / 2});
  batch.remote.emplace_back(kParis, FoundUrl{done.outlinks[1], kSeedCash / 2});
  ASSERT_TRUE(tokyo_->round().Settle(batch, {now_}).ok());
  EXPECT_EQ(tokyo_->round().journal().counts().sent_to().at(2), 1);
  EXPECT_EQ(tokyo_->totals().outbox_urls.at(kParis), 2);
  EXPECT_EQ(tokyo_->outgoing().CutOutbox(kToParis, 10)->batch.urls_size(), 1);
  EXPECT_TRUE(
      absl::IsNotFound(tokyo_->outgoing().CutOutbox(kToParis, 10).status()));
  EXPECT_EQ(*tokyo_->waiting().ReleaseGains(), 1);
  EXPECT_EQ(*tokyo_->waiting().ReleaseGains(), 0);
  EXPECT_EQ(tokyo_->outgoing().CutOutbox(kToParis, 10)->batch.urls_size(), 1);
  EXPECT_EQ(tokyo_->totals().outbox, kSeedCash);
}

}  // namespace
}  // namespace gannet::storage
