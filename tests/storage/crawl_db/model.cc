#include "tests/storage/crawl_db/model.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace gannet::storage::model {
namespace {

// ScoreStep(), computed by a logarithm and a table of quarters instead of bits.
int Step(int64_t score) {
  if (score < 4) return static_cast<int>(score);
  int exponent = 0;
  while ((score >> exponent) > 1) ++exponent;
  const int64_t base = int64_t{1} << exponent;
  const int64_t quarter = (score - base) * 4 / base;
  return 4 * exponent + static_cast<int>(quarter) - 4;
}

int Step(Order order, const std::string& key, const Page& page) {
  if (order == Order::kBreadthFirst) {
    return std::max(0, 251 - static_cast<int>(page.depth));
  }
  if (order == Order::kRandom) {
    return static_cast<int>(XXH3_64bits(key.data(), key.size()) % 252);
  }
  return Step(page.cash + page.history);
}

std::string HostOf(const std::string& page) {
  return page.substr(0, page.find(')', 1) + 1);
}

}  // namespace

void Model::Inject(const std::vector<PageKey>& seeds) {
  for (const PageKey& seed : seeds) {
    if (pages.contains(seed.bytes) || IsBlocked(seed.bytes)) continue;
    pages[seed.bytes].cash = kSeedCash;
    injected += kSeedCash;
  }
}

void Model::PutFound(const FoundUrl& url, const Moment& moment) {
  if (!pages.contains(url.page.bytes) && IsBlocked(url.page.bytes)) {
    dropped["blocked by operator"] += url.cash;
    ++dropped_urls;
    return;
  }
  auto [it, is_new] = pages.try_emplace(url.page.bytes);
  Page& page = it->second;
  if (is_new) {
    page.cash = url.cash;
    page.depth = url.depth;
    page.redirects = url.redirects;
    return;
  }
  const bool keeps =
      page.place == proto::READY || (page.place == proto::SCHEDULED &&
                                     (page.state != proto::FETCHED ||
                                      page.ready_ms <= ToMillis(moment.soon)));
  if (keeps) {
    page.cash += url.cash;
  } else {
    page.history += url.cash;
    root += url.cash;
  }
}

void Model::PutIfAbsent(const std::vector<FoundUrl>& urls,
                        const Moment& moment) {
  // A URL that is in a batch twice counts once, with the cash of both.
  std::map<std::string, FoundUrl> merged;
  for (const FoundUrl& url : urls) {
    received += url.cash;
    auto [it, is_new] = merged.try_emplace(url.page.bytes, url);
    if (is_new) continue;
    it->second.cash += url.cash;
    it->second.depth = std::min(it->second.depth, url.depth);
    it->second.redirects = std::min(it->second.redirects, url.redirects);
  }
  for (const auto& [page, url] : merged) PutFound(url, moment);
}

std::vector<std::string> Model::Top(size_t width, size_t per_host) const {
  std::vector<std::pair<int, std::string>> order;
  std::map<std::string, size_t> taken;
  for (const auto& [key, page] : pages) {
    if (page.claimed) {
      ++taken[HostOf(key)];
    } else if (page.place == proto::READY) {
      order.emplace_back(-Step(this->order, key, page), key);
    }
  }
  std::sort(order.begin(), order.end());
  std::vector<std::string> chosen;
  for (const auto& [step, key] : order) {
    if (chosen.size() == width) break;
    const auto rest = rests.find(HostOf(key));
    if (rest != rests.end()) continue;
    if (taken[HostOf(key)] >= per_host) continue;
    ++taken[HostOf(key)];
    chosen.push_back(key);
  }
  return chosen;
}

void Model::Claim(const std::vector<std::string>& chosen) {
  for (const std::string& key : chosen) pages[key].claimed = true;
}

void Model::Release(const std::vector<PageKey>& released) {
  for (const PageKey& key : released) {
    const auto it = pages.find(key.bytes);
    if (it == pages.end() || !it->second.claimed) continue;
    it->second.claimed = false;
    it->second.cash += root_share;
  }
}

void Model::WakeDuePages(int64_t now_ms, int64_t most) {
  std::vector<std::pair<int64_t, std::string>> due;
  for (const auto& [key, page] : pages) {
    if (page.place == proto::SCHEDULED && page.ready_ms <= now_ms) {
      due.emplace_back(page.ready_ms, key);
    }
  }
  std::sort(due.begin(), due.end());
  if (static_cast<int64_t>(due.size()) > most) due.resize(most);
  for (const auto& [ready_ms, key] : due) {
    pages[key].place = proto::READY;
    pages[key].ready_ms = 0;
  }
}

