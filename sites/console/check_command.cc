#include "sites/console/check_command.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "sites/console/check_page_command.h"
#include "sites/console/check_robots_command.h"
#include "sites/console/names.h"
#include "sites/console/open_site.h"
#include "sites/console/output.h"
#include "sites/console/site_flags.h"
#include "sites/console/terminal_text.h"
#include "storage/url/domain.h"
#include "storage/url/filter.h"
#include "storage/url/surt.h"

namespace gannet::sites {
namespace {

struct UrlFlags {
  SiteFlags site;
  std::string url;
};

// What a person should know of a verdict.
std::string Explain(storage::UrlVerdict verdict, const UrlsSection& urls) {
  using storage::UrlVerdict;
  switch (verdict) {
    case UrlVerdict::kAllowed:
      return "no filter is against it";
    case UrlVerdict::kScheme:
      return "its scheme is not crawled";
    case UrlVerdict::kTooLong:
      return fmt::format("longer than urls.max_bytes ({})", urls.max_bytes);
    case UrlVerdict::kTooDeep:
      return fmt::format("deeper than urls.max_path_depth ({})",
                         urls.max_path_depth);
    case UrlVerdict::kRepeatedSegments:
      return fmt::format(
          "its path repeats itself more than "
          "urls.max_segment_repeats ({})",
          urls.max_segment_repeats);
    case UrlVerdict::kTooManyParameters:
      return fmt::format("more than urls.max_query_parameters ({})",
                         urls.max_query_parameters);
    case UrlVerdict::kQueryTooLong:
      return fmt::format("its query is longer than urls.max_query_bytes ({})",
                         urls.max_query_bytes);
    case UrlVerdict::kDeniedDomain:
      return "urls.deny.domains has it";
    case UrlVerdict::kDeniedHost:
      return "urls.deny.hosts has it";
    case UrlVerdict::kDeniedPrefix:
      return "urls.deny.prefixes has it";
    case UrlVerdict::kDeniedRegex:
      return "urls.deny.regexes has it";
    case UrlVerdict::kNotAllowed:
      return "there are lists in urls.allow, and it is on none";
  }
  return "";
}

ExitCode CheckUrl(const UrlFlags& flags) {
  absl::StatusOr<ChosenSite> site = flags.site.Site();
  if (!site.ok()) return Report(site.status());
  absl::StatusOr<storage::Url> url = CanonicalUrl(site->config, flags.url);
  if (!url.ok()) return Report(url.status());
  const auto filter = storage::UrlFilter::Create(FilterRulesOf(site->config));
  if (!filter.ok()) return Report(filter.status());
  const storage::UrlVerdict verdict = (*filter)->Judge(*url);
  const storage::PageKey key = storage::PageKeyOf(*url);

  nlohmann::json answer = {
      {"url", url->href()},
      {"key", storage::SurtKey(*url)},
      {"host", std::string(url->host())},
      {"domain", std::string(storage::RegistrableDomain(url->host()))},
      {"allowed", verdict == storage::UrlVerdict::kAllowed},
      {"verdict", std::string(storage::UrlVerdictName(verdict))},
      {"reason", Explain(verdict, site->config.urls)},
      {"known", nullptr},
      {"blocked", nullptr},
      {"state", nullptr}};
  // The rest needs a site; a URL can be judged without one.
  auto store = OpenSite(*site);
  if (store.ok()) {
    storage::CrawlDb& db = (*store)->crawl_db();
    const bool blocked = db.IsBlocked(key);
    answer["blocked"] = blocked;
    if (blocked) {
      answer["allowed"] = false;
      answer["verdict"] = "blocked_by_operator";
      answer["reason"] = "'gannet block' forbids its domain";
    }
    const absl::StatusOr<proto::PageRecord> record = db.GetPage(key);
    if (!record.ok() && !absl::IsNotFound(record.status())) {
      return Report(record.status());
    }
    answer["known"] = record.ok();
    if (record.ok()) answer["state"] = StateName(record->state());
  } else if (!absl::IsNotFound(store.status())) {
    answer["problem"] = std::string(store.status().message());
  }

  Output out;
  if (flags.site.json()) {
    out.WriteJson(answer);
    return out.Finish();
  }
  const auto text = [&](const char* field) {
    return ForTerminal(answer[field].get<std::string>());
  };
  out.Write(fmt::format(
      "canonical  {}\nkey        {}\ndomain     {}\nfilters    {}: {}\n"
      "known      {}\n",
      text("url"), text("key"), text("domain"),
      answer["allowed"] == true ? "allowed" : "refused", text("reason"),
      answer["known"].is_null()  ? answer.contains("problem")
                                       ? "cannot say: " + text("problem")
                                       : "no site here to ask"
      : answer["known"] == false ? "no"
                                 : "yes, " + text("state")));
  return out.Finish();
}

}  // namespace

void AddCheckCommand(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command =
      app.add_subcommand("check", "what would be done, and why");
  command->require_subcommand(1);
  auto flags = std::make_shared<UrlFlags>();
  CLI::App* url = command->add_subcommand(
      "url", "canonical form, key, domain, and what the filters say");
  url->add_option("URL", flags->url, "as found on a page or typed")->required();
  flags->site.AddDataFlags(*url);
  url->footer(
      "Example:\n  gannet check url "
      "'HTTP://Example.ORG:80/a/../b?utm_id=1#c'\n\n"
      "Works without a site; then it is not said whether the page is known.");
  url->callback([flags, &exit_code] { exit_code = CheckUrl(*flags); });
  AddCheckRobotsCommand(*command, exit_code);
  AddCheckPageCommand(*command, exit_code);
  command->footer("Example:\n  gannet check url https://example.org/");
}

}  // namespace gannet::sites
