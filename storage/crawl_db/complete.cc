// Complete: a page of the open round has an outcome. Its cash leaves it here:
// to the round (its outlinks, until update settles them) or to the root.
#include <algorithm>
#include <set>

#include "storage/crawl_db/host_rows.h"
#include "storage/crawl_db/open_round.h"
#include "storage/crawl_db/page_rows.h"
#include "storage/crawl_db/sorted.h"
#include "storage/crawl_db/store.h"

namespace gannet::storage {
namespace {

// The journal keeps an example of each kind of failure, and is written often.
constexpr size_t kLongestExample = 300;

// Copies the outcome into the record, except the fields that the DB itself
// keeps.
void TakeOutcome(const Completion& completion, proto::PageRecord& record) {
  proto::PageRecord next = completion.outcome;
  next.set_version(1);
  next.set_place(record.place());
  next.set_cash(record.cash());
  next.set_history(record.history());
  next.set_depth(record.depth());
  next.set_redirects(record.redirects());
  next.set_found_ms(record.found_ms());
  next.clear_ready_ms();
  record = std::move(next);
}

// The first outlinks whose keys take no more than kMostOutlinkBytes.
absl::Span<const PageKey> KeptOutlinks(const Completion& completion) {
  size_t bytes = 0;
  size_t kept = 0;
  for (const PageKey& target : completion.outlinks) {
    bytes += target.bytes.size();
    if (bytes > kMostOutlinkBytes) break;
    ++kept;
  }
  return absl::MakeConstSpan(completion.outlinks).first(kept);
}

void PayOut(Edit& edit, const Completion& completion, proto::PageRecord& record,
            int64_t share) {
  const int64_t cash = record.cash() + share;
  edit.delta.pages -= record.cash();
  edit.delta.round -= share;
  record.set_cash(0);
  if (completion.keeps_history) AddHistory(record, cash);

  const absl::Span<const PageKey> outlinks = KeptOutlinks(completion);
  const auto links = static_cast<int64_t>(outlinks.size());
  if (links == 0) {
    edit.delta.root += cash;
    return;
  }
  proto::OutlinkSegment segment;
  segment.set_cash_each(cash / links);
  // A redirect is no link: it leads no farther from the seeds.
  segment.set_depth(record.depth() +
                    (completion.outlink_redirects > 0 ? 0 : 1));
  segment.set_redirects(completion.outlink_redirects);
  for (const PageKey& target : outlinks) {
    segment.add_targets(target.bytes);
    edit.last_target = std::max(edit.last_target, target.bytes);
  }
  edit.PutMessage(Column::kRounds, keys::Outlinks(completion.page.bytes),
                  segment);
  const int64_t paid = segment.cash_each() * links;
  edit.delta.round += paid;
  edit.delta.root += cash - paid;
}

void CountOutcome(const Completion& completion, proto::RoundCounts& counts) {
  switch (completion.outcome.state()) {
    case proto::FETCHED:
      counts.set_fetched(counts.fetched() + 1);
      if (completion.unchanged) counts.set_unchanged(counts.unchanged() + 1);
      break;
    case proto::MOVED:
      counts.set_moved(counts.moved() + 1);
      break;
    case proto::GONE:
      counts.set_gone(counts.gone() + 1);
      break;
    case proto::BLOCKED:
      counts.set_blocked(counts.blocked() + 1);
      break;
    default:
      counts.set_failed(counts.failed() + 1);
      if (!completion.failure_kind.empty()) {
        ++(*counts.mutable_failures())[std::string(completion.failure_kind)];
        if (completion.page.bytes.size() <= kLongestExample) {
          (*counts
                .mutable_failed_page())[std::string(completion.failure_kind)] =
              completion.page.bytes;
        }
      }
  }
  counts.set_bytes(counts.bytes() + completion.bytes);
}

absl::Status CheckCompletion(const Completion& completion) {
  if (!proto::PageState_IsValid(completion.outcome.state())) {
    return absl::InvalidArgumentError("an outcome has an unknown state");
  }
  for (const PageKey& target : completion.outlinks) {
    if (!IsPageKey(target.bytes)) {
      return absl::InvalidArgumentError("an outlink has no page key");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int64_t> OpenRound::Complete(
    absl::Span<const Completion> completions,
    absl::Span<const HostUpdate> hosts, const proto::ArchiveState& archive) {
  std::vector<const Completion*> sorted;
  sorted.reserve(completions.size());
  for (const Completion& c : completions) {
    if (absl::Status status = CheckCompletion(c); !status.ok()) return status;
    sorted.push_back(&c);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const Completion* a, const Completion* b) {
              return a->page.bytes < b->page.bytes;
            });
  std::vector<std::string_view> pages;
  for (const Completion* c : sorted) pages.push_back(c->page.bytes);
  if (std::adjacent_find(pages.begin(), pages.end()) != pages.end()) {
    return absl::InvalidArgumentError("a page is completed twice in one batch");
  }
  std::vector<std::string_view> to_lock = pages;
  std::set<std::string_view> named;
  for (const HostUpdate& update : hosts) {
    to_lock.push_back(update.host.bytes);
    if (!IsHostKey(update.host.bytes) ||
        !named.insert(update.host.bytes).second) {
      return absl::InvalidArgumentError(
          "a host has no key, or is named twice in one batch");
    }
  }

  int64_t completed = 0;
  {
    StripeLocks locks(store_.stripes(), to_lock);
    auto records = store_.GetPages(pages);
    if (!records.ok()) return records.status();
    // Stragglers would add outlinks behind update's cursor.
    if (store_.journal().phase() != proto::FETCH) {
      return absl::FailedPreconditionError(
          "pages are completed only while a round fetches");
    }
    const int64_t share = store_.root_share();
    Edit edit;
    for (size_t i = 0; i < sorted.size(); ++i) {
      const std::string& page = sorted[i]->page.bytes;
      if (!(*records)[i].has_value() || !store_.claims().Has(page)) continue;
      proto::PageRecord& record = *(*records)[i];
      --edit.delta.pages_by_state[record.state()];
      TakeOutcome(*sorted[i], record);
      CountOutcome(*sorted[i], edit.counts);
      ++edit.delta.pages_by_state[record.state()];
      PayOut(edit, *sorted[i], record, share);
      edit.Delete(Column::kRounds, keys::FetchList(page));
      --edit.delta.round_pages;
      edit.unclaimed.push_back(page);
      if (sorted[i]->ready.has_value()) {
        EnterSchedule(edit, page, record, ToMillis(*sorted[i]->ready));
      } else {
        record.set_place(proto::FINISHED);
        ++edit.delta.finished_pages;
      }
      edit.PutMessage(Column::kPages, page, record);
    }
    completed = static_cast<int64_t>(edit.unclaimed.size());
    for (const HostUpdate& update : hosts) {
      if (absl::Status status = AddHost(store_, edit, update); !status.ok()) {
        return status;
      }
    }
    if (archive.open_size() > 0) {
      edit.PutMessage(Column::kMeta, keys::kArchive, archive);
    }
    if (absl::Status status = store_.Commit(edit); !status.ok()) {
      return status;
    }
  }
  if (absl::Status s = store_.Sync(); !s.ok()) return s;
  return completed;
}

}  // namespace gannet::storage
