#include "tests/storage/crawl_db/random_verbs.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace gannet::storage::model {
namespace {

constexpr SiteId kSites[] = {SiteId{1}, SiteId{2}};

class Dice {
 public:
  explicit Dice(const Step& step)
      : engine_(step.seed * 1'000'003 + static_cast<uint64_t>(step.number)) {}
  // 0 .. n-1
  int Roll(int n) {
    return static_cast<int>(engine_() % static_cast<uint64_t>(n));
  }
  bool Chance(int percent) { return Roll(100) < percent; }
  PageKey Page() { return PageOf(Roll(3), Roll(3), Roll(12)); }
  HostKey Host() { return HostKey{std::string(HostPartOf(Page().bytes))}; }
  template <typename T>
  std::vector<T> Some(std::vector<T> from, size_t most) {
    std::shuffle(from.begin(), from.end(), engine_);
    if (from.size() > most) from.resize(most);
    return from;
  }

 private:
  std::mt19937_64 engine_;
};

// The verbs' clock: each verb takes a second.
absl::Time NowAt(const Step& step) {
  return absl::FromUnixSeconds(1'700'000'000 + step.number);
}

std::string Problem(const std::string& verb, const absl::Status& status) {
  return status.ok() ? "" : verb + ": " + status.ToString();
}

std::vector<FoundUrl> DrawFound(Dice& dice, size_t most) {
  std::vector<FoundUrl> urls(1 + dice.Roll(static_cast<int>(most)));
  for (FoundUrl& url : urls) {
    url = {dice.Page(), dice.Chance(20) ? 0 : 1 + int64_t{dice.Roll(1 << 30)},
           static_cast<uint32_t>(dice.Roll(5)),
           static_cast<uint32_t>(dice.Roll(2))};
  }
  return urls;
}

HostUpdate DrawHost(Dice& dice, absl::Time now) {
  HostUpdate update{dice.Host(), {}};
  update.record.set_failures(dice.Roll(5));
  if (dice.Chance(60)) {
    update.record.set_rest_until_ms(
        ToMillis(now + absl::Seconds(1 + dice.Roll(40))));
  }
  return update;
}

Completion DrawCompletion(Dice& dice, PageKey page, absl::Time now) {
  static constexpr proto::PageState kOutcomes[] = {
      proto::FETCHED, proto::FETCHED, proto::MOVED,
      proto::GONE,    proto::FAILED,  proto::BLOCKED};
  Completion completion;
  completion.page = std::move(page);
  completion.outcome.set_state(kOutcomes[dice.Roll(6)]);
  completion.outcome.set_visited_ms(ToMillis(now));
  completion.outcome.set_etag("\"\xff tag\"");
  if (dice.Chance(70)) {
    completion.ready = now + absl::Seconds(dice.Roll(200));
  }
  const proto::PageState state = completion.outcome.state();
  completion.keeps_history = state == proto::FETCHED;
  if (state == proto::FETCHED || state == proto::MOVED) {
    std::set<PageKey> links;
    for (int i = state == proto::MOVED ? 1 : dice.Roll(8); i > 0; --i) {
      links.insert(dice.Page());
    }
    links.erase(completion.page);
    completion.outlinks.assign(links.begin(), links.end());
    completion.outlink_redirects = state == proto::MOVED ? 1 : 0;
  }
  return completion;
}

Settlement DrawSettlement(Dice& dice, const std::vector<FoundUrl>& targets) {
  Settlement settlement;
  const size_t count = 1 + dice.Roll(static_cast<int>(targets.size()));
  for (size_t i = 0; i < count; ++i) {
    settlement.cursor = targets[i].page.bytes;
    switch (dice.Roll(7)) {
      case 0:
        settlement.deferred.push_back(targets[i]);
        break;
      case 6:
        settlement.gains.emplace_back(kSites[dice.Roll(2)], targets[i]);
        break;
      case 1:
        settlement.remote.emplace_back(kSites[dice.Roll(2)], targets[i]);
        break;
      case 2:
        settlement.dropped.push_back(
            {dice.Chance(50) ? "known" : "quota", targets[i].cash, 1});
        break;
      default:
        settlement.local.push_back(targets[i]);
    }
  }
  if (dice.Chance(50)) {
    settlement.least_cash_for_new =
        targets[dice.Roll(static_cast<int>(targets.size()))].cash;
    settlement.most_with_least_cash = dice.Roll(3);
    settlement.drop_over_quota = dice.Chance(20);
  }
  if (dice.Chance(50)) settlement.most_host_pages = 1 + dice.Roll(10);
  return settlement;
}

// Verbs of the open round; which one depends on its phase.
std::string RoundVerb(const Step& step, Dice& dice, Model& model, CrawlDb* db) {
  const absl::Time now = NowAt(step);
  const Moment moment{now, now + absl::Seconds(50)};
  std::vector<PageKey> open;
  for (const std::string& page : model.FetchList()) open.push_back({page});

  switch (model.phase) {
    case proto::NO_ROUND:
      model.phase = proto::GENERATE;
      ++model.round;
      return db ? Problem("OpenRound", db->round().Open(now)) : "";

    case proto::GENERATE: {
      if (model.root_has_paid) {
        model.phase = proto::FETCH;
        return db ? Problem("SetPhase", db->round().SetPhase(proto::FETCH))
                  : "";
      }
      if (dice.Chance(30)) {
        model.PayRoot();
        return db ? Problem("PayRoot", db->round().PayRoot()) : "";
      }
      const size_t width = 1 + dice.Roll(20);
      const size_t per_host = 1 + dice.Roll(4);
      const std::vector<std::string> chosen = model.Top(width, per_host);
      model.Claim(chosen);
      if (db == nullptr) return "";
      auto selection = db->frontier().Top(width, per_host);
      if (!selection.ok()) return Problem("Top", selection.status());
      std::vector<std::string> got;
      for (const auto& p : selection->pages) got.push_back(p.page.bytes);
      if (got != chosen) {
        return fmt::format("Top chose {} pages, the model {}", got.size(),
                           chosen.size());
      }
      auto claimed = db->frontier().Claim(*selection);
      if (!claimed.ok()) return Problem("Claim", claimed.status());
      if (*claimed != static_cast<int64_t>(chosen.size())) {
        return fmt::format("Claim took {} of {}", *claimed, chosen.size());
      }
      return "";
    }

    case proto::FETCH: {
      if (open.empty()) {
        model.phase = proto::UPDATE;
        return db ? Problem("SetPhase", db->round().SetPhase(proto::UPDATE))
                  : "";
      }
      if (dice.Chance(15)) {
        open = dice.Some(open, 5);
        model.Release(open);
        return db ? Problem("Release", db->frontier().Release(open)) : "";
      }
      std::vector<Completion> completions;
      for (PageKey& page : dice.Some(open, 6)) {
        completions.push_back(DrawCompletion(dice, std::move(page), now));
      }
      std::vector<HostUpdate> hosts;
      if (dice.Chance(30)) hosts.push_back(DrawHost(dice, now));
      for (const Completion& c : completions) model.Complete(c);
      for (const HostUpdate& h : hosts) model.PutHost(h);
      if (db == nullptr) return "";
      proto::ArchiveState archive;
      archive.add_open()->set_length(step.number);
      return Problem(
          "Complete",
          db->round().Complete(completions, hosts, archive).status());
    }

    default: {
      const std::vector<FoundUrl> targets = model.Unsettled();
      if (targets.empty()) {
        model.CloseRound();
        return db ? Problem("CloseRound", db->round().Close("{}")) : "";
      }
      const Settlement settlement = DrawSettlement(dice, targets);
      model.Settle(settlement, moment);
      return db ? Problem("Settle",
                          db->round().Settle(settlement, moment).status())
                : "";
    }
  }
}

// Blocks a domain or one of its hosts, or ends a block.
std::string BlockVerb(Dice& dice, Model& model, CrawlDb* db) {
  std::string domain = fmt::format("d{}.example", dice.Roll(3));
  if (dice.Chance(50)) domain = fmt::format("h{}.{}", dice.Roll(3), domain);
  // Ends blocks more often than it begins them, so that pages are left.
  const bool lift = !model.blocked.empty() && dice.Chance(65);
  if (lift)
    domain = dice.Some(
        std::vector<std::string>(model.blocked.begin(), model.blocked.end()),
        1)[0];
  const int64_t expected = lift ? model.Unblock(domain) : model.Block(domain);
  if (db == nullptr) return "";
  auto moved = lift ? db->blocks().Unblock(domain) : db->blocks().Block(domain);
  if (!moved.ok()) return Problem("Block", moved.status());
  if (*moved == expected) return "";
  return fmt::format("{} {} moved {} pages, expected {}",
                     lift ? "Unblock" : "Block", domain, *moved, expected);
}

proto::MovedPage DrawMoved(Dice& dice, absl::Time now) {
  proto::MovedPage moved;
  moved.set_page(dice.Page().bytes);
  proto::PageRecord& record = *moved.mutable_record();
  record.set_cash(dice.Roll(1 << 20));
  record.set_depth(static_cast<uint32_t>(dice.Roll(5)));
  record.mutable_archive()->set_length(7);  // Means nothing here.
  if (dice.Chance(30)) return moved;
  record.set_state(dice.Chance(60) ? proto::FETCHED : proto::FAILED);
  record.set_history(dice.Roll(1 << 20));
  record.set_visited_ms(ToMillis(now - absl::Seconds(dice.Roll(300))));
  if (dice.Chance(20)) {
    record.set_place(proto::FINISHED);
  } else if (dice.Chance(70)) {
    record.set_place(proto::SCHEDULED);
    record.set_ready_ms(ToMillis(now + absl::Seconds(dice.Roll(200))));
  }
  return moved;
}

// Pages that come with the batch, some twice, and hosts.
void DrawArrivals(Dice& dice, absl::Time now, Delivery& delivery) {
  for (int i = 1 + dice.Roll(4); i > 0; --i) {
    delivery.moved.push_back(DrawMoved(dice, now));
    if (dice.Chance(10)) delivery.moved.push_back(delivery.moved.front());
  }
  if (dice.Chance(50)) delivery.hosts.push_back(DrawHost(dice, now));
  if (dice.Chance(30)) delivery.complete_for = 1 + uint64_t(dice.Roll(9));
  std::erase_if(delivery.mine, [&](const FoundUrl& url) {
    return std::any_of(
        delivery.moved.begin(), delivery.moved.end(),
        [&](const auto& page) { return page.page() == url.page.bytes; });
  });
}

Delivery DrawDelivery(Dice& dice, absl::Time now, Model& model) {
  Delivery delivery;
  delivery.from = {kSites[dice.Roll(2)], 1 + uint64_t(dice.Roll(2))};
  const std::pair from(delivery.from.site, delivery.from.incarnation);
  // The next one; or the last one again; or one after a gap.
  delivery.sequence = model.received_batches[from] + 1;
  if (dice.Chance(15)) --delivery.sequence;
  if (dice.Chance(5)) ++delivery.sequence;
  delivery.mine = DrawFound(dice, 10);
  for (const FoundUrl& url : DrawFound(dice, 3)) {
    delivery.forwarded.emplace_back(kSites[dice.Roll(2)], url);
  }
  if (dice.Chance(50)) DrawArrivals(dice, now, delivery);
  delivery.known_gain = dice.Chance(50);
  delivery.cash_so_far = model.received_cash[from];
  for (const FoundUrl& url : delivery.mine) delivery.cash_so_far += url.cash;
  for (const auto& [site, url] : delivery.forwarded) {
    delivery.cash_so_far += url.cash;
  }
  for (const proto::MovedPage& page : delivery.moved) {
    delivery.cash_so_far += page.record().cash();
  }
  return delivery;
}

std::string ReceiveVerb(const Delivery& delivery, const Moment& moment,
                        Model& model, CrawlDb* db) {
  const uint64_t last = model.received_batches[std::pair(
      delivery.from.site, delivery.from.incarnation)];
  model.Receive(delivery, moment);
  if (db == nullptr) return "";
  const absl::StatusOr<Receipt> receipt =
      db->incoming().Receive(delivery, moment);
  if (delivery.sequence > last + 1) {
    return absl::IsOutOfRange(receipt.status()) ? "" : "Receive of a later one";
  }
  if (!receipt.ok()) return Problem("Receive", receipt.status());
  const bool is_new = delivery.sequence == last + 1;
  return receipt->is_new == is_new && receipt->last == last + (is_new ? 1 : 0)
             ? ""
             : "Receive says that it has another batch";
}

// Moves pages, deferred URLs and outboxes to where they belong.
std::string MovingVerb(Dice& dice, SiteId site, Model& model, CrawlDb* db) {
  const Peer peer{site, model.lives[site]};
  switch (dice.Roll(10)) {
    case 0:
      model.ClosePair(site);
      return db ? Problem("ClosePair", db->outgoing().ClosePair(site)) : "";
    case 1:
      model.ReleaseGains();
      return db ? Problem("ReleaseGains", db->waiting().ReleaseGains().status())
                : "";
    case 2:
      model.SweepDeferred();
      return db ? Problem("SweepDeferred",
                          db->waiting().SweepDeferred(&Model::OwnerOf).status())
                : "";
    case 3: {
      if (peer.incarnation == 0) return "";
      const auto epoch = 1 + uint64_t(dice.Roll(20));
      model.CutComplete(site, epoch);
      return db ? Problem("CutComplete", db->moves().CutComplete(peer, epoch))
                : "";
    }
    default: {
      if (peer.incarnation == 0) return "";
      std::set<HostKey> drawn;
      for (int i = 1 + dice.Roll(3); i > 0; --i) drawn.insert(dice.Host());
      const std::vector<HostKey> hosts(drawn.begin(), drawn.end());
      const size_t most = 1 + dice.Roll(8);
      const size_t before = model.sending[site].size();
      model.CutPages(site, hosts, most);
      if (db == nullptr) return "";
      const auto cut = db->moves().CutPages(peer, hosts, most);
      if (!cut.ok()) return Problem("CutPages", cut.status());
      return (cut->sequence != 0) == (model.sending[site].size() > before)
                 ? ""
                 : "CutPages differs";
    }
  }
}

// Exchanges batches with other sites.
std::string ExchangeVerb(Dice& dice, SiteId site, const Moment& moment,
                         Model& model, CrawlDb* db) {
  const Peer peer{site, model.lives[site]};
  switch (dice.Roll(8)) {
    case 0: {
      // Mostly the same life.
      const Peer to{site, dice.Chance(80) && peer.incarnation > 0
                              ? peer.incarnation
                              : 1 + uint64_t(dice.Roll(3))};
      model.OpenPair(to);
      return db ? Problem("OpenPair", db->outgoing().OpenPair(to)) : "";
    }
    case 1:
    case 2: {
      if (peer.incarnation == 0) return "";
      const bool empty = model.outbox[site].empty();
      model.CutOutbox(site, 3);
      if (db == nullptr) return "";
      const absl::Status status = db->outgoing().CutOutbox(peer, 3).status();
      if (empty) return absl::IsNotFound(status) ? "" : "CutOutbox of nothing";
      return Problem("CutOutbox", status);
    }
    case 3: {
      if (model.sending[site].empty()) return "";
      const uint64_t last = dice.Chance(50)
                                ? model.sending[site].begin()->first
                                : model.sequences[site];  // All of them.
      model.Acknowledge(site, last);
      return db ? Problem("Acknowledge", db->outgoing().Acknowledge(peer, last))
                : "";
    }
    case 4: {
      const SiteId to = site == kSites[0] ? kSites[1] : kSites[0];
      model.Reroute(site, to, moment);
      if (db == nullptr) return "";
      int n = 0;
      return Problem("Reroute",
                     db->waiting()
                         .Reroute(
                             site,
                             [&](std::string_view) -> std::optional<SiteId> {
                               switch (n++ % 3) {
                                 case 0:
                                   return site;
                                 case 1:
                                   return to;
                                 default:
                                   return std::nullopt;
                               }
                             },
                             moment)
                         .status());
    }
    case 5:
    case 6:
      return MovingVerb(dice, site, model, db);
    default:
      return ReceiveVerb(DrawDelivery(dice, moment.now, model), moment, model,
                         db);
  }
}

// Verbs that may come at any time, as an exchange's or an operator's do.
std::string OtherVerb(const Step& step, Dice& dice, Model& model, CrawlDb* db) {
  const absl::Time now = NowAt(step);
  const Moment moment{now, now + absl::Seconds(50)};
  const SiteId site = kSites[dice.Roll(2)];
  if (dice.Chance(6)) return BlockVerb(dice, model, db);
  switch (dice.Roll(8)) {
    case 0: {
      const std::vector<PageKey> seeds = {dice.Page(), dice.Page()};
      model.Inject(seeds);
      return db ? Problem("Inject", db->incoming().Inject(seeds, now).status())
                : "";
    }
    case 1: {
      const std::vector<FoundUrl> urls = DrawFound(dice, 10);
      model.PutIfAbsent(urls, moment);
      return db ? Problem("PutIfAbsent",
                          db->incoming().PutIfAbsent(urls, moment).status())
                : "";
    }
    case 2: {
      // The limit on pages. Hosts have a limit of their own, which the model
      // does not have, so it is never reached here (another test does that).
      constexpr int64_t kMost = 1000;
      model.WakeDuePages(ToMillis(now), kMost);
      std::erase_if(model.rests,
                    [&](const auto& r) { return r.second <= ToMillis(now); });
      return db ? Problem("WakeDue",
                          db->frontier().WakeDue(now, kMost, kMost).status())
                : "";
    }
    case 3: {
      if (dice.Chance(20)) {  // Changes nothing that the model has.
        if (db == nullptr) return "";
        auto top = db->frontier().Top(1 + dice.Roll(20), 5);
        return Problem("PutAside",
                       top.ok() ? db->frontier().PutAside(*top) : top.status());
      }
      const HostUpdate update = DrawHost(dice, now);
      model.PutHost(update);
      return db ? Problem("PutHost", db->records().PutHost(update)) : "";
    }
    case 4: {
      const PageKey page = dice.Page();
      const bool known = model.pages.contains(page.bytes);
      model.Forget(page);
      if (db == nullptr) return "";
      const absl::Status status = db->records().Forget(page);
      if (!known)
        return absl::IsNotFound(status) ? "" : "Forget: " + status.ToString();
      return Problem("Forget", status);
    }
    case 5: {
      const PageKey page = dice.Page();
      if (dice.Chance(30)) {
        model.SendDeferred(site, page);
        return db ? Problem("SendDeferred",
                            db->waiting().SendDeferred({std::pair(site, page)}))
                  : "";
      }
      model.Undefer(page, moment);
      return db ? Problem("Undefer",
                          db->waiting().Undefer({page}, moment).status())
                : "";
    }
    default:
      return ExchangeVerb(dice, site, moment, model, db);
  }
}

std::string ComparePage(const std::string& key, const Page& expected,
                        const proto::PageRecord& got) {
  if (got.state() == expected.state && got.place() == expected.place &&
      got.cash() == expected.cash && got.history() == expected.history &&
      got.depth() == expected.depth && got.redirects() == expected.redirects &&
      got.ready_ms() == expected.ready_ms) {
    return "";
  }
  return fmt::format(
      "{}: expected state {} place {} cash {} history {} depth {} ready {}, "
      "got {}",
      key, static_cast<int>(expected.state), static_cast<int>(expected.place),
      expected.cash, expected.history, expected.depth, expected.ready_ms,
      got.ShortDebugString());
}

}  // namespace

PageKey PageOf(int d, int h, int i) {
  return MakePageKey(fmt::format("d{}.example", d),
                     fmt::format("example,d{},h{},)http/p{}", d, h, i));
}

std::unique_ptr<CrawlDb> OpenSmallDb(const std::string& folder,
                                     std::optional<Order> order) {
  auto db = CrawlDb::Open({.folder = folder,
                           .block_cache_bytes = 1 << 20,
                           .write_buffer_bytes = 1 << 20,
                           .order = order});
  if (!db.ok()) {
    fprintf(stderr, "%s\n", db.status().ToString().c_str());
    abort();
  }
  return *std::move(db);
}

std::string FailedChecks(CrawlDb& db, bool full) {
  const auto checks = db.checks().Verify(full);
  if (!checks.ok()) return checks.status().ToString();
  std::string failed;
  for (const Check& check : *checks) {
    if (!check.ok) failed += check.name + ": " + check.detail + "\n";
  }
  return failed;
}

std::string DoRandomVerb(const Step& step, Model& model, CrawlDb* db) {
  Dice dice(step);
  std::string problem = dice.Chance(60) ? RoundVerb(step, dice, model, db)
                                        : OtherVerb(step, dice, model, db);
  if (!problem.empty()) {
    problem =
        fmt::format("verb {} of seed {}: {}", step.number, step.seed, problem);
  }
  return problem;
}

std::string Compare(const Model& model, CrawlDb& db) {
  std::map<std::string, proto::PageRecord> pages;
  absl::Status status = db.records().ScanPages(
      PageKey{}, [&](std::string_view key, const auto& record) {
        pages.emplace(key, record);
        return true;
      });
  if (!status.ok()) return status.ToString();
  if (pages.size() != model.pages.size()) {
    return fmt::format("{} pages, expected {}", pages.size(),
                       model.pages.size());
  }
  for (const auto& [key, page] : model.pages) {
    if (!pages.contains(key)) return "missing " + key;
    const std::string difference = ComparePage(key, page, pages[key]);
    if (!difference.empty()) return difference;
  }
  const auto blocked = db.blocks().Blocked();
  if (!blocked.ok()) return blocked.status().ToString();
  if (*blocked !=
      std::vector<std::string>(model.blocked.begin(), model.blocked.end())) {
    return fmt::format("blocked: expected [{}], got [{}]",
                       fmt::join(model.blocked, " "), fmt::join(*blocked, " "));
  }
  const Totals totals = model.CountTotals();
  if (db.totals() != totals) {
    return fmt::format("totals: expected {}, got {}",
                       totals.ToProto().ShortDebugString(),
                       db.totals().ToProto().ShortDebugString());
  }
  auto list = db.round().FetchList(PageKey{}, 10'000);
  if (!list.ok()) return list.status().ToString();
  std::vector<std::string> open;
  for (const PageKey& page : *list) open.push_back(page.bytes);
  if (open != model.FetchList()) return "the fetch list differs";
  if (db.round().journal().phase() != model.phase ||
      db.round().journal().number() != model.round ||
      db.round().journal().cursor() != model.cursor) {
    return "the journal differs: " + db.round().journal().ShortDebugString();
  }
  auto deferred = db.waiting().TopDeferred(10'000);
  if (!deferred.ok()) return deferred.status().ToString();
  int64_t last = std::numeric_limits<int64_t>::max();
  for (const FoundUrl& url : *deferred) {
    const auto it = model.deferred.find(url.page.bytes);
    if (it == model.deferred.end() || it->second.cash != url.cash ||
        url.cash > last) {
      return "the deferred URLs differ";
    }
    last = url.cash;
  }
  for (SiteId site : kSites) {
    auto cuts = db.outgoing().Sending(site);
    if (!cuts.ok()) return cuts.status().ToString();
    std::vector<uint64_t> expected, got;
    if (const auto it = model.sending.find(site); it != model.sending.end()) {
      for (const auto& [sequence, batch] : it->second)
        expected.push_back(sequence);
    }
    for (const OutboxCut& cut : *cuts) got.push_back(cut.sequence);
    if (expected != got) return "what is being sent differs";
    const auto pair = db.outgoing().sent_pair(site);
    if (!pair.ok()) return pair.status().ToString();
    const auto told = model.completed.find(site);
    if (pair->completed_for() !=
        (told == model.completed.end() ? 0 : told->second)) {
      return "what is complete differs";
    }
  }
  for (const auto& [from, epoch] : model.completed_by) {
    const auto by = db.incoming().completed_for({from.first, from.second});
    if (!by.ok() || *by != epoch) return "who has completed differs";
  }
  return FailedChecks(db, /*full=*/false) + FailedChecks(db, /*full=*/true);
}

}  // namespace gannet::storage::model