void Model::PayRoot() {
  root_has_paid = true;
  const auto open = static_cast<int64_t>(FetchList().size());
  if (open == 0) return;
  root_share = root / open;
  root -= root_share * open;
}

void Model::Complete(const Completion& completion) {
  const auto it = pages.find(completion.page.bytes);
  if (it == pages.end() || !it->second.claimed) return;
  Page& page = it->second;
  const int64_t cash = page.cash + root_share;
  page.cash = 0;
  page.claimed = false;
  page.state = completion.outcome.state();
  page.visited_ms = completion.outcome.visited_ms();
  if (completion.keeps_history) page.history += cash;
  if (completion.outlinks.empty()) {
    root += cash;
  } else {
    Segment& segment = segments[completion.page.bytes];
    const auto links = static_cast<int64_t>(completion.outlinks.size());
    segment.cash_each = cash / links;
    segment.depth =
        page.depth + (completion.outlink_redirects > 0 ? 0 : 1);
    segment.redirects = completion.outlink_redirects;
    segment.targets.clear();
    for (const PageKey& target : completion.outlinks) {
      segment.targets.push_back(target.bytes);
    }
    root += cash - segment.cash_each * links;
  }
  if (completion.ready.has_value()) {
    page.place = proto::SCHEDULED;
    page.ready_ms = ToMillis(*completion.ready);
  } else {
    page.place = proto::FINISHED;
    page.ready_ms = 0;
  }
}

void Model::PutHost(const HostUpdate& update) {
  hosts_with_record.insert(update.host.bytes);
  int64_t& until = rests[update.host.bytes];
  if (update.record.rest_until_ms() != 0) {
    until = update.record.rest_until_ms();
  } else if (until != 0) {
    until = 1;
  }
  if (until == 0) rests.erase(update.host.bytes);
}

std::vector<FoundUrl> Model::Unsettled() const {
  std::map<std::string, FoundUrl> sums;
  for (const auto& [source, segment] : segments) {
    for (const std::string& target : segment.targets) {
      if (!cursor.empty() && target <= cursor) continue;
      auto [it, is_new] = sums.try_emplace(
          target,
          FoundUrl{PageKey{target}, 0, segment.depth, segment.redirects});
      it->second.cash += segment.cash_each;
      it->second.depth = std::min(it->second.depth, segment.depth);
      it->second.redirects = std::min(it->second.redirects, segment.redirects);
    }
  }
  std::vector<FoundUrl> targets;
  for (const auto& [key, url] : sums) targets.push_back(url);
  return targets;
}

namespace {

void Join(std::map<std::string, FoundUrl>& rows, const FoundUrl& url) {
  auto [it, is_new] = rows.try_emplace(url.page.bytes, url);
  if (is_new) return;
  it->second.cash += url.cash;
  it->second.depth = std::min(it->second.depth, url.depth);
  it->second.redirects = std::min(it->second.redirects, url.redirects);
}

}  // namespace

void Model::PutTargets(const Settlement& settlement, const Moment& moment) {
  std::map<std::string, std::vector<FoundUrl>> by_host;  // New URLs only.
  for (const FoundUrl& url : settlement.local) {
    if (pages.contains(url.page.bytes) || IsBlocked(url.page.bytes)) {
      PutFound(url, moment);
    } else {
      by_host[HostOf(url.page.bytes)].push_back(url);
    }
  }
  int64_t ties = settlement.most_with_least_cash;
  for (auto& [host, urls] : by_host) {
    int64_t room = std::numeric_limits<int64_t>::max();
    const auto all_cash = [&](const FoundUrl& url) {
      const auto it = deferred.find(url.page.bytes);
      return url.cash + (it == deferred.end() ? 0 : it->second.cash);
    };
    if (settlement.most_host_pages > 0) {
      room = settlement.most_host_pages;
      for (const auto& [key, page] : pages) {
        if (HostOf(key) == host && room > 0) --room;
      }
      std::stable_sort(urls.begin(), urls.end(), [&](auto& a, auto& b) {
        return static_cast<int64_t>(urls.size()) > room &&
               all_cash(a) > all_cash(b);
      });
    }
    for (const FoundUrl& url : urls) {
      const int64_t cash = all_cash(url);
      const bool is_tie = cash == settlement.least_cash_for_new;
      if (room == 0) {
        dropped["host_full"] += url.cash;
        ++dropped_urls;
      } else if (cash > settlement.least_cash_for_new || (is_tie && ties > 0)) {
        if (is_tie) --ties;
        --room;
        Join(deferred, url);
        PutFound(deferred.at(url.page.bytes), moment);
        deferred.erase(url.page.bytes);
      } else if (settlement.drop_over_quota) {
        dropped["over_quota"] += url.cash;
        ++dropped_urls;
      } else {
        Join(deferred, url);
      }
    }
  }
}

