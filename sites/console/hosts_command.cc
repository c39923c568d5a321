#include "sites/console/hosts_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <queue>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "sites/console/names.h"
#include "sites/console/open_site.h"
#include "sites/console/output.h"
#include "sites/console/site_flags.h"
#include "sites/console/text_table.h"

namespace gannet::sites {
namespace {

struct Flags {
  SiteFlags site;
  std::string host;
  size_t top = 20;
  std::string by = "pages";
};

struct HostRow {
  std::string key;
  int64_t pages = 0;
  proto::HostRecord record;
};

// Times below this are not times (storage/crawl_db/store.h): the rest is over,
// and the next round wakes the host.
constexpr int64_t kLeastRealMs = 3;

int64_t Rank(const HostRow& row, const std::string& by) {
  if (by == "failures") return row.record.failures();
  if (by == "rest") return row.record.rest_until_ms();
  return row.pages;
}

// The first `top`, greatest first; of equals the first in key order. Keeps no
// more than that in memory.
absl::StatusOr<std::vector<HostRow>> TopHosts(storage::CrawlDb& db, size_t top,
                                              const std::string& by) {
  const auto before = [&](const HostRow& a, const HostRow& b) {
    const int64_t ra = Rank(a, by), rb = Rank(b, by);
    return ra != rb ? ra > rb : a.key < b.key;
  };
  std::priority_queue<HostRow, std::vector<HostRow>, decltype(before)> best(
      before);
  absl::Status status =
      db.ScanHosts({}, [&](std::string_view host, int64_t pages,
                           const proto::HostRecord& record) {
        best.push({std::string(host), pages, record});
        if (best.size() > top) best.pop();
        return true;
      });
  if (!status.ok()) return status;
  std::vector<HostRow> rows;
  for (; !best.empty(); best.pop()) rows.push_back(best.top());
  std::reverse(rows.begin(), rows.end());
  return rows;
}

absl::StatusOr<std::vector<HostRow>> OneHost(storage::CrawlDb& db,
                                             const std::string& text) {
  absl::StatusOr<std::string> host = CanonicalHost(text);
  if (!host.ok()) return host.status();
  HostRow row;
  row.key = KeyOfHost(*host).bytes;
  auto record = db.GetHost({row.key});
  if (!record.ok()) return record.status();
  auto pages = db.HostPages({row.key});
  if (!pages.ok()) return pages.status();
  if (*pages == 0 && record->version() == 0) {
    return absl::FailedPreconditionError(
        fmt::format("no page of {} is known", *host));
  }
  row.record = *record;
  row.pages = *pages;
  return std::vector<HostRow>{row};
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

nlohmann::json ForMachines(const HostRow& row, int64_t now_ms) {
  nlohmann::json origins = nlohmann::json::array();
  for (const proto::RobotsRules& rules : row.record.robots()) {
    origins.push_back({{"origin", rules.origin()},
                       {"http_status", rules.http_status()},
                       {"bytes", rules.text().size()},
                       {"expires", Rfc3339(rules.expires_ms())}});
  }
  const int64_t rest = row.record.rest_until_ms();
  return {{"host", HostOfKey(row.key)},
          {"pages", row.pages},
          {"delay", static_cast<double>(row.record.delay_ms()) / 1000},
          {"failures", row.record.failures()},
          {"rest_until", rest >= kLeastRealMs ? nlohmann::json(Rfc3339(rest))
                                              : nlohmann::json()},
          {"robots", RobotsState(row.record, now_ms)},
          {"origins", origins}};
}

std::string Table(const std::vector<HostRow>& rows, int64_t now_ms) {
  TextTable table(
      {"host", ">pages", ">delay", ">failures", "rests until", "robots"});
  for (const HostRow& row : rows) {
    const int64_t rest = row.record.rest_until_ms();
    table.Add({HostOfKey(row.key), WithCommas(row.pages),
               row.record.delay_ms() == 0
                   ? "-"
                   : SecondsForPeople(
                         static_cast<double>(row.record.delay_ms()) / 1000),
               WithCommas(row.record.failures()),
               TimeForPeople(rest >= kLeastRealMs ? rest : 0),
               RobotsState(row.record, now_ms)});
  }
  return table.ToString();
}

ExitCode Hosts(const Flags& flags) {
  absl::StatusOr<ChosenSite> site = flags.site.Site();
  if (!site.ok()) return Report(site.status());
  auto store = OpenSite(*site);
  if (!store.ok()) return Report(store.status());
  storage::CrawlDb& db = (*store)->crawl_db();
  auto rows = flags.host.empty() ? TopHosts(db, flags.top, flags.by)
                                 : OneHost(db, flags.host);
  if (!rows.ok()) return Report(rows.status());
  const int64_t now_ms = absl::ToUnixMillis(absl::Now());
  Output out;
  if (flags.site.json()) {
    nlohmann::json list = nlohmann::json::array();
    for (const HostRow& row : *rows) list.push_back(ForMachines(row, now_ms));
    out.WriteJson(list);
  } else {
    out.Write(Table(*rows, now_ms));
  }
  return out.Finish();
}

}  // namespace

void AddHostsCommand(CLI::App& app, ExitCode& exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand(
      "hosts", "which hosts: pages, delay, failures, rest, robots.txt");
  command->add_option("HOST", flags->host, "only this one");
  command->add_option("--top", flags->top, "the first so many")
      ->type_name("N")
      ->check(CLI::Range(size_t{1}, size_t{10'000'000}))
      ->capture_default_str();
  command->add_option("--by", flags->by, "what comes first")
      ->check(CLI::IsMember({"pages", "failures", "rest"}))
      ->capture_default_str();
  flags->site.AddDataFlags(*command);
  command->footer(
      "Example:\n  gannet hosts --top 5 --by failures --data ./tokyo\n\n"
      "robots: 'rules' it has a robots.txt; 'none' it has none, all is "
      "allowed;\n"
      "'closed' it could not be read, nothing is fetched; 'expired' it is "
      "asked\n"
      "again; 'unknown' it was not asked yet.");
  command->callback([flags, &exit_code] { exit_code = Hosts(*flags); });
}

}  // namespace gannet::sites
