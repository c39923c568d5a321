// Store is what stands under the verbs of CrawlDb: the open engine, the locks,
// the totals, and the one way to write (Commit). Private to this room.
//
// Locks, in the order in which they are taken: stripes (ascending), then the
// commit mutex. A verb locks the stripes of the pages that it reads and
// rewrites, so that two verbs never rewrite one page from the same old record.
// A stripe is a sixteenth of the buckets.
//
// After a failed commit the store refuses all further writes: whether the batch
// reached the log is then unknown, and what is in memory may be older than the
// disk. Reopening is cheap, guessing is not.
#pragma once

#include <array>
#include <atomic>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
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
#include "storage/crawl_db/keys.h"
#include "storage/crawl_db/rests.h"
#include "storage/crawl_db/score.h"
#include "storage/crawl_db/totals.h"
#include "storage/engine/batch.h"
#include "storage/engine/count.h"
#include "storage/engine/ordered_store.h"
#include "storage/engine/rocks_store.h"
#include "storage/mutex.h"

namespace gannet::storage {

// Its enumerations are among those that there are: what came from a peer or
// from the disk may hold any number.
bool IsSound(const proto::PageRecord& record);

// One atomic write in the making.
struct Edit {
  void Put(Column column, std::string_view key, std::string_view value) {
    batch.Put(column, key, value);
  }
  void PutMessage(Column column, std::string_view key,
                  const google::protobuf::MessageLite& message) {
    batch.Put(column, key, message.SerializeAsString());
  }
  void Delete(Column column, std::string_view key) {
    batch.Delete(column, key);
  }

  Batch batch;
  Totals delta;
  std::optional<proto::RoundJournal> journal;
  std::map<std::string, int64_t> host_pages;  // Change in number, by host.
  int64_t earliest_ready_ms = std::numeric_limits<int64_t>::max();
  std::string last_target;    // The greatest outlink that was added.
  proto::RoundCounts counts;  // Added to the journal's.

  // Carried into memory once the batch is written.
  std::vector<std::string> claimed;
  std::vector<std::string> unclaimed;
  std::vector<std::pair<std::string, int64_t>> resting;  // Host, until.
  std::vector<std::string> awake;
  std::set<std::string> aside;  // Hosts of which pages were put aside.
};

// What the edit drops is the open round's doing.
inline void CountDropped(Edit& edit) {
  edit.counts.set_dropped_urls(edit.delta.dropped_urls);
  for (const auto& [reason, cash] : edit.delta.dropped) {
    (*edit.counts.mutable_dropped())[reason] = cash;
  }
}

class Store {
 public:
  static constexpr size_t kStripes = 16;
  static size_t StripeOf(std::string_view page_or_host) {
    return BucketOf(page_or_host) % kStripes;
  }

  // `order`: nothing takes what is stored. Another than that is
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
  // kNotFound, or kDataLoss if the record cannot be read.
  absl::StatusOr<proto::PageRecord> GetPage(std::string_view page,
                                            const Snapshot* at = nullptr);
  // Records of sorted, distinct pages; nullopt for unknown ones.
  absl::StatusOr<std::vector<std::optional<proto::PageRecord>>> GetPages(
      const std::vector<std::string_view>& pages);

  // Writes the edit with its totals, all or nothing. `sync` waits for the disk.
  // REQUIRES: the caller holds the stripes of all pages and hosts in it.
  absl::Status Commit(Edit& edit, bool sync) ABSL_LOCKS_EXCLUDED(commit_mu_);

  Totals totals() const ABSL_LOCKS_EXCLUDED(commit_mu_);
  proto::RoundJournal journal() const ABSL_LOCKS_EXCLUDED(commit_mu_);
  // Of the journal, which is large: a copy for each page would be dear.
  int64_t root_share() const ABSL_LOCKS_EXCLUDED(commit_mu_);

  const Claims& claims() const { return claims_; }
  const Rests& rests() const { return rests_; }
  bool IsBlocked(std::string_view page) const { return blocked_.Has(page); }
  Order order() const { return order_; }
  // Where the page stands in the frontier, if it does.
  uint8_t StepOf(std::string_view page, const proto::PageRecord& record) const {
    return storage::StepOf(order_, page, record);
  }
  Mutex& stripe_mutex(size_t stripe) { return stripes_[stripe]; }

  // REQUIRES: all stripes are locked, and the list is on disk.
  void SetBlockList(const proto::BlockList& list) {
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
  void SetScheduleFloor(int64_t ms) ABSL_LOCKS_EXCLUDED(commit_mu_);

 private:
  Store(std::optional<DataFolder> folder, std::unique_ptr<OrderedStore> engine)
      : folder_(std::move(folder)), engine_(std::move(engine)) {}
  static absl::StatusOr<std::unique_ptr<Store>> Finish(
      std::unique_ptr<Store> store, std::optional<Order> order);
  absl::Status Load() ABSL_LOCKS_EXCLUDED(commit_mu_);
  absl::Status LoadClaims();
  absl::Status LoadRests();
  // The parts of Commit().
  static void AddHostCounts(Edit& edit);
  void AddJournal(Edit& edit) ABSL_EXCLUSIVE_LOCKS_REQUIRED(commit_mu_);
  absl::Status Write(const Edit& edit, bool sync)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(commit_mu_);
  void UpdateClaimsAndRests(const Edit& edit);
  absl::Status SetOrder(std::optional<Order> wanted)
      ABSL_LOCKS_EXCLUDED(commit_mu_);

  const std::optional<DataFolder> folder_;  // Locked; none in memory.
  const std::unique_ptr<OrderedStore> engine_;
  Order order_ = Order::kOpic;
  std::array<Mutex, kStripes> stripes_;
  Claims claims_;
  Rests rests_;
  // Changed with all stripes locked, read with any.
  BlockedPrefixes blocked_;
  std::atomic<uint64_t> block_changes_ = 0;

  mutable Mutex commit_mu_;
  Totals totals_ ABSL_GUARDED_BY(commit_mu_);
  proto::RoundJournal journal_ ABSL_GUARDED_BY(commit_mu_);
  absl::Status broken_ ABSL_GUARDED_BY(commit_mu_);
  int64_t schedule_floor_ms_ ABSL_GUARDED_BY(commit_mu_) = 0;
};

// Locks the stripes of some pages, or all of them, while it lives.
class StripeLocks {
 public:
  explicit StripeLocks(Store& store);  // All.
  StripeLocks(Store& store, const std::vector<std::string_view>& pages);
  ~StripeLocks();
  StripeLocks(const StripeLocks&) = delete;
  StripeLocks& operator=(const StripeLocks&) = delete;

 private:
  void Lock();
  Store& store_;
  std::array<bool, Store::kStripes> locked_{};
};

}  // namespace gannet::storage