void Model::Settle(const Settlement& settlement, const Moment& moment) {
  PutTargets(settlement, moment);
  for (const FoundUrl& url : settlement.deferred) Join(deferred, url);
  for (const auto& [site, url] : settlement.remote) {
    Join(outbox[site], url);
    SendDeferred(site, url.page);
  }
  for (const auto& [site, url] : settlement.gains) Join(gains[site], url);
  for (const Drop& drop : settlement.dropped) {
    dropped[drop.reason] += drop.cash;
    dropped_urls += drop.urls;
  }
  cursor = settlement.cursor;
}

void Model::CloseRound() {
  segments.clear();
  phase = proto::NO_ROUND;
  root_has_paid = false;
  root_share = 0;
  cursor.clear();
}

void Model::Undefer(const PageKey& page, const Moment& moment) {
  const auto it = deferred.find(page.bytes);
  if (it == deferred.end()) return;
  PutFound(it->second, moment);
  deferred.erase(it);
}

void Model::SendDeferred(SiteId site, const PageKey& page) {
  const auto it = deferred.find(page.bytes);
  if (it == deferred.end()) return;
  Join(outbox[site], it->second);
  deferred.erase(it);
}

void Model::CutOutbox(SiteId site, size_t most) {
  if (outbox[site].empty()) return;
  std::vector<FoundUrl>& batch = sending[site][++sequences[site]].urls;
  while (batch.size() < most && !outbox[site].empty()) {
    batch.push_back(outbox[site].begin()->second);
    outbox[site].erase(outbox[site].begin());
  }
}

void Model::Acknowledge(SiteId site, uint64_t last) {
  auto& batches = sending[site];
  while (!batches.empty() && batches.begin()->first <= last) {
    const Batch& batch = batches.begin()->second;
    for (const FoundUrl& url : batch.urls) acknowledged += url.cash;
    for (const auto& [key, page] : batch.pages) handed_over += page.cash;
    batches.erase(batches.begin());
  }
}

void Model::OpenPair(const Peer& to) {
  uint64_t& life = lives[to.site];
  if (life == to.incarnation) return;
  ClosePair(to.site);
  life = to.incarnation;
}

void Model::ClosePair(SiteId to) {
  lives[to] = 0;
  sequences[to] = 0;
  completed[to] = 0;
  std::vector<std::pair<std::string, Page>> moved;
  std::map<std::string, int64_t> back;
  for (const auto& [sequence, batch] : std::exchange(sending[to], {})) {
    for (const FoundUrl& url : batch.urls) Join(outbox[to], url);
    moved.insert(moved.end(), batch.pages.begin(), batch.pages.end());
    for (const auto& [host, until] : batch.rests) back[host] = until;
  }
  for (const auto& [page, url] : std::exchange(gains[to], {})) {
    Join(outbox[to], url);
  }
  PutMoved(moved, {});
  for (const auto& [host, until] : back) PutMovedRest(host, until);
}

void Model::ReleaseGains() {
  for (const auto& [site, rows] : std::exchange(gains, {})) {
    for (const auto& [page, url] : rows) Join(outbox[site], url);
  }
}

std::optional<SiteId> Model::OwnerOf(std::string_view page) {
  const int digit = (page.back() - '0') % 3;
  if (digit == 0) return std::nullopt;
  return SiteId{static_cast<uint32_t>(digit)};
}

void Model::SweepDeferred() {
  for (const auto& [page, url] : std::map(deferred)) {
    const std::optional<SiteId> owner = OwnerOf(page);
    if (owner.has_value()) SendDeferred(*owner, url.page);
  }
}

