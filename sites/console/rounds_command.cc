#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sites/console/ask_site.h"
#include "sites/console/commands.h"
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

// Of a site in a federation: what went to others.
const nlohmann::json* Exchange(const nlohmann::json& report) {
  const auto it = report.find("exchange");
  return it == report.end() || !it->is_object() ? nullptr : &*it;
}

std::string SentCount(const nlohmann::json& report, const char* key) {
  const nlohmann::json* exchange = Exchange(report);
  return exchange == nullptr ? "" : Count(*exchange, key);
}

// Of all modes: --json has each.
std::string SentBytes(const nlohmann::json& report) {
  const nlohmann::json* exchange = Exchange(report);
  if (exchange == nullptr) return "";
  const auto modes = exchange->find("bytes");
  if (modes == exchange->end() || !modes->is_object()) return "";
  double sum = 0;
  for (const auto& [mode, bytes] : modes->items()) {
    if (bytes.is_number()) sum += bytes.get<double>();
  }
  return BytesForPeople(sum);
}

std::string Started(const nlohmann::json& report) {
  const auto it = report.find("started");
  if (it == report.end()) return "";
  if (it->is_string()) return it->get<std::string>();
  // Milliseconds, if it is a number.
  return it->is_number() ? TimeForPeople(it->get<int64_t>()) : "";
}

std::vector<nlohmann::json> Reports(const admin::RoundReports& answer) {
  std::vector<nlohmann::json> reports;
  for (const std::string& text : answer.reports()) {
    nlohmann::json report =
        nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!report.is_object()) report = nlohmann::json::object();
    reports.push_back(std::move(report));
  }
  return reports;
}

std::string Table(const std::vector<nlohmann::json>& reports) {
  const bool is_federated = std::any_of(
      reports.begin(), reports.end(),
      [](const auto& report) { return Exchange(report) != nullptr; });
  std::vector<std::string> columns = {
      ">round", "started", ">took",     ">fetched", ">unchanged",
      ">moved", ">gone",   ">failed",   ">blocked", ">released",
      ">bytes", ">known",  ">frontier", ">deferred"};
  if (is_federated) {
    columns.insert(columns.end(), {">sent", ">sent before", ">sent bytes"});
  }
  TextTable table(columns);
  for (const nlohmann::json& report : reports) {
    std::vector<std::string> row = {Count(report, "round"),
                                    Started(report),
                                    Seconds(report, "seconds"),
                                    Count(report, "fetched"),
                                    Count(report, "unchanged"),
                                    Count(report, "moved"),
                                    Count(report, "gone"),
                                    Count(report, "failed"),
                                    Count(report, "blocked"),
                                    Count(report, "released"),
                                    Bytes(report),
                                    Count(report, "known"),
                                    Count(report, "frontier"),
                                    Count(report, "deferred")};
    if (is_federated) {
      row.insert(row.end(),
                 {SentCount(report, "sent"), SentCount(report, "sent_before"),
                  SentBytes(report)});
    }
    table.Add(row);
  }
  return table.ToString();
}

// Rounds that this machine was too busy for. A moment of it is not worth a
// line.
std::string BusyNotes(const std::vector<nlohmann::json>& reports) {
  std::string text;
  for (const nlohmann::json& report : reports) {
    const auto network = report.find("network");
    if (network == report.end() || !network->is_object()) continue;
    const auto held_back = network->find("held_back_seconds");
    if (held_back == network->end() || !held_back->is_number() ||
        held_back->get<double>() < 1) {
      continue;
    }
    text += fmt::format(
        "round {}: new connections were held back for {}: this machine had no "
        "CPU time or sockets for more\n",
        Count(report, "round"), Seconds(*network, "held_back_seconds"));
  }
  return text;
}

ExitCode Rounds(const Flags& flags) {
  admin::ListRoundsRequest request;
  request.set_most(static_cast<uint32_t>(flags.most));
  return AskSite<admin::ListRoundsRequest, admin::RoundReports>(
      flags.site, &Admin::ListRounds, request,
      [](const admin::RoundReports& reply) -> std::string {
        if (reply.reports().empty()) return "no round has ended yet\n";
        const std::vector<nlohmann::json> reports = Reports(reply);
        return Table(reports) + BusyNotes(reports);
      },
      [](const admin::RoundReports& reply) -> nlohmann::json {
        return Reports(reply);
      });
}

}  // namespace

void AddRoundsCommand(Command& parent) {
  auto flags = std::make_shared<Flags>();
  Command& command =
      parent.Add("rounds", "show the reports of the last rounds");
  command.Value("N", flags->most, "how many rounds, at most",
                {.show_default = true, .least = 1, .most = 100'000});
  flags->site.AddAskFlags(command);
  command.Example("gannet rounds 5 --data ./tokyo");
  command.Run([flags] { return Rounds(*flags); });
}

}  // namespace gannet::sites
