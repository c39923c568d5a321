// The round's journal: which phase, and what may happen in it.
#include "storage/crawl_db/open_round.h"

#include <fmt/format.h>

#include "storage/crawl_db/store.h"

namespace gannet::storage {

proto::RoundJournal OpenRound::journal() const { return store_.journal(); }

absl::Status OpenRound::Open(absl::Time now) {
  StripeLocks locks(store_.stripes());
  proto::RoundJournal journal = store_.journal();
  if (journal.phase() != proto::NO_ROUND) {
    return absl::FailedPreconditionError(
        fmt::format("round {} is still open", journal.number()));
  }
  const uint64_t number = journal.number() + 1;
  journal.Clear();
  journal.set_version(1);
  journal.set_number(number);
  journal.set_phase(proto::GENERATE);
  journal.set_opened_ms(ToMillis(now));
  Edit edit;
  edit.journal = journal;
  return store_.Commit(edit);
}

absl::Status OpenRound::SetPhase(proto::RoundPhase phase) {
  StripeLocks locks(store_.stripes());
  proto::RoundJournal journal = store_.journal();
  if (journal.phase() == proto::NO_ROUND || phase == proto::NO_ROUND ||
      phase < journal.phase()) {
    return absl::FailedPreconditionError(
        fmt::format("a round cannot go from phase {} to {}",
                    proto::RoundPhase_Name(journal.phase()),
                    proto::RoundPhase_Name(phase)));
  }
  if (phase >= proto::UPDATE && store_.totals().round_pages != 0) {
    return absl::FailedPreconditionError(fmt::format(
        "{} pages of round {} are still to fetch: complete or release them",
        store_.totals().round_pages, journal.number()));
  }
  journal.set_phase(phase);
  Edit edit;
  edit.journal = journal;
  return store_.Commit(edit);
}

absl::Status OpenRound::AddCounts(const proto::RoundCounts& counts) {
  StripeLocks locks(store_.stripes());  // All: the journal is rewritten.
  if (store_.journal().phase() == proto::NO_ROUND) {
    return absl::FailedPreconditionError("no round is open");
  }
  Edit edit;
  edit.counts = counts;
  return store_.Commit(edit);
}

absl::Status OpenRound::AddPhaseTime(proto::RoundPhase phase,
                                     absl::Duration time) {
  proto::RoundCounts counts;
  (*counts.mutable_phase_us())[phase] = absl::ToInt64Microseconds(time);
  return AddCounts(counts);
}

absl::Status OpenRound::AddNetworkLag(absl::Duration max_lag,
                                      absl::Duration held_back) {
  proto::RoundCounts counts;
  counts.set_max_lag_us(absl::ToInt64Microseconds(max_lag));
  counts.set_held_back_us(absl::ToInt64Microseconds(held_back));
  return AddCounts(counts);
}

absl::Status OpenRound::PayRoot() {
  StripeLocks locks(store_.stripes());
  proto::RoundJournal journal = store_.journal();
  if (journal.phase() != proto::GENERATE) {
    return absl::FailedPreconditionError(
        "the root pays at the end of generate, and only then");
  }
  if (journal.root_has_paid()) return absl::OkStatus();  // Resumed.
  const Totals totals = store_.totals();
  Edit edit;
  if (totals.round_pages > 0) {
    // The remainder of the division stays with the root.
    journal.set_root_share(totals.root / totals.round_pages);
    const int64_t paid = journal.root_share() * totals.round_pages;
    edit.delta.root -= paid;
    edit.delta.round += paid;
  }
  journal.set_root_has_paid(true);
  edit.journal = journal;
  return store_.Commit(edit);
}

absl::StatusOr<std::vector<PageKey>> OpenRound::FetchList(const PageKey& after,
                                                          size_t most) {
  std::vector<PageKey> pages;
  const auto it = store_.Scan(Column::kRounds, "f");
  for (it->Seek(keys::FetchList(after.bytes));
       it->Valid() && pages.size() < most; it->Next()) {
    const std::string_view page = it->key().substr(1);
    if (page != after.bytes) pages.push_back(PageKey{std::string(page)});
  }
  if (!it->status().ok()) return it->status();
  return pages;
}

absl::Status OpenRound::ForEachOutlinks(
    const std::function<void(std::string_view page,
                             const proto::OutlinkSegment&)>& visit) {
  const auto it = store_.Scan(Column::kRounds, "s");
  proto::OutlinkSegment segment;
  for (it->Seek("s"); it->Valid(); it->Next()) {
    if (!segment.ParseFromArray(it->value().data(), it->value().size())) {
      return absl::DataLossError("a page's outlinks cannot be decoded");
    }
    visit(it->key().substr(1), segment);
  }
  return it->status();
}

absl::Status OpenRound::Close(std::string_view report) {
  {
    StripeLocks locks(store_.stripes());
    proto::RoundJournal journal = store_.journal();
    const Totals totals = store_.totals();
    if (journal.phase() < proto::UPDATE) {
      return absl::FailedPreconditionError("no round is in its last phase");
    }
    if (totals.round != 0 || journal.cursor() < journal.last_target()) {
      return absl::FailedPreconditionError(
          fmt::format("round {} cannot end: outlinks with {} units of cash are "
                      "not settled",
                      journal.number(), totals.round));
    }
    Edit edit;
    // The fetch list is empty; the range spares its readers the tombstones.
    edit.batch.DeleteRange(Column::kRounds, "f", "g");
    edit.batch.DeleteRange(Column::kRounds, "s", "t");
    edit.Put(Column::kRounds, keys::Report(journal.number()), report);
    const uint64_t number = journal.number();
    journal.Clear();
    journal.set_version(1);
    journal.set_number(number);
    edit.journal = journal;
    if (absl::Status s = store_.Commit(edit); !s.ok()) return s;
  }
  return store_.Sync();
}

absl::StatusOr<std::string> OpenRound::Report(uint64_t round) {
  return store_.Get(Column::kRounds, keys::Report(round));
}

}  // namespace gannet::storage
