// Store is what stands under the verbs of CrawlDb: the open engine, the locks,
// the totals, and the one way to write (Commit). Private to this room.
//
// A verb takes its locks (locks.h), reads, builds an Edit, commits it, gives
// the locks back and, if it promises something, calls Sync(). So no verb waits
// for a disk write while it holds a lock.
//
// After a failed commit or sync the store refuses all further writes: whether
// the batch reached the log is then unknown, and what is in memory may be older
// than the disk. Reopening is cheap, guessing is not.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/crawl_db.pb.h"
#include "storage/crawl_db/block_list.h"
#include "storage/crawl_db/claims.h"
#include "storage/crawl_db/columns.h"
#include "storage/crawl_db/data_folder.h"
#include "storage/crawl_db/edit.h"
#include "storage/crawl_db/locks.h"
#include "storage/crawl_db/page_record.h"
#include "storage/crawl_db/rests.h"
#include "storage/crawl_db/score.h"
#include "storage/crawl_db/totals.h"
#include "storage/engine/ordered_store.h"
#include "storage/engine/rocks_store.h"
#include "storage/mutex.h"

namespace gannet::storage {

class Store {
 public:
  // `order`: `nullopt` keeps the stored order. Another than the stored one is
  // kFailedPrecondition, unless no page is known yet.
  static absl::StatusOr<std::unique_ptr<Store>> Open(
      const std::string& folder, const StoreMemory& memory,
      std::optional<Order> order = std::nullopt);
  // On an engine that was opened with MakeColumns().
  static absl::StatusOr<std::unique_ptr<Store>> OpenOn(
      std::unique_ptr<OrderedStore> engine, std::optional<Order> order);

  OrderedStore& engine() { return *engine_; }

  // kNotFound if there is no such row.
  absl::StatusOr<std::string> Get(Column column, std::string_view key,
                                  const Snapshot* at = nullptr) {
    return engine_->Get(column, key, at);
  }
  // `keys` sorted; nullopt where there is no row.
  absl::StatusOr<std::vector<std::optional<std::string>>> MultiGet(
      Column column, const std::vector<std::string>& keys) {
    return engine_->MultiGet(column, {keys.begin(), keys.end()});
  }
  // The rows whose keys begin with `prefix`; stands nowhere until Seek().
  std::unique_ptr<Cursor> Scan(Column column, std::string_view prefix,
                               const ReadOptions& options = {}) {
    return engine_->NewCursor(column, PrefixRange(prefix), options);
  }
  // A row that was never written reads as an empty message. kDataLoss if it
  // cannot be decoded.
  template <typename Message>
  absl::StatusOr<Message> GetMessage(Column column, std::string_view key) {
    Message message;
    absl::StatusOr<std::string> bytes = Get(column, key);
    if (absl::IsNotFound(bytes.status())) return message;
    if (!bytes.ok()) return bytes.status();
    if (!message.ParseFromString(*bytes)) {
      return BadRecord("the record '" + std::string(key) + "'");
    }
    return message;
  }
  // kNotFound, or kDataLoss if the record cannot be read.
  absl::StatusOr<proto::PageRecord> GetPage(std::string_view page,
                                            const Snapshot* at = nullptr);
  // Records of sorted, distinct pages; nullopt for unknown ones.
  absl::StatusOr<std::vector<std::optional<proto::PageRecord>>> GetPages(
      const std::vector<std::string_view>& pages);

  // Writes the edit with its totals, all or nothing. It outlives this process;
  // a power cut only after a Sync().
  // REQUIRES: the caller holds the stripes of all pages and hosts in it, and
  // the pairs of all sites.
  absl::Status Commit(Edit& edit) ABSL_LOCKS_EXCLUDED(commit_mu_);
  // What was committed so far outlives a power cut. Free if another thread has
  // just synced it. To be called by a verb that promises something, after it
  // has given all locks back.
  absl::Status Sync() ABSL_LOCKS_EXCLUDED(sync_mu_, commit_mu_);

  Stripes& stripes() ABSL_LOCK_RETURNED(stripes_) { return stripes_; }
  Pairs& pairs() ABSL_LOCK_RETURNED(pairs_) { return pairs_; }

