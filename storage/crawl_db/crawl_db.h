// CrawlDb is a site's memory of the web: every known page and where it stands
// (frontier, schedule, open round, or finished), the hosts, the open round's
// journal, and the URLs that wait to get in or out. It opens the store and
// holds the classes that speak of it in verbs, each about one thing.
//
// A verb is one atomic write (those of many writes say so), so that a process
// killed at any moment resumes with no repair step. Cash is conserved exactly
// (invariant I3): every verb that moves cash moves the ledger in the same
// write, and Checks adds everything up. Verbs may run side by side (an exchange
// writes while a round runs); they never call each other. Thread-safe. Nothing
// outside this room sees the store.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/crawl_db/blocks.h"
#include "storage/crawl_db/channel_moves.h"
#include "storage/crawl_db/checks.h"
#include "storage/crawl_db/found_url.h"
#include "storage/crawl_db/frontier.h"
#include "storage/crawl_db/incoming.h"
#include "storage/crawl_db/open_round.h"
#include "storage/crawl_db/order.h"
#include "storage/crawl_db/outgoing.h"
#include "storage/crawl_db/records.h"
#include "storage/crawl_db/scopes.h"
#include "storage/crawl_db/totals.h"
#include "storage/crawl_db/waiting.h"

namespace gannet::storage {

class OrderedStore;
class Store;

struct CrawlDbSettings {
  std::string folder;
  uint64_t block_cache_bytes = 128 << 20;
  uint64_t write_buffer_bytes = 96 << 20;
  std::optional<size_t> max_open_files = std::nullopt;  // `nullopt`: none.
  // `nullopt` keeps the stored order (OPIC in a new DB).
  std::optional<Order> order = std::nullopt;
};

class CrawlDb {
 public:
  // kAborted: in use. kFailedPrecondition: written by a newer version, or its
  // pages are in another order. kResourceExhausted: disk full. kDataLoss:
  // damaged.
  static absl::StatusOr<std::unique_ptr<CrawlDb>> Open(
      const CrawlDbSettings& settings);
  // On an engine that was opened with MakeColumns() (columns.h), instead of a
  // folder: for tests of crashes.
  static absl::StatusOr<std::unique_ptr<CrawlDb>> OpenOn(
      std::unique_ptr<OrderedStore> engine,
      std::optional<Order> order = std::nullopt);
  ~CrawlDb();

  Frontier& frontier() { return frontier_; }
  OpenRound& round() { return round_; }
  const OpenRound& round() const { return round_; }
  Waiting& waiting() { return waiting_; }
  Outgoing& outgoing() { return outgoing_; }
  Incoming& incoming() { return incoming_; }
  ChannelMoves& moves() { return moves_; }
  Records& records() { return records_; }
  Blocks& blocks() { return blocks_; }
  Scopes& scopes() { return scopes_; }
  const Scopes& scopes() const { return scopes_; }
  Checks& checks() { return checks_; }

  Totals totals() const;
  Order order() const;
  // Not OK: a write or a sync has failed (its code says why), and nothing more
  // is written until the crawl DB is opened again.
  absl::Status broken() const;
  // Copies the DB into the new folder `to`, in which Open() finds it as it is
  // now; others may write meanwhile. Cheap on the same disk: files that never
  // change are linked.
  absl::Status Checkpoint(const std::string& to);

 private:
  explicit CrawlDb(std::unique_ptr<Store> store);
  static absl::StatusOr<std::unique_ptr<CrawlDb>> Finish(
      absl::StatusOr<std::unique_ptr<Store>> store);

  const std::unique_ptr<Store> store_;
  Frontier frontier_;
  OpenRound round_;
  Waiting waiting_;
  Outgoing outgoing_;
  Incoming incoming_;
  ChannelMoves moves_;
  Records records_;
  Blocks blocks_;
  Scopes scopes_;
  Checks checks_;
};

}  // namespace gannet::storage
