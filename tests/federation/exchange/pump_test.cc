// An outbox on its way to another site, over streams that break.
#include "federation/exchange/pump.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "absl/time/clock.h"
#include "federation/exchange/batch_receiver.h"
#include "federation/exchange/greeting.h"
#include "federation/exchange/zstd_frame.h"
#include "federation/map/map_changes.h"
#include "federation/ownership/ownership.h"
#include "storage/url/surt.h"
#include "tests/simulated_clock.h"
#include "tests/temporary_folder.h"

namespace gannet::federation {
namespace {

using storage::CrawlDb;
using storage::FoundUrl;
using storage::PageKey;
using testing::HasSubstr;

constexpr storage::SiteId kTokyo{1}, kParis{2};
const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

Applicant From(const std::string& name, uint64_t incarnation) {
  Applicant applicant;
  applicant.name = name;
  applicant.incarnation = incarnation;
  applicant.address = "127.0.0.1:7701";
  return applicant;
}

// A site without network: its crawl DB, its map, and its receiver of batches.
struct TestSite {
  TestSite(const std::string& name, uint64_t incarnation) : name(name) {
    storage::CrawlDbSettings settings;
    settings.folder = folder.path();
    db = CrawlDb::Open(settings).value();
    proto::SiteIdentity identity;
    identity.set_name(name);
    identity.set_incarnation(incarnation);
    EXPECT_TRUE(db->records().SetIdentity(identity).ok());
    maps = std::make_unique<MapHolder>(
        name, [](const Map&) { return absl::OkStatus(); },
        storage::SystemClock());
    Restart({});
  }
  void Restart(const proto::MapRules& rules) {
    receiver = std::make_unique<BatchReceiver>(
        BatchReceiverSettings{.rules = rules}, *db, *maps, canonicaliser,
        *filter, clock);
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
  SimulatedClock clock{kNow};
  storage::Canonicaliser canonicaliser;
  std::unique_ptr<storage::UrlFilter> filter =
      storage::UrlFilter::Create({}).value();
  std::unique_ptr<CrawlDb> db;
  std::unique_ptr<MapHolder> maps;
  std::unique_ptr<BatchReceiver> receiver;
};

// Carries batches straight to the receiver; tests make it lose, repeat and
// damage them.
class TestStream : public PutStream {
 public:
  explicit TestStream(TestSite& to) : to_(to) {}

  bool Write(const peers::PutRequest& request) override {
    if (request.has_greeting()) {
      const auto view = to_.maps->view();
      auto peer = CheckGreeting(*view, request.greeting());
      if (!peer.ok()) return End(peer.status());
      peer_ = *peer;
      peers::PutReply reply;
      *reply.mutable_greeting() = answer_with.value_or(
          MakeGreeting(*view, to_.db->records().identity()->incarnation())
              .value());
      reply.set_last(to_.db->incoming().received_pair(peer_)->last());
      replies_.push_back(reply);
      return true;
    }
    if (writes_left-- == 0) return End(absl::UnavailableError("link cut"));
    peers::Batch batch = request.batch();
    most_flying = std::max(most_flying, batch.sequence() - heard_);
    if (damage) damage(batch);
    for (int i = 0; i < (repeat ? 2 : 1); ++i) {
      OpenedBatch opened = to_.receiver->Open(peer_, batch);
      if (before_take) before_take();
      auto receipt = to_.receiver->Store(peer_, batch, std::move(opened));
      if (!receipt.ok()) return End(receipt.status());
      peers::PutReply reply;
      reply.set_last(receipt->last);
      replies_.push_back(reply);
    }
    return true;
  }
  bool Read(peers::PutReply& reply) override {
    if (reads_left-- == 0) return End(absl::UnavailableError("link cut"));
    if (replies_.empty()) return End(absl::UnavailableError("silence"));
    reply = replies_.front();
    replies_.pop_front();
    heard_ = reply.last();
    return true;
  }
  absl::Status Finish() override { return ended_; }

  int writes_left = -1, reads_left = -1;
  bool repeat = false;
  std::function<void(peers::Batch&)> damage;
  std::function<void()> before_take;  // When a batch is opened.
  uint64_t most_flying = 0;  // Batches whose replies were not heard yet.
  std::optional<peers::Greeting> answer_with;

