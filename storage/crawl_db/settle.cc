// Settle: one batch of update. The round's cash goes where the targets are:
// into pages of this site, to those deferred, to outboxes, or it is dropped and
// counted. The cursor is in the same write, so a batch is never applied twice.
#include "storage/crawl_db/admission.h"
#include "storage/crawl_db/open_round.h"
#include "storage/crawl_db/page_rows.h"
#include "storage/crawl_db/sorted.h"
#include "storage/crawl_db/store.h"
#include "storage/crawl_db/waiting_rows.h"

namespace gannet::storage {

absl::StatusOr<PutCounts> OpenRound::Settle(const Settlement& settlement,
                                            const Moment& moment) {
  const std::vector<FoundUrl> local = SortedAndMerged(settlement.local);
  std::set<SiteId> sites;
  for (const auto& [site, url] : settlement.remote) sites.insert(site);
  for (const auto& [site, url] : settlement.gains) sites.insert(site);
  StripeLocks locks(store_.stripes());  // All: the journal is rewritten.
  PairLocks pairs(store_.pairs(), std::move(sites));
  proto::RoundJournal journal = store_.journal();
  if (journal.phase() != proto::UPDATE) {
    return absl::FailedPreconditionError(
        "outlinks are settled only while a round updates");
  }
  if (settlement.cursor <= journal.cursor()) {
    return absl::FailedPreconditionError(
        "these outlinks were settled before: the cursor is past them");
  }
  Edit edit;
  const auto take = [&](const FoundUrl& url) {
    edit.delta.round -= url.cash;
    return url.cash >= 0 && url.page.bytes > journal.cursor() &&
           url.page.bytes <= settlement.cursor && IsPageKey(url.page.bytes);
  };
  bool fits = true;
  for (const FoundUrl& url : local) fits = take(url) && fits;
  for (const FoundUrl& url : settlement.deferred) fits = take(url) && fits;
  for (const auto& [site, url] : settlement.remote) fits = take(url) && fits;
  for (const auto& [site, url] : settlement.gains) fits = take(url) && fits;
  for (const Drop& drop : settlement.dropped) {
    fits = fits && drop.cash >= 0;
    edit.delta.round -= drop.cash;
    edit.delta.dropped[drop.reason] += drop.cash;
    edit.delta.dropped_urls += drop.urls;
  }
  if (!fits || -edit.delta.round > store_.totals().round) {
    return absl::InvalidArgumentError(
        "a target is not between the cursors, or gets more than the round has");
  }

  Admission admission = Admission::OfTargets(store_, settlement);
  absl::StatusOr<PutCounts> counts =
      AddFound(store_, edit, local, moment, &admission);
  if (!counts.ok()) return counts;
  std::vector<FoundUrl> deferred = settlement.deferred;
  deferred.insert(deferred.end(), admission.deferred().begin(),
                  admission.deferred().end());
  RemoteUrls remote = settlement.remote;
  absl::Status status = JoinDeferred(store_, edit, remote);
  if (status.ok()) status = AddDeferred(store_, edit, deferred);
  if (status.ok()) status = AddOutbox(store_, edit, remote);
  if (status.ok()) status = AddGains(store_, edit, settlement.gains);
  if (!status.ok()) return status;
  counts->deferred = static_cast<int64_t>(deferred.size());
  counts->dropped = admission.dropped();
  counts->with_least_cash = admission.with_least_cash();
  edit.counts.set_found(static_cast<int64_t>(
      local.size() + settlement.deferred.size() + settlement.remote.size()));
  edit.counts.set_sent(static_cast<int64_t>(settlement.remote.size()));
  for (const auto& [site, url] : settlement.remote) {
    ++(*edit.counts.mutable_sent_to())[static_cast<uint32_t>(site)];
    edit.counts.set_sent_cash(edit.counts.sent_cash() + url.cash);
  }
  // What was sent before is in one of the two, by the mode of the exchange.
  int64_t sent_before = static_cast<int64_t>(settlement.gains.size());
  for (const auto& [site, url] : settlement.gains) {
    edit.counts.set_gained_cash(edit.counts.gained_cash() + url.cash);
  }
  for (const Drop& drop : settlement.dropped) {
    if (drop.reason == kSentBefore) ++sent_before;
  }
  edit.counts.set_sent_before(sent_before);
  edit.counts.set_added(counts->added);
  edit.counts.set_deferred(counts->deferred);
  CountDropped(edit);
  journal.set_cursor(settlement.cursor);
  edit.journal = journal;
  status = store_.Commit(edit);
  if (!status.ok()) return status;
  return counts;
}

}  // namespace gannet::storage
