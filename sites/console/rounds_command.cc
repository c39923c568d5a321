#include "sites/console/rounds_command.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sites/console/open_site.h"
#include "sites/console/output.h"
#include "sites/console/site_flags.h"
#include "sites/console/text_table.h"

namespace gannet::sites {
namespace {

struct Flags {
  SiteFlags site;
  uint64_t most = 10;
};

// Reports of older versions may lack a key; then its cell is empty.
std::string Count(const nlohmann::json& report, const char* key) {
  const auto it = report.find(key);
  if (it == report.end() || !it->is_number()) return "";
  return WithCommas(it->get<int64_t>());
}

std::string Seconds(const nlohmann::json& report, const char* key) {
  const auto it = report.find(key);
  if (it == report.end() || !it->is_number()) return "";
  return SecondsForPeople(it->get<double>());
}

std::string Bytes(const nlohmann::json& report) {
  const auto it = report.find("bytes");
  if (it == report.end() || !it->is_number()) return "";
  return BytesForPeople(it->get<double>());
}

std::string Started(const nlohmann::json& report) {
  const auto it = report.find("started");
  if (it == report.end()) return "";
  if (it->is_string()) return it->get<std::string>();
  // Milliseconds, if it is a number.
  return it->is_number() ? TimeForPeople(it->get<int64_t>()) : "";
}

// Oldest first. What is not JSON any more is shown as its number alone.
absl::StatusOr<std::vector<nlohmann::json>> Reports(storage::CrawlDb& db,
                                                    uint64_t most) {
  const uint64_t last = db.journal().number();
  std::vector<nlohmann::json> reports;
  for (uint64_t n = last > most ? last - most : 1; n <= last; ++n) {
    absl::StatusOr<std::string> text = db.Report(n);
    if (absl::IsNotFound(text.status())) continue;  // The open round.
    if (!text.ok()) return text.status();
    nlohmann::json report =
        nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
    if (!report.is_object()) report = nlohmann::json::object();
    if (!report.contains("round")) report["round"] = n;
    reports.push_back(std::move(report));
  }
  if (reports.size() > most) {
    reports.erase(reports.begin(), reports.end() - most);
  }
  return reports;
}

std::string Table(const std::vector<nlohmann::json>& reports) {
  TextTable table({">round", "started", ">took", ">fetched", ">unchanged",
                   ">moved", ">gone", ">failed", ">blocked", ">released",
                   ">bytes", ">known", ">frontier", ">deferred"});
  for (const nlohmann::json& report : reports) {
    table.Add({Count(report, "round"), Started(report),
               Seconds(report, "seconds"), Count(report, "fetched"),
               Count(report, "unchanged"), Count(report, "moved"),
               Count(report, "gone"), Count(report, "failed"),
               Count(report, "blocked"), Count(report, "released"),
               Bytes(report), Count(report, "known"), Count(report, "frontier"),
               Count(report, "deferred")});
  }
  return table.ToString();
}

ExitCode Rounds(const Flags& flags) {
  absl::StatusOr<ChosenSite> site = flags.site.Site();
  if (!site.ok()) return Report(site.status());
  auto store = OpenSite(*site);
  if (!store.ok()) return Report(store.status());
  auto reports = Reports((*store)->crawl_db(), flags.most);
  if (!reports.ok()) return Report(reports.status());
  Output out;
  if (flags.site.json()) {
    out.WriteJson(nlohmann::json(*reports));
  } else if (reports->empty()) {
    out.Write("no round has ended yet\n");
  } else {
    out.Write(Table(*reports));
  }
  return out.Finish();
}

}  // namespace

void AddRoundsCommand(CLI::App& app, ExitCode& exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      app.add_subcommand("rounds", "the reports of the last rounds");
  command->add_option("N", flags->most, "so many, at most")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000}))
      ->capture_default_str();
  flags->site.AddDataFlags(*command);
  command->footer("Example:\n  gannet rounds 5 --data ./tokyo");
  command->callback([flags, &exit_code] { exit_code = Rounds(*flags); });
}

}  // namespace gannet::sites
