// Settle: one batch of update. The round's cash goes where the targets are:
// into pages of this site, to those deferred, to outboxes, or it is dropped and
// counted. The cursor is in the same write, so a batch is never applied twice.
#include "storage/crawl_db/crawl_db.h"
#include "storage/crawl_db/sorted.h"
#include "storage/crawl_db/store.h"

namespace gannet::storage {

absl::StatusOr<PutCounts> CrawlDb::Settle(const Settlement& settlement,
                                          const Moment& moment) {
  const std::vector<Found> local = SortedAndMerged(settlement.local);
  std::vector<std::string_view> to_lock = PagesOf(local);
  for (const Found& url : settlement.deferred) {
    to_lock.push_back(url.page.bytes);
  }
  for (const auto& [site, url] : settlement.remote) {
    to_lock.push_back(url.page.bytes);
  }
  StripeLocks locks(*store_, to_lock);
  proto::RoundJournal journal = store_->journal();
  if (journal.phase() != proto::UPDATE) {
    return absl::FailedPreconditionError(
        "outlinks are settled only while a round updates");
  }
  if (settlement.cursor <= journal.cursor() && !journal.cursor().empty()) {
    return absl::FailedPreconditionError(
        "these outlinks were settled before: the cursor is past them");
  }

  Edit edit;
  absl::StatusOr<PutCounts> counts = AddFound(edit, local, moment);
  if (!counts.ok()) return counts;
  if (absl::Status status = AddWaiting(edit, settlement); !status.ok()) {
    return status;
  }
  for (const Found& url : local) edit.delta.round -= url.cash;
  for (const Found& url : settlement.deferred) edit.delta.round -= url.cash;
  for (const auto& [site, url] : settlement.remote) {
    edit.delta.round -= url.cash;
  }
  for (const Settlement::Drop& drop : settlement.dropped) {
    edit.delta.round -= drop.cash;
    edit.delta.dropped[drop.reason] += drop.cash;
    edit.delta.dropped_urls += drop.urls;
  }
  journal.set_cursor(settlement.cursor);
  edit.journal = journal;
  if (absl::Status status = store_->Commit(edit, /*sync=*/false);
      !status.ok()) {
    return status;
  }
  return counts;
}

}  // namespace gannet::storage
