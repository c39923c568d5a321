// LocalAdmin's verbs about hosts.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "jobs/fetch/failure.h"
#include "jobs/fetch/host_state.h"
#include "jobs/fetch/robots_answer.h"
#include "sites/admin/local_admin.h"
#include "sites/admin/message_times.h"
#include "sites/admin/names.h"
#include "sites/admin/utf8.h"

namespace gannet::sites {
namespace {

constexpr uint32_t kUsualTop = 20;
constexpr uint32_t kMostTop = 10'000;  // What an answer has room for.

// Sentinel values are below this (storage/crawl_db/rests.h): the rest is over,
// and the next round wakes the host.
constexpr int64_t kLeastRealMs = 3;

struct HostRow {
  std::string key;
  int64_t pages = 0;
  proto::HostRecord record;
};

// The median in microseconds; 0 if it was never measured.
uint32_t MedianRtt(const proto::HostRecord& record) {
  std::vector<uint32_t> samples(record.rtt_us().begin(), record.rtt_us().end());
  if (samples.empty()) return 0;
  const auto middle = samples.begin() + samples.size() / 2;
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

int64_t Rank(int64_t pages, const proto::HostRecord& record,
             const std::string& by) {
  if (by == "failures") return record.failures();
  if (by == "rest") return record.rest_until_ms();
  if (by == "slow") return MedianRtt(record);
  return pages;
}

absl::StatusOr<HostRow> ReadRow(storage::CrawlDb& db, std::string key) {
  HostRow row;
  auto record = db.records().GetHost({key});
  if (!record.ok()) return record.status();
  auto pages = db.records().HostPages({key});
  if (!pages.ok()) return pages.status();
  row.key = std::move(key);
  row.record = *std::move(record);
  row.pages = *pages;
  return row;
}

// The keys of the first `top`, greatest first; of equals the first in key
// order. Keeps no more than that in memory: a record may hold 500 KB of
// robots.txt.
absl::StatusOr<std::vector<std::string>> TopHosts(storage::CrawlDb& db,
                                                  size_t top,
                                                  const std::string& by) {
  using Ranked = std::pair<int64_t, std::string>;
  const auto before = [](const Ranked& a, const Ranked& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  };
  std::priority_queue<Ranked, std::vector<Ranked>, decltype(before)> best(
      before);
  absl::Status status =
      db.records().ScanHosts({}, [&](std::string_view host, int64_t pages,
                                     const proto::HostRecord& record) {
        best.emplace(Rank(pages, record, by), host);
        if (best.size() > top) best.pop();
        return true;
      });
  if (!status.ok()) return status;
  std::vector<std::string> keys;
  for (; !best.empty(); best.pop()) keys.push_back(best.top().second);
  std::reverse(keys.begin(), keys.end());
  return keys;
}

absl::StatusOr<std::string> OneHost(storage::CrawlDb& db,
                                    const std::string& text) {
  absl::StatusOr<std::string> host = CanonicalHost(text);
  if (!host.ok()) return host.status();
  std::string key = KeyOfHost(*host).bytes;
  const absl::StatusOr<HostRow> row = ReadRow(db, key);
  if (!row.ok()) return row.status();
  if (row->pages == 0 && row->record.version() == 0) {
    return absl::NotFoundError(fmt::format("no page of {} is known", *host));
  }
  return key;
}

// Of its origins, the one asked last counts most for a reader.
std::string RobotsState(const proto::HostRecord& record, int64_t now_ms) {
  if (record.robots().empty()) return "unknown";
  const proto::RobotsRules* last = &record.robots(0);
  for (const proto::RobotsRules& rules : record.robots()) {
    if (rules.expires_ms() > last->expires_ms()) last = &rules;
  }
  if (last->expires_ms() <= now_ms) return "expired";
  const uint32_t status = last->http_status();
  if (status >= 200 && status < 300) return "rules";
  return status >= 400 && status < 500 ? "none" : "closed";
}

// The most that a robots.txt of the host asks for, in seconds; nothing if none
// asks. The delay kept is that, cut at fetch.max_crawl_delay.
std::optional<double> DelayAsked(const proto::HostRecord& record,
                                 const std::string& agent) {
  std::optional<double> most;
  for (const proto::RobotsRules& stored : record.robots()) {
    const auto asked = jobs::RulesFromStored(stored, agent).crawl_delay();
    if (!asked.has_value()) continue;
    most = std::max(most.value_or(0), absl::ToDoubleSeconds(*asked));
  }
  return most;
}

void Describe(const HostRow& row, const std::string& agent, int64_t now_ms,
              admin::Host& host) {
  host.set_host(HostOfKey(row.key));
  host.set_pages(row.pages);
  host.set_delay(static_cast<double>(row.record.delay_ms()) / 1000);
  if (const auto asked = DelayAsked(row.record, agent)) {
    host.set_crawl_delay_asked(*asked);
  }
  host.set_failures(row.record.failures());
  if (row.record.failures() > 0) {
    // The record may come from another site with a newer version.
    host.set_last_failure(
        std::string(jobs::WordsOfKind(row.record.last_failure()).value_or("")));
    host.set_last_failure_kind(row.record.last_failure());
  }
  if (row.record.rest_until_ms() >= kLeastRealMs) {
    *host.mutable_rest_until() = TimestampOfMs(row.record.rest_until_ms());
  }
  host.set_robots(RobotsState(row.record, now_ms));
  for (const proto::RobotsRules& rules : row.record.robots()) {
    admin::RobotsOrigin& origin = *host.add_origins();
    origin.set_origin(Utf8(rules.origin()));
    origin.set_http_status(rules.http_status());
    origin.set_bytes(rules.text().size());
    *origin.mutable_expires() = TimestampOfMs(rules.expires_ms());
  }
  if (const uint32_t rtt = MedianRtt(row.record); rtt > 0) {
    host.set_rtt(rtt / 1e6);
  }
}

}  // namespace

absl::Status LocalAdmin::ListHosts(const admin::ListHostsRequest& request,
                                   admin::Hosts& reply) {
  const std::string by = request.by().empty() ? "pages" : request.by();
  if (by != "pages" && by != "failures" && by != "rest" && by != "slow") {
    return absl::InvalidArgumentError(fmt::format(
        "by: found '{}', allowed is pages, failures, rest or slow", by));
  }
  const uint32_t top =
      request.top() == 0 ? kUsualTop : std::min(request.top(), kMostTop);
  absl::StatusOr<std::vector<std::string>> keys = std::vector<std::string>();
  if (request.host().empty()) {
    keys = TopHosts(db(), top, by);
    if (!keys.ok()) return keys.status();
  } else {
    absl::StatusOr<std::string> key = OneHost(db(), request.host());
    if (!key.ok()) return key.status();
    keys->push_back(*std::move(key));
  }
  const int64_t now_ms = absl::ToUnixMillis(clock_.Now());
  const std::string agent = config()->user_agent.name;
  for (std::string& key : *keys) {
    const absl::StatusOr<HostRow> row = ReadRow(db(), std::move(key));
    if (!row.ok()) return row.status();
    Describe(*row, agent, now_ms, *reply.add_hosts());
  }
  return absl::OkStatus();
}

absl::Status LocalAdmin::GetRobots(const admin::GetRobotsRequest& request,
                                   admin::StoredRobots& reply) {
  absl::StatusOr<storage::Url> url = CanonicalUrl(*config(), request.url());
  if (!url.ok()) return url.status();
  const storage::PageKey page = storage::PageKeyOf(*url);
  const auto record = db().records().GetHost(
      storage::HostKey{std::string(storage::HostPartOf(page.bytes))});
  if (!record.ok()) return record.status();
  for (const proto::RobotsRules& stored : record->robots()) {
    if (stored.origin() != jobs::OriginOf(*url) ||
        stored.expires_ms() <= storage::ToMillis(clock_.Now())) {
      continue;
    }
    reply.set_origin(stored.origin());
    reply.set_text(stored.text());
    reply.set_http_status(stored.http_status());
    *reply.mutable_expires() = TimestampOfMs(stored.expires_ms());
    return absl::OkStatus();
  }
  return absl::NotFoundError(fmt::format(
      "the site has no fresh robots.txt of {}", jobs::OriginOf(*url)));
}

}  // namespace gannet::sites