  Totals totals() const ABSL_LOCKS_EXCLUDED(commit_mu_);
  proto::RoundJournal journal() const ABSL_LOCKS_EXCLUDED(commit_mu_);
  // One field of the journal, for which a copy of the whole would be too
  // costly: it is asked for each page.
  int64_t root_share() const ABSL_LOCKS_EXCLUDED(commit_mu_);

  const Claims& claims() const { return claims_; }
  const Rests& rests() const { return rests_; }
  bool IsBlocked(std::string_view page) const { return blocked_.Has(page); }
  Order order() const { return order_; }
  // Where the page stands in the frontier, if it does.
  uint8_t StepOf(std::string_view page, const proto::PageRecord& record) const {
    return storage::StepOf(order_, page, record);
  }

  // REQUIRES: all stripes are locked, and the list is on disk.
  void SetBlockList(const proto::BlockList& list)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(stripes_) {
    blocked_.Set(list);
    ++block_changes_;
  }
  uint64_t block_changes() const { return block_changes_; }
  absl::Status broken() const ABSL_LOCKS_EXCLUDED(commit_mu_) {
    MutexLock lock(&commit_mu_);
    return broken_;
  }

  // Where the schedule of pages may begin: everything earlier was taken, and
  // its tombstones need not be stepped over again.
  int64_t schedule_floor_ms() const ABSL_LOCKS_EXCLUDED(commit_mu_);
  // REQUIRES: all stripes are locked.
  void SetScheduleFloor(int64_t ms) ABSL_EXCLUSIVE_LOCKS_REQUIRED(stripes_)
      ABSL_LOCKS_EXCLUDED(commit_mu_);

 private:
  Store(std::optional<DataFolder> folder, std::unique_ptr<OrderedStore> engine)
      : folder_(std::move(folder)), engine_(std::move(engine)) {}
  static absl::StatusOr<std::unique_ptr<Store>> Finish(
      std::unique_ptr<Store> store, std::optional<Order> order);
  absl::Status Load() ABSL_LOCKS_EXCLUDED(commit_mu_);
  absl::Status LoadClaims();
  absl::Status LoadRests();
  uint64_t written() const ABSL_LOCKS_EXCLUDED(commit_mu_);
  // The parts of Commit().
  static void AddHostCounts(Edit& edit);
  void AddJournal(Edit& edit) ABSL_EXCLUSIVE_LOCKS_REQUIRED(commit_mu_);
  // Nothing more is written after this.
  void SetBroken(const absl::Status& why)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(commit_mu_);
  void UpdateClaimsAndRests(const Edit& edit);
  absl::Status SetOrder(std::optional<Order> wanted)
      ABSL_LOCKS_EXCLUDED(commit_mu_);

  const std::optional<DataFolder> folder_;  // Locked; none in memory.
  const std::unique_ptr<OrderedStore> engine_;
  Order order_ = Order::kOpic;
  Stripes stripes_;
  Pairs pairs_;
  Claims claims_;
  Rests rests_;
  // Changed with all stripes locked, read with any.
  BlockedPrefixes blocked_;
  std::atomic<uint64_t> block_changes_ = 0;

  // So many commits are synced, of `written_`.
  std::atomic<uint64_t> synced_ = 0;
  Mutex sync_mu_;  // One at a time; a waiter finds its own synced.

  mutable Mutex commit_mu_ ABSL_ACQUIRED_AFTER(sync_mu_);
  Totals totals_ ABSL_GUARDED_BY(commit_mu_);
  proto::RoundJournal journal_ ABSL_GUARDED_BY(commit_mu_);
  // Rows can be read a moment before they are counted here: whoever reads the
  // count waits for the commit under way. The first Sync() is not free: what an
  // earlier process has written may not have been synced.
  uint64_t written_ ABSL_GUARDED_BY(commit_mu_) = 1;
  absl::Status broken_ ABSL_GUARDED_BY(commit_mu_);
  int64_t schedule_floor_ms_ ABSL_GUARDED_BY(commit_mu_) = 0;
};

}  // namespace gannet::storage