 private:
  bool End(const absl::Status& why) {
    if (ended_.ok()) ended_ = why;
    return false;
  }

  TestSite& to_;
  storage::Peer peer_;
  uint64_t heard_ = 0;
  std::deque<peers::PutReply> replies_;
  absl::Status ended_;
};

class PumpTest : public testing::Test {
 protected:
  PumpTest() {
    Map map = FoundFederation(From("tokyo", 1), 9, {}, true).value();
    map = Join(Invite(map, "paris").value(), From("paris", 1)).value();
    Offer(FinishHandOff(map).value());
    pump_ = std::make_unique<Pump>(
        PumpSettings{.urls_of_batch = 10, .look_every = absl::Milliseconds(1)},
        *tokyo_.db, *tokyo_.maps, kParis);
  }
  void Offer(const Map& map) {
    ASSERT_TRUE(tokyo_.maps->Offer(map).ok());
    ASSERT_TRUE(paris_.maps->Offer(map).ok());
  }
  // The `i`-th page that Paris owns.
  PageKey ParisPage(int i) {
    for (int salt = 0;; ++salt) {
      const auto url = storage::Url::Parse(
          fmt::format("http://d{}-{}.example/{}", i, salt, i));
      PageKey page = storage::PageKeyOf(*url);
      if (Ownership(*tokyo_.maps->view()).OwnerOf(page.bytes) == kParis)
        return page;
    }
  }
  // Puts URLs into Tokyo's outbox, as if a third site had sent them.
  void Fill(int from, int count) {
    storage::Delivery delivery;
    delivery.from = {storage::SiteId{3}, 1};
    delivery.sequence = ++filled_;
    for (int i = from; i < from + count; ++i) {
      delivery.forwarded.emplace_back(kParis,
                                      storage::FoundUrl{ParisPage(i), 100 + i});
      cash_ += 100 + i;
    }
    delivery.cash_so_far = cash_;
    ASSERT_TRUE(tokyo_.db->incoming().Receive(delivery, {kNow}).ok());
  }
  // Runs the pump until the outbox is empty, or the stream ends.
  absl::Status RunOver(TestStream& stream) {
    std::atomic<bool> stop = false;
    std::thread stopper([&] {
      for (int i = 0; i < 2000 && !done_; ++i) {
        const auto totals = tokyo_.db->totals();
        const auto waiting = totals.outbox_urls.find(kParis);
        if (waiting == totals.outbox_urls.end() || waiting->second == 0) break;
        absl::SleepFor(absl::Milliseconds(1));
      }
      stop = true;
    });
    const absl::Status status = pump_->Run(stream, stop);
    done_ = true;
    stopper.join();
    done_ = false;
    return status;
  }
  // Each damaged batch is refused, with an error that forbids to try again, and
  // changes nothing; the undamaged one still gets through afterwards.
  void ExpectRefused(
      const std::vector<std::function<void(peers::Batch&)>>& damages) {
    for (const auto& damage : damages) {
      TestStream stream(paris_);
      stream.damage = damage;
      const absl::Status refused = RunOver(stream);
      EXPECT_FALSE(refused.ok());
      EXPECT_FALSE(absl::IsUnavailable(refused)) << refused;
      EXPECT_EQ(paris_.db->totals().KnownPages(), 0);
    }
    EXPECT_EQ(paris_.receiver->counts().refused, damages.size());
    TestStream honest(paris_);
    EXPECT_TRUE(RunOver(honest).ok());
  }
  void ExpectAllThere(int count) {
    EXPECT_EQ(paris_.db->totals().KnownPages(), count);
    for (int i = 0; i < count; ++i) {
      const auto page = paris_.db->records().GetPage(ParisPage(i));
      ASSERT_TRUE(page.ok()) << i;
      EXPECT_EQ(page->cash(), 100 + i);
    }
    EXPECT_EQ(paris_.db->totals().received, cash_);
    EXPECT_EQ(tokyo_.db->totals().acknowledged, cash_);
    EXPECT_EQ(tokyo_.db->totals().outbox, 0);
    EXPECT_EQ(tokyo_.FailedChecks(), "");
    EXPECT_EQ(paris_.FailedChecks(), "");
  }

