#include "storage/crawl_db/page_record.h"

#include <fmt/format.h>

#include <utility>

namespace gannet::storage {

absl::Status BadRecord(std::string_view what) {
  return absl::DataLossError(fmt::format(
      "{} cannot be decoded; run 'gannet verify --full', and restore a backup",
      what));
}

absl::StatusOr<proto::PageRecord> DecodePage(std::string_view bytes) {
  proto::PageRecord record;
  if (!record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      !IsSound(record)) {
    return BadRecord("a page's record");
  }
  return record;
}

bool IsSound(const proto::PageRecord& record) {
  return proto::PageState_IsValid(record.state()) &&
         proto::PagePlace_IsValid(record.place()) &&
         proto::PageState_IsValid(record.before_block().state()) &&
         proto::PagePlace_IsValid(record.before_block().place());
}

bool KeepsCash(const proto::PageRecord& record, const Moment& moment) {
  switch (record.place()) {
    case proto::READY:
      return true;
    case proto::SCHEDULED:
      return record.state() != proto::FETCHED ||
             record.ready_ms() <= ToMillis(moment.soon);
    default:
      return false;
  }
}

proto::PageRecord Merged(const proto::PageRecord& first,
                         const proto::PageRecord& second) {
  const bool second_is_later = second.visited_ms() > first.visited_ms();
  proto::PageRecord merged = second_is_later ? second : first;
  const proto::PageRecord& other = second_is_later ? first : second;
  merged.set_cash(first.cash() + second.cash());
  AddHistory(merged, other.history());
  merged.set_depth(std::min(first.depth(), second.depth()));
  merged.set_redirects(std::min(first.redirects(), second.redirects()));
  merged.set_found_ms(std::min(first.found_ms(), second.found_ms()));
  return merged;
}

void MarkTakenOut(proto::PageRecord& record) {
  proto::BeforeBlock& before = *record.mutable_before_block();
  before.set_state(record.state());
  before.set_place(record.place());
  before.set_ready_ms(record.ready_ms());
  record.set_cash(0);
  record.clear_ready_ms();
  record.set_state(proto::BLOCKED);
  record.set_place(proto::FINISHED);
  record.set_finished_reason(kBlockedByOperator);
}

bool WasTakenOut(const proto::PageRecord& record) {
  return record.place() == proto::FINISHED &&
         record.finished_reason() == kBlockedByOperator;
}

void UnmarkTakenOut(proto::PageRecord& record) {
  record.clear_finished_reason();
  const proto::BeforeBlock before = record.before_block();
  if (record.has_before_block()) {
    record.set_state(before.state());
  } else if (record.visited_ms() == 0) {  // By an older version.
    record.set_state(proto::NEW);
  }
  record.set_place(before.place() == proto::SCHEDULED ? proto::SCHEDULED
                                                      : proto::READY);
  record.set_ready_ms(before.ready_ms());
  record.clear_before_block();
}

}  // namespace gannet::storage
