#include "sites/console/status_command.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "sites/console/names.h"
#include "sites/console/open_site.h"
#include "sites/console/output.h"
#include "sites/console/site_flags.h"
#include "sites/console/terminal_text.h"
#include "sites/console/text_table.h"
#include "storage/archive/archive_name.h"

namespace gannet::sites {
namespace {

// What there is to say; the keys are a contract (DESIGN, section 10).
absl::StatusOr<nlohmann::json> Look(const SiteConfig& config,
                                    storage::SiteStore& store) {
  storage::CrawlDb& db = store.crawl_db();
  const auto identity = db.identity();
  if (!identity.ok()) return identity.status();
  const auto next_due = db.NextDue();
  if (!next_due.ok()) return next_due.status();
  const auto blocked = db.Blocked();
  if (!blocked.ok()) return blocked.status();
  const storage::Totals totals = db.totals();
  const proto::RoundJournal journal = db.journal();

  nlohmann::json pages = nlohmann::json::object();
  for (size_t i = 0; i < totals.pages_by_state.size(); ++i) {
    pages[StateName(static_cast<proto::PageState>(i))] =
        totals.pages_by_state[i];
  }
  nlohmann::json outbox = nlohmann::json::object();
  for (const auto& [site, urls] : totals.outbox_urls) {
    outbox[std::to_string(static_cast<uint32_t>(site))] = urls;
  }
  int64_t files = 0;
  uint64_t bytes = 0;
  std::error_code none;
  for (const auto& file : std::filesystem::directory_iterator(
           std::filesystem::path(config.site.data) / "archive", none)) {
    const auto name =
        storage::ParseArchiveName(file.path().filename().string());
    if (!name.has_value()) continue;
    if (name->kind == storage::ArchiveName::Kind::kOpen ||
        name->kind == storage::ArchiveName::Kind::kFinished) {
      ++files;
      bytes += file.file_size(none);
    }
  }
  return nlohmann::json{
      {"site", identity->name()},
      {"epoch", identity->epoch()},
      {"round", journal.number()},
      {"phase", PhaseName(journal.phase())},
      {"pages", pages},
      {"known", totals.KnownPages()},
      {"frontier", totals.frontier_pages},
      {"scheduled", totals.scheduled_pages},
      {"in_round", totals.round_pages},
      {"finished", totals.finished_pages},
      {"deferred", totals.deferred_urls},
      {"dropped", totals.dropped_urls},
      {"outbox", outbox},
      {"next_due", next_due->has_value()
                       ? nlohmann::json(Rfc3339(absl::ToUnixMillis(**next_due)))
                       : nlohmann::json()},
      {"archive", {{"files", files}, {"bytes", bytes}}},
      {"blocked_domains", blocked->size()}};
}

std::string ForPeople(const nlohmann::json& status) {
  const auto count = [&](const char* key) {
    return WithCommas(status[key].get<int64_t>());
  };
  std::string states;
  for (const auto& [state, pages] : status["pages"].items()) {
    if (pages == 0) continue;
    states += fmt::format("{}{} {}", states.empty() ? "" : ", ",
                          WithCommas(pages.get<int64_t>()), state);
  }
  std::string outbox;
  for (const auto& [site, urls] : status["outbox"].items()) {
    outbox += fmt::format("{}{} for site {}", outbox.empty() ? "" : ", ",
                          WithCommas(urls.get<int64_t>()), site);
  }
  const std::string phase = status["phase"];
  const std::string next =
      status["next_due"].is_null() ? "nothing" : status["next_due"];
  return fmt::format(
      "site       {}\n"
      "round      {}{}\n"
      "pages      {}{}\n"
      "frontier   {} ready\n"
      "schedule   {} waiting, next: {}\n"
      "deferred   {}\n"
      "outbox     {}\n"
      "archive    {} in {} files\n"
      "blocked    {} domains\n",
      ForTerminal(status["site"].get<std::string>()), count("round"),
      phase == "none" ? ""
                      : fmt::format(", open: {}, {} pages to fetch", phase,
                                    count("in_round")),
      count("known"), states.empty() ? "" : ": " + states, count("frontier"),
      count("scheduled"), next, count("deferred"),
      outbox.empty() ? "0" : outbox,
      BytesForPeople(status["archive"]["bytes"].get<double>()),
      status["archive"]["files"].get<int64_t>(), count("blocked_domains"));
}

ExitCode Status(const SiteFlags& flags) {
  absl::StatusOr<ChosenSite> site = flags.Site();
  if (!site.ok()) return Report(site.status());
  auto store = OpenSite(*site);
  if (!store.ok()) return Report(store.status());
  absl::StatusOr<nlohmann::json> status = Look(site->config, **store);
  if (!status.ok()) return Report(status.status());
  Output out;
  if (flags.json()) {
    out.WriteJson(*status);
  } else {
    out.Write(ForPeople(*status));
  }
  return out.Finish();
}

}  // namespace

void AddStatusCommand(CLI::App& app, ExitCode& exit_code) {
  auto flags = std::make_shared<SiteFlags>();
  CLI::App* command =
      app.add_subcommand("status", "what the site knows, and what it is doing");
  flags->AddDataFlags(*command);
  command->footer("Example:\n  gannet status --data ./tokyo");
  command->callback([flags, &exit_code] { exit_code = Status(*flags); });
}

}  // namespace gannet::sites