void Model::CutPages(SiteId to, const std::vector<HostKey>& hosts,
                     size_t most) {
  Batch batch;
  bool has_host = false;
  for (const HostKey& host : hosts) {
    bool stays = false;
    if (batch.pages.size() >= most) break;
    for (auto it = pages.begin(); it != pages.end();) {
      if (HostOf(it->first) != host.bytes) {
        ++it;
      } else if (it->second.claimed || batch.pages.size() >= most) {
        stays = true;
        ++it;
      } else {
        batch.pages.emplace_back(it->first, it->second);
        it = pages.erase(it);
      }
    }
    if (stays) continue;
    if (hosts_with_record.erase(host.bytes) == 0) continue;
    has_host = true;
    const auto rest = rests.find(host.bytes);
    batch.rests[host.bytes] =
        rest == rests.end() || rest->second <= 2 ? 0 : rest->second;
    if (rest != rests.end()) rests.erase(rest);
  }
  if (batch.pages.empty() && !has_host) return;
  sending[to][++sequences[to]] = batch;
}

void Model::CutComplete(SiteId to, uint64_t epoch) {
  if (completed[to] >= epoch) return;
  completed[to] = epoch;
  sending[to][++sequences[to]] = {};
}

namespace {

Page MergedOf(const Page& first, const Page& second) {
  Page merged = second.visited_ms > first.visited_ms ? second : first;
  merged.cash = first.cash + second.cash;
  merged.history = first.history + second.history;
  merged.depth = std::min(first.depth, second.depth);
  merged.redirects = std::min(first.redirects, second.redirects);
  return merged;
}

bool KeepsCash(const Page& page, const Moment& moment) {
  return page.place == proto::READY ||
         (page.place == proto::SCHEDULED &&
          (page.state != proto::FETCHED ||
           page.ready_ms <= ToMillis(moment.soon)));
}

void TakeOut(Page& page) {
  page.cash = 0;
  page.state_before = page.state;
  page.place_before = page.place;
  page.ready_ms_before = page.ready_ms;
  page.ready_ms = 0;
  page.state = proto::BLOCKED;
  page.place = proto::FINISHED;
  page.taken_out = true;
}

void PutBack(Page& page) {
  page.taken_out = false;
  page.state = page.state_before;
  page.place = page.place_before;
  page.ready_ms = page.ready_ms_before;
}

}  // namespace

void Model::PutMoved(const std::vector<std::pair<std::string, Page>>& moved,
                     const Moment& moment) {
  std::map<std::string, Page> distinct;
  for (const auto& [key, page] : moved) {
    auto [it, is_new] = distinct.try_emplace(key, page);
    if (!is_new) it->second = MergedOf(it->second, page);
  }
  for (auto& [key, page] : distinct) {
    if (page.taken_out && !IsBlocked(key)) PutBack(page);
    auto [it, is_new] = pages.try_emplace(key, page);
    Page& known = it->second;
    if (!is_new && known.claimed) {
      known.cash += page.cash;
      known.history += page.history;
      continue;
    }
    if (!is_new) known = MergedOf(known, page);
    if (IsBlocked(key) && known.place != proto::FINISHED) {
      root += known.cash;
      TakeOut(known);
    } else if (is_new ? known.place == proto::FINISHED
                      : !KeepsCash(known, moment)) {
      known.history += known.cash;
      root += known.cash;
      known.cash = 0;
    }
  }
}

void Model::PutMovedRest(const std::string& host, int64_t until) {
  hosts_with_record.insert(host);
  if (until <= 2) return;
  int64_t& rest = rests[host];
  rest = std::max(rest, until);
}

void Model::Reroute(SiteId from, SiteId to, const Moment& moment) {
  int n = 0;
  std::map<std::string, FoundUrl> mine;
  for (auto* rows : {&gains[from], &outbox[from]}) {
    for (const auto& [page, url] : std::exchange(*rows, {})) {
      switch (n++ % 3) {
        case 0:
          rows->emplace(page, url);
          break;
        case 1:
          Join(outbox[to], url);
          break;
        default:
          Join(mine, url);
      }
    }
  }
  for (const auto& [page, url] : mine) PutFound(url, moment);
}