  TestSite tokyo_{"tokyo", 1}, paris_{"paris", 1};
  std::unique_ptr<Pump> pump_;
  std::atomic<bool> done_ = false;
  uint64_t filled_ = 0;
  int64_t cash_ = 0;
};

TEST_F(PumpTest, AnOutboxArrivesWholeAndOnce) {
  Fill(0, 95);
  TestStream stream(paris_);
  EXPECT_TRUE(RunOver(stream).ok());
  ExpectAllThere(95);
  EXPECT_EQ(pump_->counts().batches, 10u);
  EXPECT_EQ(pump_->counts().urls, 95u);
  EXPECT_GT(pump_->counts().bytes.urls, 95u);
  EXPECT_EQ(paris_.receiver->counts().urls, 95u);
}

TEST_F(PumpTest, AReceiverThatFallsBehindGetsNoMoreThanAFewBatches) {
  Fill(0, 95);
  TestStream stream(paris_);
  EXPECT_TRUE(RunOver(stream).ok());
  ExpectAllThere(95);
  // It sends as many as it may, and does not wait for each reply.
  EXPECT_EQ(stream.most_flying, PumpSettings().most_unacknowledged);
}

TEST_F(PumpTest, BytesOfPagesThatMoveAreCountedApart) {
  Fill(0, 10);
  TestStream first(paris_);
  EXPECT_TRUE(RunOver(first).ok());
  const Pump::Counts before = pump_->counts();
  EXPECT_GT(before.bytes.urls, 0u);
  EXPECT_EQ(before.bytes.pages, 0u);

  const PageKey page = ParisPage(50);
  ASSERT_TRUE(tokyo_.db->incoming().Inject({{page}}, kNow).ok());
  const std::vector<storage::HostKey> hosts = {
      {std::string(storage::HostPartOf(page.bytes))}};
  const auto cut = tokyo_.db->moves().CutPages({kParis, 1}, hosts, 10);
  ASSERT_TRUE(cut.ok()) << cut.status();
  ASSERT_EQ(cut->pages, 1);
  TestStream second(paris_);
  EXPECT_TRUE(RunOver(second).ok());
  EXPECT_EQ(pump_->counts().pages, 1u);
  EXPECT_EQ(pump_->counts().urls, before.urls);
  // So the number of bytes per URL is not distorted.
  EXPECT_EQ(pump_->counts().bytes.urls, before.bytes.urls);
  EXPECT_GT(pump_->counts().bytes.pages, 0u);
}

TEST_F(PumpTest, ALinkThatBreaksAnywhereLosesAndRepeatsNothing) {
  std::mt19937 random(5);
  int filled = 0;
  for (int i = 0; i < 60; ++i) {
    Fill(filled, 7);
    filled += 7;
    TestStream stream(paris_);
    stream.writes_left = static_cast<int>(random() % 5);
    stream.reads_left = static_cast<int>(random() % 6);
    stream.repeat = random() % 3 == 0;
    (void)RunOver(stream);
  }
  TestStream healed(paris_);
  EXPECT_TRUE(RunOver(healed).ok());
  ExpectAllThere(filled);
  EXPECT_GT(paris_.receiver->counts().repeated, 0u);
}

TEST_F(PumpTest, UrlsThatTheReceiverDoesNotOwnAreForwarded) {
  Fill(0, 5);
  // Paris has left meanwhile, so Tokyo owns all; Tokyo does not know yet.
  ASSERT_TRUE(
      paris_.maps->Offer(Leave(paris_.maps->view()->map(), "paris").value())
          .ok());
  TestStream stream(paris_);
  EXPECT_TRUE(RunOver(stream).ok());
  EXPECT_EQ(paris_.db->totals().KnownPages(), 0);
  EXPECT_EQ(paris_.db->totals().outbox_urls.at(kTokyo), 5);
  EXPECT_EQ(paris_.receiver->counts().forwarded, 5u);
  EXPECT_EQ(paris_.FailedChecks(), "");
}

// Tokyo does not follow the rules that it claims to have.
TEST_F(PumpTest, AReceiverDropsWhatIsOutOfItsScopeOrTooFarOrNoName) {
  const std::string url =
      storage::UrlFromSurt(storage::SurtOf(ParisPage(1).bytes)).value();
  ASSERT_TRUE(paris_.db->scopes()
                  .Put({{storage::ScopeRule::Kind::kPrefix, url, 2}})
                  .ok());
  storage::Delivery delivery;
  delivery.from = {storage::SiteId{3}, 1};
  delivery.sequence = ++filled_;
  const auto send = [&](const std::string& sent, uint32_t depth) {
    delivery.forwarded.emplace_back(
        kParis,
        storage::FoundUrl{storage::PageKeyOf(storage::Url::Parse(sent).value()),
                          10, depth});
    cash_ += 10;
  };
  send(url, 2);
  send(url + "far", 3);
  send("http://elsewhere.example/", 1);
  send("http://" + std::string(64, 'x') + ".example/", 1);
  delivery.cash_so_far = cash_;
  ASSERT_TRUE(tokyo_.db->incoming().Receive(delivery, {kNow}).ok());
  TestStream stream(paris_);
  EXPECT_TRUE(RunOver(stream).ok());
  EXPECT_EQ(paris_.db->totals().KnownPages(), 1);
  EXPECT_EQ(paris_.receiver->counts().filtered, 3u);
  EXPECT_EQ(paris_.FailedChecks(), "");
}

TEST_F(PumpTest, AReceiverMakesUrlsCanonicalByItsOwnRules) {
  const std::string url =
      storage::UrlFromSurt(storage::SurtOf(ParisPage(1).bytes)).value();
  std::string deep = url;
  for (int i = 0; i < 100; ++i) deep += "/" + std::to_string(i);
  storage::Delivery delivery;
  delivery.from = {storage::SiteId{3}, 1};
  delivery.sequence = ++filled_;
  for (const std::string& sent : {url, url + "?utm_source=x", deep}) {
    delivery.forwarded.emplace_back(
        kParis, storage::FoundUrl{
                    storage::PageKeyOf(storage::Url::Parse(sent).value()), 10});
    cash_ += 10;
  }
  delivery.cash_so_far = cash_;
  ASSERT_TRUE(tokyo_.db->incoming().Receive(delivery, {kNow}).ok());
  TestStream stream(paris_);
  EXPECT_TRUE(RunOver(stream).ok());
  EXPECT_EQ(paris_.db->totals().KnownPages(), 1);
  EXPECT_EQ(paris_.db->records().GetPage(ParisPage(1))->cash(), 20);
  EXPECT_EQ(paris_.receiver->counts().filtered, 1u);
  EXPECT_EQ(paris_.receiver->counts().urls, 2u);
  EXPECT_EQ(paris_.FailedChecks(), "");
}

TEST_F(PumpTest, AReceiverWithOtherRulesThanTheFederationTakesNothing) {
  Fill(0, 5);
  // Tokyo's rules are now the federation's; Paris was not restarted with them.
  proto::MapRules rules;
  rules.set_filters("others");
  Offer(SetRules(tokyo_.maps->view()->map(), rules).value());
  TestStream stream(paris_);
  const absl::Status refused = RunOver(stream);
  EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
  EXPECT_THAT(refused.ToString(), HasSubstr("the filters"));
  EXPECT_EQ(paris_.db->totals().dropped_urls, 0);
  EXPECT_EQ(paris_.receiver->counts().refused, 0u);
  EXPECT_EQ(tokyo_.db->totals().outbox_urls.at(kParis), 5);

  paris_.Restart(rules);
  TestStream again(paris_);
  EXPECT_TRUE(RunOver(again).ok());
  ExpectAllThere(5);
}

// The public suffix list has changed since they were found.
TEST_F(PumpTest, UrlsWithTheBucketsOfAnOlderListArrive) {
  storage::Delivery delivery;
  delivery.from = {storage::SiteId{3}, 1};
  delivery.sequence = ++filled_;
  for (int i = 0; i < 15; ++i) {
    PageKey old = ParisPage(i);
    old.bytes[0] ^= 0x55;
    delivery.forwarded.emplace_back(kParis, storage::FoundUrl{old, 100 + i});
    cash_ += 100 + i;
  }
  delivery.cash_so_far = cash_;
  ASSERT_TRUE(tokyo_.db->incoming().Receive(delivery, {kNow}).ok());
  TestStream stream(paris_);
  const absl::Status status = RunOver(stream);
  EXPECT_TRUE(status.ok()) << status;
  ExpectAllThere(15);
}

TEST_F(PumpTest, ForgeriesAreRefusedAndChangeNothing) {
  Fill(0, 25);
  ExpectRefused(
      {[](peers::Batch& b) { b.set_sequence(7); },
       [](peers::Batch& b) { b.set_cash_so_far(b.cash_so_far() + 1); },
       [](peers::Batch& b) { b.set_urls("nonsense"); },
       [](peers::Batch& b) { b.mutable_urls()->pop_back(); }});
  ExpectAllThere(25);
}

TEST_F(PumpTest, WhoAnswersMustBeTheSiteOfTheMap) {
  Fill(0, 5);
  const auto expect = [&](const std::function<void(peers::Greeting&)>& change,
                          const std::string& words) {
    TestStream stream(paris_);
    peers::Greeting greeting = MakeGreeting(*paris_.maps->view(), 1).value();
    change(greeting);
    stream.answer_with = greeting;
    const absl::Status refused = RunOver(stream);
    EXPECT_THAT(refused.ToString(), HasSubstr(words));
  };
  expect([](auto& g) { g.set_federation(1); }, "another federation");
  expect([](auto& g) { g.set_site(77); }, "not in the map");
  expect([](auto& g) { g.set_site(1); }, "site 1 answers instead of site 2");
  expect([](auto& g) { g.set_incarnation(2); }, "another incarnation");
  expect([](auto& g) { g.set_oldest_protocol(9); }, "upgrade");
  EXPECT_EQ(tokyo_.db->totals().outbox_urls.at(kParis), 5);
}

TEST_F(PumpTest, AReceiverThatWasRestoredBeginsAnew) {
  Fill(0, 25);
  TestStream stream(paris_);
  ASSERT_TRUE(RunOver(stream).ok());
  ASSERT_TRUE(paris_.db->incoming().Reincarnate().ok());
  const uint64_t incarnation = paris_.db->records().identity()->incarnation();
  // Until it has joined again, it answers no batch.
  EXPECT_TRUE(absl::IsFailedPrecondition(
      MakeGreeting(*paris_.maps->view(), incarnation).status()));
  Offer(
      Join(paris_.maps->view()->map(), From("paris", incarnation), 1).value());
  Fill(25, 5);
  TestStream again(paris_);
  EXPECT_TRUE(RunOver(again).ok());
  ExpectAllThere(30);
}

TEST_F(PumpTest, ASenderThatWasRemovedMeanwhileIsRefused) {
  Fill(0, 5);
  TestStream stream(paris_);
  // The batch is opened with the map from before the removal.
  stream.before_take = [&] {
    const Map map = paris_.maps->view()->map();
    const Map adopted = Adopt(map, "paris", 0).value();
    ASSERT_TRUE(paris_.maps->Offer(Remove(adopted, "tokyo").value()).ok());
  };
  const absl::Status refused = RunOver(stream);
  EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
  EXPECT_EQ(paris_.db->totals().KnownPages(), 0);
}

TEST_F(PumpTest, ABatchOfANewerMapWaitsForThatMap) {
  Fill(0, 5);
  TestStream stream(paris_);
  stream.damage = [](peers::Batch& batch) { batch.set_epoch(99); };
  EXPECT_TRUE(absl::IsAborted(RunOver(stream)));
  EXPECT_EQ(paris_.db->totals().KnownPages(), 0);
}

// Tokyo knows pages that Paris owns, and hands them over.
class MovingPumpTest : public PumpTest {
 protected:
  static constexpr storage::Peer kToParis{kParis, 1};

