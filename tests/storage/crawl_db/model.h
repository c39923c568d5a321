// Model is the simplest crawl DB: maps in memory, every verb as its contract
// says, no index but the maps' order. The property tests compare CrawlDb with
// it. A plain value; copied freely.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "storage/crawl_db/crawl_db.h"

namespace gannet::storage::model {

struct Page {
  proto::PageState state = proto::NEW;
  proto::PagePlace place = proto::READY;
  bool claimed = false;  // With READY: in the open round.
  int64_t cash = 0;
  int64_t history = 0;
  uint32_t depth = 0;
  uint32_t redirects = 0;
  int64_t ready_ms = 0;
  int64_t visited_ms = 0;
  bool taken_out = false;  // By a block, and not put back.
  // What it was before the block.
  proto::PageState state_before = proto::NEW;
  proto::PagePlace place_before = proto::READY;
  int64_t ready_ms_before = 0;
};

struct Segment {
  int64_t cash_each = 0;
  uint32_t depth = 0;
  uint32_t redirects = 0;
  std::vector<std::string> targets;
};

// A batch of the outbox that was cut and is being sent.
struct Batch {
  std::vector<FoundUrl> urls;
  std::vector<std::pair<std::string, Page>> pages;
  std::map<std::string, int64_t> rests;  // Of the hosts in it.
};

struct Model {
  Order order = Order::kOpic;
  std::map<std::string, Page> pages;
  std::set<std::string> blocked;         // "d1.example" or "h0.d1.example".
  std::map<std::string, int64_t> rests;  // Host, until; absent: awake.
  std::set<std::string> hosts_with_record;
  std::map<std::string, Segment> segments;
  std::map<std::string, FoundUrl> deferred;
  std::map<SiteId, std::map<std::string, FoundUrl>> outbox;
  std::map<SiteId, std::map<std::string, FoundUrl>> gains;
  std::map<SiteId, std::map<uint64_t, Batch>> sending;
  std::map<SiteId, uint64_t> lives;  // Of the sites that it sends to.
  std::map<SiteId, uint64_t> sequences;
  std::map<std::pair<SiteId, uint64_t>, uint64_t> received_batches;
  std::map<std::pair<SiteId, uint64_t>, int64_t> received_cash;
  std::map<SiteId, uint64_t> completed;  // Told to that site, in this life.
  std::map<std::pair<SiteId, uint64_t>, uint64_t> completed_by;

  proto::RoundPhase phase = proto::NO_ROUND;
  uint64_t round = 0;
  bool root_has_paid = false;
  int64_t root_share = 0;
  std::string cursor;

  int64_t injected = 0, root = 0, acknowledged = 0, received = 0;
  int64_t handed_over = 0, taken_over = 0;
  std::map<std::string, int64_t> dropped;
  int64_t dropped_urls = 0;

  void Inject(const std::vector<PageKey>& seeds);
  void PutFound(const FoundUrl& url, const Moment& moment);
  // Lets in the best targets of each host, while the host and the quota have
  // room.
  void PutTargets(const Settlement& settlement, const Moment& moment);
  void PutIfAbsent(const std::vector<FoundUrl>& urls, const Moment& moment);
  std::vector<std::string> Top(size_t width, size_t per_host) const;
  void Claim(const std::vector<std::string>& chosen);
  void Release(const std::vector<PageKey>& released);
  void WakeDuePages(int64_t now_ms, int64_t most);
  void PayRoot();
  void Complete(const Completion& completion);
  void PutHost(const HostUpdate& update);
  // Unsettled targets of the open round with their summed cash, in key order.
  std::vector<FoundUrl> Unsettled() const;
  void Settle(const Settlement& settlement, const Moment& moment);
  void CloseRound();
  void Undefer(const PageKey& page, const Moment& moment);
  void SendDeferred(SiteId site, const PageKey& page);
  void OpenPair(const Peer& to);
  void ClosePair(SiteId to);
  void ReleaseGains();
  // The owner by the page's last digit modulo 3: 0 is this site (nullopt), 1
  // and 2 are the sites with these numbers.
  static std::optional<SiteId> OwnerOf(std::string_view page);
  void SweepDeferred();
  void CutPages(SiteId to, const std::vector<HostKey>& hosts, size_t most);
  void CutComplete(SiteId to, uint64_t epoch);
  void PutMoved(const std::vector<std::pair<std::string, Page>>& moved,
                const Moment& moment);
  void PutMovedRest(const std::string& host, int64_t until);
  void CutOutbox(SiteId site, size_t most);
  void Acknowledge(SiteId site, uint64_t last);
  // Of every three URLs that wait for `from` (gains first, then found URLs,
  // each in key order), the first stays, the second goes to `to`, the third to
  // this site.
  void Reroute(SiteId from, SiteId to, const Moment& moment);
  void Receive(const Delivery& delivery, const Moment& moment);
  void Forget(const PageKey& page);
  bool IsBlocked(const std::string& page) const;
  // Return how many pages they moved.
  int64_t Block(const std::string& domain);
  int64_t Unblock(const std::string& domain);

  std::vector<std::string> FetchList() const;
  // The totals, added up from scratch.
  Totals CountTotals() const;
};

}  // namespace gannet::storage::model
