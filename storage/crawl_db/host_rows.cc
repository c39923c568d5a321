#include "storage/crawl_db/host_rows.h"

#include <algorithm>

#include "storage/engine/count.h"

namespace gannet::storage {
namespace {

// The kind of a failure may come from a peer. If it were cut short, or had
// other characters, it might not be UTF-8, and the record could never be read
// again.
bool IsFailureName(std::string_view name) {
  constexpr size_t kMaxBytes = 64;
  return name.size() <= kMaxBytes &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

// A rest that is no time (rests.h) means nothing to another site.
int64_t RestOf(const proto::HostRecord& record) {
  return record.rest_until_ms() > kWakingMs ? record.rest_until_ms() : 0;
}

}  // namespace

absl::StatusOr<proto::HostRecord> GetHost(Store& store, const HostKey& host) {
  return store.GetMessage<proto::HostRecord>(Column::kHosts,
                                             keys::HostInfo(host.bytes));
}

absl::StatusOr<int64_t> HostPages(Store& store, const HostKey& host) {
  absl::StatusOr<std::string> bytes =
      store.Get(Column::kHosts, keys::HostPages(host.bytes));
  if (absl::IsNotFound(bytes.status())) return 0;
  if (!bytes.ok()) return bytes.status();
  return DecodeCount(*bytes);
}

absl::Status AddHost(Store& store, Edit& edit, const HostUpdate& update,
                     bool by_wake) {
  const std::string& host = update.host.bytes;
  absl::StatusOr<proto::HostRecord> before = GetHost(store, update.host);
  if (!before.ok()) return before.status();
  proto::HostRecord record = update.record;
  record.set_version(1);
  const int64_t was_ms = before->rest_until_ms();
  if (record.rest_until_ms() != 0 && !by_wake) {
    record.set_rest_until_ms(RealTime(record.rest_until_ms()));
  }
  if (was_ms != 0 && record.rest_until_ms() == 0 && !by_wake) {
    record.set_rest_until_ms(was_ms == kWakingMs ? kWakingMs : kDueAtOnceMs);
  }
  const int64_t until_ms = record.rest_until_ms();
  if (was_ms != 0 && was_ms != until_ms) {
    edit.Delete(Column::kSchedule, keys::ScheduledHost(was_ms, host));
  }
  if (until_ms != 0) {
    edit.Put(Column::kSchedule, keys::ScheduledHost(until_ms, host), {});
    edit.resting.emplace_back(host, until_ms);
  } else if (was_ms != 0) {
    edit.awake.push_back(host);
  }
  edit.PutMessage(Column::kHosts, keys::HostInfo(host), record);
  return absl::OkStatus();
}

absl::Status AddMovedHost(Store& store, Edit& edit, const HostUpdate& update) {
  absl::StatusOr<proto::HostRecord> known = GetHost(store, update.host);
  if (!known.ok()) return known.status();
  const proto::HostRecord& other = update.record;
  proto::HostRecord merged = *known;
  for (const proto::RobotsRules& rules : other.robots()) {
    auto& mine = *merged.mutable_robots();
    const auto it = std::find_if(
        mine.begin(), mine.end(),
        [&](const auto& known) { return known.origin() == rules.origin(); });
    if (it == mine.end()) {
      *merged.add_robots() = rules;
    } else if (it->expires_ms() < rules.expires_ms()) {
      *it = rules;
    }
  }
  merged.set_delay_ms(std::max(merged.delay_ms(), other.delay_ms()));
  if (merged.failures() < other.failures()) {
    merged.set_failures(other.failures());
    merged.set_last_failure(
        IsFailureName(other.last_failure()) ? other.last_failure() : "");
  }
  if (merged.addresses().empty()) {
    *merged.mutable_addresses() = other.addresses();
  }
  if (merged.rtt_us().empty()) *merged.mutable_rtt_us() = other.rtt_us();
  // AddHost handles a `rest_until_ms` that is a sentinel.
  merged.set_rest_until_ms(std::max(RestOf(*known), RestOf(other)));
  return AddHost(store, edit, {update.host, merged});
}

absl::StatusOr<proto::HostRecord> TakeHost(Store& store, Edit& edit,
                                           const HostKey& host) {
  absl::StatusOr<proto::HostRecord> record = GetHost(store, host);
  if (!record.ok() || record->version() == 0) return record;
  edit.Delete(Column::kHosts, keys::HostInfo(host.bytes));
  if (record->rest_until_ms() != 0) {
    edit.Delete(Column::kSchedule,
                keys::ScheduledHost(record->rest_until_ms(), host.bytes));
    edit.awake.push_back(host.bytes);
  }
  record->set_rest_until_ms(RestOf(*record));
  return record;
}

}  // namespace gannet::storage
