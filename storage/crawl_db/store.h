// Store is what stands under the verbs of CrawlDb: the open RocksDB, the locks,
// the totals, and the one way to write (Commit). Private to this room.
//
// Locks, in the order in which they are taken: stripes (ascending), then the
// commit mutex. A verb locks the stripes of the pages that it reads and
// rewrites, so that two verbs never rewrite one page from the same old record.
// A stripe is a sixteenth of the buckets; it also guards what we keep in memory
// about its pages.
//
// After a failed commit the store refuses all further writes: whether the batch
// reached the log is then unknown, and what is in memory may be older than the
// disk. Reopening is cheap, guessing is not.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <array>
#include <atomic>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/crawl_db.pb.h"
#include "storage/crawl_db/block_list.h"
#include "storage/crawl_db/columns.h"
#include "storage/crawl_db/data_folder.h"
#include "storage/crawl_db/keys.h"
#include "storage/crawl_db/score.h"
#include "storage/crawl_db/totals.h"
#include "storage/mutex.h"

namespace gannet::storage {

// The code says what the caller should do: kResourceExhausted make room on the
// disk, kDataLoss restore or repair, kFailedPrecondition fix and start again.
absl::Status FromRocksDb(const rocksdb::Status& status, std::string_view doing);

// Its enumerations are among those that there are: what came from a peer or
// from the disk may hold any number.
bool IsSound(const proto::PageRecord& record);

// Two times of a host's rest that are not times, first of all that are due: a
// rest that was cleared and ends with the next WakeDue, and one that has ended
// while some of the host's pages still stand aside. Stored on disk.
inline constexpr int64_t kDueAtOnceMs = 1;
inline constexpr int64_t kWakingMs = 2;

// One atomic write in the making.
struct Edit {
  rocksdb::WriteBatch batch;
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
  ~Store();

  rocksdb::DB& db() { return *db_; }
  rocksdb::ColumnFamilyHandle* column(Column column) {
    return handles_[static_cast<size_t>(column)];
  }

  // kNotFound if there is no such row.
  absl::StatusOr<std::string> Get(Column column, std::string_view key,
                                  const rocksdb::Snapshot* at = nullptr);
  // `keys` sorted; nullopt where there is no row.
  absl::StatusOr<std::vector<std::optional<std::string>>> MultiGet(
      Column column, const std::vector<std::string>& keys,
      const rocksdb::Snapshot* at = nullptr);
  // kNotFound, or kDataLoss if the record cannot be read.
  absl::StatusOr<proto::PageRecord> GetPage(
      std::string_view page, const rocksdb::Snapshot* at = nullptr);
  // Records of sorted, distinct pages; nullopt for unknown ones.
  absl::StatusOr<std::vector<std::optional<proto::PageRecord>>> GetPages(
      const std::vector<std::string_view>& pages);

  void Put(Edit& edit, Column column, std::string_view key,
           std::string_view value);
  void PutMessage(Edit& edit, Column column, std::string_view key,
                  const google::protobuf::MessageLite& message);
  void Delete(Edit& edit, Column column, std::string_view key);

  // Writes the edit with its totals, all or nothing. `sync` waits for the disk.
  // REQUIRES: the caller holds the stripes of all pages and hosts in it.
  absl::Status Commit(Edit& edit, bool sync) ABSL_LOCKS_EXCLUDED(commit_mu_);

  Totals totals() const ABSL_LOCKS_EXCLUDED(commit_mu_);
  proto::RoundJournal journal() const ABSL_LOCKS_EXCLUDED(commit_mu_);

  // REQUIRES, for these: the page's or host's stripe is locked.
  bool IsClaimed(std::string_view page);
  // Its pages are not to be generated.
  bool IsResting(std::string_view host);
  // It rests or is waking: some of its pages may stand aside.
  bool HasPagesAside(std::string_view host);
  // A hint, for anybody: false most of the time, and then nobody need be asked.
  bool AnyHostHasPagesAside() const { return resting_hosts_ > 0; }
  bool IsBlocked(std::string_view page) const { return blocked_.Has(page); }
  Order order() const { return order_; }
  // Where the page stands in the frontier, if it does.
  uint8_t StepOf(std::string_view page, const proto::PageRecord& record) const {
    return storage::StepOf(order_, page, record);
  }
  Mutex& stripe_mutex(size_t stripe) { return stripes_[stripe].mu; }

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
  // By Hash128 of the key: the open round's pages; resting hosts, until when.
  using Claimed = absl::flat_hash_set<absl::uint128>;
  using Resting = absl::flat_hash_map<absl::uint128, int64_t>;
  struct Stripe {
    Mutex mu;
    Claimed claimed ABSL_GUARDED_BY(mu);
    Resting resting ABSL_GUARDED_BY(mu);
  };
  // REQUIRES: the stripe is locked, which StripeLocks hides from the analysis.
  Claimed& ClaimedOf(std::string_view page) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return stripes_[StripeOf(page)].claimed;
  }
  Resting& RestingOf(std::string_view host) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return stripes_[StripeOf(host)].resting;
  }

  Store(DataFolder folder) : folder_(std::move(folder)) {}
  absl::Status Load();
  absl::Status SetOrder(std::optional<Order> wanted)
      ABSL_LOCKS_EXCLUDED(commit_mu_);

  DataFolder folder_;
  Order order_ = Order::kOpic;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
  std::array<Stripe, kStripes> stripes_;
  std::atomic<int64_t> resting_hosts_ = 0;
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