  std::vector<storage::HostKey> Know(int from, int count) {
    std::vector<storage::HostKey> hosts;
    std::vector<PageKey> pages;
    for (int i = from; i < from + count; ++i) {
      pages.push_back(ParisPage(i));
      hosts.push_back(storage::HostKey{
          std::string(storage::HostPartOf(pages.back().bytes))});
    }
    EXPECT_TRUE(tokyo_.db->incoming().Inject(pages, kNow).ok());
    return hosts;
  }
  void ExpectMoved(int count) {
    EXPECT_EQ(tokyo_.db->totals().KnownPages(), 0);
    EXPECT_EQ(paris_.db->totals().KnownPages(), count);
    EXPECT_EQ(paris_.db->totals().taken_over, count * storage::kSeedCash);
    EXPECT_EQ(tokyo_.db->totals().handed_over, count * storage::kSeedCash);
    EXPECT_EQ(tokyo_.FailedChecks(), "");
    EXPECT_EQ(paris_.FailedChecks(), "");
  }
};

TEST_F(MovingPumpTest, PagesThatMoveTravelAmongTheUrls) {
  Fill(0, 35);
  ASSERT_TRUE(tokyo_.db->outgoing().OpenPair(kToParis).ok());
  ASSERT_EQ(tokyo_.db->moves().CutPages(kToParis, Know(100, 20), 1000)->pages,
            20);
  ASSERT_TRUE(tokyo_.db->moves().CutComplete(kToParis, 2).ok());
  TestStream stream(paris_);
  // Another thread cuts a batch while the pump runs.
  bool once = false;
  stream.damage = [&](peers::Batch& batch) {
    if (batch.sequence() != 4 || std::exchange(once, true)) return;
    ASSERT_EQ(tokyo_.db->moves().CutPages(kToParis, Know(200, 5), 1000)->pages,
              5);
  };
  EXPECT_TRUE(RunOver(stream).ok());
  EXPECT_TRUE(once);
  EXPECT_EQ(tokyo_.db->totals().handed_over, 25 * storage::kSeedCash);
  EXPECT_EQ(paris_.db->totals().taken_over, 25 * storage::kSeedCash);
  EXPECT_EQ(paris_.db->totals().KnownPages(), 60);
  EXPECT_EQ(paris_.db->totals().received, cash_);
  EXPECT_EQ(*paris_.db->incoming().completed_for({kTokyo, 1}), 2u);
  EXPECT_EQ(pump_->counts().pages, 25u);
  EXPECT_EQ(pump_->counts().urls, 35u);
  EXPECT_EQ(paris_.receiver->counts().pages, 25u);
  EXPECT_EQ(paris_.receiver->counts().foreign, 0u);
  EXPECT_EQ(tokyo_.FailedChecks(), "");
  EXPECT_EQ(paris_.FailedChecks(), "");
}

TEST_F(MovingPumpTest, ALinkThatBreaksLosesNoPageAndMovesNoneTwice) {
  std::mt19937 random(6);
  ASSERT_TRUE(tokyo_.db->outgoing().OpenPair(kToParis).ok());
  int moved = 0;
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(
        tokyo_.db->moves().CutPages(kToParis, Know(moved, 5), 1000).ok());
    moved += 5;
    TestStream stream(paris_);
    stream.writes_left = static_cast<int>(random() % 3);
    stream.reads_left = static_cast<int>(random() % 4);
    stream.repeat = random() % 3 == 0;
    (void)RunOver(stream);
  }
  TestStream healed(paris_);
  EXPECT_TRUE(RunOver(healed).ok());
  ExpectMoved(moved);
}

TEST_F(MovingPumpTest, APageOfAnotherSiteIsStoredAndCounted) {
  ASSERT_TRUE(tokyo_.db->outgoing().OpenPair(kToParis).ok());
  ASSERT_TRUE(tokyo_.db->moves().CutPages(kToParis, Know(0, 5), 1000).ok());
  ASSERT_TRUE(
      paris_.maps->Offer(Leave(paris_.maps->view()->map(), "paris").value())
          .ok());
  TestStream stream(paris_);
  EXPECT_TRUE(RunOver(stream).ok());
  ExpectMoved(5);
  EXPECT_EQ(paris_.receiver->counts().foreign, 5u);
}

TEST_F(MovingPumpTest, APageThatTheRulesRefuseIsDroppedAndItsCashCounted) {
  // No canonical URL ends like this.
  const PageKey strange =
      storage::MakePageKey("strange.example", "example,strange,)http/a/../b");
  ASSERT_TRUE(tokyo_.db->incoming().Inject({strange}, kNow).ok());
  ASSERT_TRUE(tokyo_.db->outgoing().OpenPair(kToParis).ok());
  ASSERT_EQ(tokyo_.db->moves()
                .CutPages(kToParis,
                          {storage::HostKey{
                              std::string(storage::HostPartOf(strange.bytes))}},
                          10)
                ->pages,
            1);
  TestStream stream(paris_);
  EXPECT_TRUE(RunOver(stream).ok());
  EXPECT_EQ(paris_.db->totals().KnownPages(), 0);
  EXPECT_EQ(paris_.db->totals().Dropped(), storage::kSeedCash);
  EXPECT_EQ(paris_.db->totals().taken_over, storage::kSeedCash);
  EXPECT_EQ(paris_.receiver->counts().filtered, 1u);
  EXPECT_EQ(paris_.FailedChecks(), "");
}

// Tokyo stored them when the rules and the list of public suffixes were others.
TEST_F(MovingPumpTest, PagesAndHostsThatMoveGetTheKeysOfThePresentRules) {
  const PageKey page = ParisPage(1);
  PageKey old = page;
  ++old.bytes[0];
  const PageKey tracked = storage::PageKeyOf(
      storage::Url::Parse(
          storage::UrlFromSurt(storage::SurtOf(page.bytes)).value() +
          "?utm_source=x")
          .value());
  const auto host_of = [](const PageKey& key) {
    return storage::HostKey{std::string(storage::HostPartOf(key.bytes))};
  };
  ASSERT_TRUE(tokyo_.db->incoming().Inject({old, page, tracked}, kNow).ok());
  for (const PageKey& key : {old, page}) {
    storage::HostUpdate host{host_of(key), {}};
    host.record.set_version(1);
    host.record.set_failures(3);
    ASSERT_TRUE(tokyo_.db->records().PutHost(host).ok());
  }
  ASSERT_TRUE(tokyo_.db->outgoing().OpenPair(kToParis).ok());
  const std::vector<storage::HostKey> hosts = {host_of(old), host_of(page)};
  ASSERT_EQ(tokyo_.db->moves().CutPages(kToParis, hosts, 10)->pages, 3);
  TestStream stream(paris_);
  EXPECT_TRUE(RunOver(stream).ok());
  EXPECT_EQ(paris_.receiver->counts().filtered, 0u);
  EXPECT_EQ(paris_.db->totals().KnownPages(), 1);
  EXPECT_EQ(paris_.db->totals().taken_over, 3 * storage::kSeedCash);
  const auto moved = paris_.db->records().GetPage(page);
  ASSERT_TRUE(moved.ok()) << moved.status();
  EXPECT_EQ(moved->cash(), 3 * storage::kSeedCash);
  EXPECT_EQ(paris_.db->records().GetHost(host_of(page))->failures(), 3u);
  EXPECT_EQ(tokyo_.FailedChecks(), "");
  EXPECT_EQ(paris_.FailedChecks(), "");
}

TEST_F(MovingPumpTest, ForgedMovesAreRefused) {
  ASSERT_TRUE(tokyo_.db->outgoing().OpenPair(kToParis).ok());
  ASSERT_TRUE(tokyo_.db->moves().CutPages(kToParis, Know(0, 5), 1000).ok());
  peers::MovedPages many;
  for (int i = 0; i < 100'001; ++i) many.add_pages();
  const std::string too_many = CompressZstd(many.SerializeAsString(), 3);
  const std::string too_large = CompressZstd(std::string(5 << 20, 'a'), 3);
  const std::string empty_page = CompressZstd(std::string("\x0a\x00", 2), 3);
  ExpectRefused({[](peers::Batch& b) { b.set_moved("nonsense"); },
                 [](peers::Batch& b) { b.mutable_moved()->pop_back(); },
                 [&](peers::Batch& b) { b.set_moved(too_many); },
                 [&](peers::Batch& b) { b.set_moved(too_large); },
                 [&](peers::Batch& b) { b.set_moved(empty_page); },
                 [](peers::Batch& b) { b.clear_moved(); },
                 [](peers::Batch& b) {
                   b.set_complete_for(Stamp(b.term(), b.epoch() + 1));
                 }});
  ExpectMoved(5);
}

TEST_F(PumpTest, AReceiverThatForgotIsNoticed) {
  Fill(0, 5);
  TestStream stream(paris_);
  ASSERT_TRUE(RunOver(stream).ok());
  // The same incarnation, without what it had acknowledged.
  TestSite empty("paris", 1);
  ASSERT_TRUE(empty.maps->Offer(paris_.maps->view()->map()).ok());
  Fill(5, 1);
  TestStream again(empty);
  const absl::Status refused = RunOver(again);
  EXPECT_TRUE(absl::IsDataLoss(refused)) << refused;
}

}  // namespace
}  // namespace gannet::federation