void Model::Receive(const Delivery& delivery, const Moment& moment) {
  const std::pair from(delivery.from.site, delivery.from.incarnation);
  if (delivery.sequence != received_batches[from] + 1) return;
  ++received_batches[from];
  received_cash[from] = delivery.cash_so_far;
  for (const auto& [site, url] : delivery.forwarded) {
    received += url.cash;
    Join(outbox[site], url);
  }
  std::map<std::string, FoundUrl> mine;
  for (const FoundUrl& url : delivery.mine) {
    received += url.cash;
    Join(mine, url);
  }
  for (auto& [page, url] : mine) {
    if (!delivery.known_gain && pages.contains(url.page.bytes)) {
      dropped[kKnownAtItsOwner] += url.cash;
      url.cash = 0;
    }
    PutFound(url, moment);
  }
  std::vector<std::pair<std::string, Page>> moved;
  for (const proto::MovedPage& page : delivery.moved) {
    const proto::PageRecord& record = page.record();
    Page& here = moved.emplace_back(page.page(), Page{}).second;
    here.state = record.state();
    here.place = record.place();
    here.cash = record.cash();
    here.history = record.history();
    here.depth = record.depth();
    here.redirects = record.redirects();
    here.ready_ms = record.ready_ms();
    here.visited_ms = record.visited_ms();
    taken_over += record.cash();
  }
  PutMoved(moved, moment);
  for (const HostUpdate& update : delivery.hosts) {
    PutMovedRest(update.host.bytes, update.record.rest_until_ms());
  }
  uint64_t& complete = completed_by[from];
  complete = std::max(complete, delivery.complete_for);
}

void Model::Forget(const PageKey& key) {
  const auto it = pages.find(key.bytes);
  if (it == pages.end()) return;
  root += it->second.cash + (it->second.claimed ? root_share : 0);
  pages.erase(it);
}

// By host names, read back from the keys: "?example,d1,h0,)" is h0.d1.example.
bool Model::IsBlocked(const std::string& page) const {
  std::string name;
  size_t begin = 1;
  for (size_t end; (end = page.find(',', begin)) < page.find(')');
       begin = end + 1) {
    name = page.substr(begin, end - begin) + (name.empty() ? "" : ".") + name;
    if (blocked.contains(name)) return true;
  }
  return false;
}

int64_t Model::Block(const std::string& domain) {
  blocked.insert(domain);
  int64_t moved = 0;
  for (auto& [key, page] : pages) {
    if (!IsBlocked(key) || page.place == proto::FINISHED) continue;
    root += page.cash + (page.claimed ? root_share : 0);
    page.claimed = false;
    TakeOut(page);
    ++moved;
  }
  return moved;
}

int64_t Model::Unblock(const std::string& domain) {
  blocked.erase(domain);
  int64_t moved = 0;
  for (auto& [key, page] : pages) {
    if (IsBlocked(key) || !page.taken_out) continue;
    PutBack(page);
    ++moved;
  }
  return moved;
}

std::vector<std::string> Model::FetchList() const {
  std::vector<std::string> list;
  for (const auto& [key, page] : pages) {
    if (page.claimed) list.push_back(key);
  }
  return list;
}

Totals Model::CountTotals() const {
  Totals totals;
  totals.injected = injected;
  totals.root = root;
  totals.acknowledged = acknowledged;
  totals.received = received;
  totals.handed_over = handed_over;
  totals.taken_over = taken_over;
  for (const auto& [reason, cash] : dropped) {
    if (cash != 0) totals.dropped[reason] = cash;
  }
  totals.dropped_urls = dropped_urls;
  for (const auto& [key, page] : pages) {
    totals.pages += page.cash;
    ++totals.pages_by_state[page.state];
    if (page.claimed) {
      ++totals.round_pages;
      totals.round += root_share;
    } else if (page.place == proto::READY) {
      ++totals.frontier_pages;
    } else if (page.place == proto::SCHEDULED) {
      ++totals.scheduled_pages;
    } else {
      ++totals.finished_pages;
    }
  }
  for (const FoundUrl& url : Unsettled()) totals.round += url.cash;
  for (const auto& [key, url] : deferred) {
    totals.deferred += url.cash;
    ++totals.deferred_urls;
  }
  const auto wait = [&](SiteId site, const FoundUrl& url) {
    totals.outbox += url.cash;
    ++totals.outbox_urls[site];
  };
  for (const auto& [site, rows] : outbox) {
    for (const auto& [key, url] : rows) wait(site, url);
  }
  for (const auto& [site, batches] : sending) {
    for (const auto& [sequence, batch] : batches) {
      for (const FoundUrl& url : batch.urls) wait(site, url);
      for (const auto& [key, page] : batch.pages) {
        totals.outbox += page.cash;
        ++totals.outbox_urls[site];
      }
    }
  }
  for (const auto& [site, rows] : gains) {
    for (const auto& [key, url] : rows) wait(site, url);
  }
  return totals;
}

}  // namespace gannet::storage::model
