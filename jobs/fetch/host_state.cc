#include "jobs/fetch/host_state.h"

#include <fmt/format.h>

#include <algorithm>

namespace gannet::jobs {
namespace {

constexpr size_t kRttSamples = 8;

}  // namespace

RobotsRules RulesFromStored(const proto::RobotsRules& stored,
                            std::string_view agent) {
  const uint32_t status = stored.http_status();
  if (status >= 200 && status < 300) {
    return RobotsRules::Parse(stored.text(), agent);
  }
  // 429 is a 4xx, but means "not now" and not "there is none".
  if (status >= 300 && status < 500 && status != 429) {
    return RobotsRules::AllowAll();
  }
  return RobotsRules::DenyAll(status == 0
                                  ? "robots.txt cannot be reached"
                                  : fmt::format("robots.txt: http {}", status));
}

void HostState::FromRecord(const proto::HostRecord& record,
                           std::string_view agent, absl::Time now) {
  is_loaded = true;
  failures = record.failures();
  last_failure = record.last_failure();
  crawl_delay = absl::Milliseconds(record.delay_ms());
  if (record.rest_until_ms() > storage::ToMillis(now)) {
    rest_until = absl::FromUnixMillis(record.rest_until_ms());
  }
  stored_addresses.assign(record.addresses().begin(), record.addresses().end());
  rtt_us.assign(record.rtt_us().begin(), record.rtt_us().end());
  for (const proto::RobotsRules& stored : record.robots()) {
    const absl::Time expires = absl::FromUnixMillis(stored.expires_ms());
    if (expires <= now) continue;
    origins[stored.origin()] = {OriginRules::Stage::kKnown,
                                RulesFromStored(stored, agent), expires,
                                stored};
  }
}

proto::HostRecord HostState::ToRecord(absl::Time now) const {
  proto::HostRecord record;
  record.set_version(1);
  record.set_failures(failures);
  record.set_last_failure(last_failure);
  record.set_delay_ms(absl::ToInt64Milliseconds(crawl_delay));
  if (rest_until > now) {
    record.set_rest_until_ms(storage::ToMillis(rest_until));
  }
  if (has_address) {
    record.add_addresses(address.bytes().data(), address.bytes().size());
  } else {  // Not looked up in this round: where it was last.
    record.mutable_addresses()->Assign(stored_addresses.begin(),
                                       stored_addresses.end());
  }
  for (const uint32_t sample : rtt_us) record.add_rtt_us(sample);
  for (const auto& [name, origin] : origins) {
    if (origin.stage == OriginRules::Stage::kKnown) {
      *record.add_robots() = origin.stored;
    }
  }
  return record;
}

void HostState::CountFailure(std::string_view kind) {
  ++failures;
  last_failure = kind;
  is_dirty = true;
}

void HostState::ForgetFailures() {
  if (failures == 0) return;
  failures = 0;
  last_failure.clear();
  is_dirty = true;
}

void HostState::AddRtt(absl::Duration rtt) {
  if (rtt <= absl::ZeroDuration()) return;
  if (rtt_us.size() >= kRttSamples) rtt_us.erase(rtt_us.begin());
  rtt_us.push_back(static_cast<uint32_t>(
      std::min<int64_t>(absl::ToInt64Microseconds(rtt), UINT32_MAX)));
}

}  // namespace gannet::jobs
