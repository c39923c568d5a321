#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "jobs/fetch/robots.h"
#include "jobs/fetch/single_fetch.h"
#include "sites/admin/names.h"
#include "sites/agent/round_settings.h"
#include "sites/console/ask_site.h"
#include "sites/console/commands.h"
#include "sites/console/output.h"
#include "sites/console/robots_source.h"
#include "sites/console/site_flags.h"
#include "sites/console/terminal_text.h"

namespace gannet::sites {
namespace {

struct Flags {
  SiteFlags site;
  std::string url;
  std::string file;
  std::string agent;
};

absl::StatusOr<std::string> ReadRobots(const std::string& file) {
  std::ostringstream text;
  std::error_code none;
  if (file == "-") {
    text << std::cin.rdbuf();
    return text.str();
  }
  std::ifstream in(file);
  if (!in || std::filesystem::is_directory(file, none)) {
    return absl::InvalidArgumentError(
        fmt::format("--file: {} cannot be read", file));
  }
  text << in.rdbuf();
  return text.str();
}

absl::StatusOr<RobotsSource> Find(const Flags& flags, const ChosenSite& site,
                                  const storage::Url& url,
                                  const std::string& agent) {
  if (!flags.file.empty()) {
    absl::StatusOr<std::string> text = ReadRobots(flags.file);
    if (!text.ok()) return text.status();
    return RobotsSource{jobs::RobotsRules::Parse(*text, agent), "file",
                        flags.file, 200, ""};
  }
  absl::StatusOr<PreparedRounds> prepared = PrepareRounds(site.config);
  if (!prepared.ok()) return prepared.status();
  auto fetch = jobs::SingleFetch::Create(prepared->settings.fetch.fetch);
  if (!fetch.ok()) return fetch.status();
  // Without a site, the network is asked.
  const auto reached = ReachedSite::Reach(site);
  if (!reached.ok() && !absl::IsNotFound(reached.status())) {
    return reached.status();
  }
  return FindRobots(url, agent, reached.ok() ? &(*reached)->admin() : nullptr,
                    **fetch);
}

ExitCode CheckRobots(const Flags& flags) {
  absl::StatusOr<ChosenSite> site = flags.site.Site();
  if (!site.ok()) return Report(site.status());
  absl::StatusOr<storage::Url> url = CanonicalUrl(site->config, flags.url);
  if (!url.ok()) return Report(url.status());
  const std::string agent =
      flags.agent.empty() ? site->config.user_agent.name : flags.agent;
  absl::StatusOr<RobotsSource> found = Find(flags, *site, *url, agent);
  if (!found.ok()) return Report(found.status());

  const jobs::RobotsRules& rules = found->rules;
  const jobs::RobotsRules::Verdict verdict = rules.Judge(url->path_and_query());
  const bool speaks = !verdict.rule.empty();
  Output out;
  if (flags.site.json()) {
    nlohmann::json answer = {{"url", url->href()},
                             {"agent", agent},
                             {"allowed", verdict.allowed},
                             {"rule", nullptr},
                             {"line", nullptr},
                             {"crawl_delay", nullptr},
                             {"source", found->source},
                             {"robots_url", found->url},
                             {"http_status", found->http_status}};
    if (speaks) answer["rule"] = std::string(verdict.rule);
    if (verdict.line > 0) answer["line"] = verdict.line;
    if (rules.crawl_delay().has_value()) {
      answer["crawl_delay"] = absl::ToDoubleSeconds(*rules.crawl_delay());
    }
    if (!found->problem.empty()) answer["problem"] = found->problem;
    out.WriteJson(answer);
    return out.Finish();
  }
  out.Write(fmt::format(
      "{}: {}\n", verdict.allowed ? "allowed" : "forbidden",
      !speaks ? "no rule applies to it"
      : verdict.line > 0
          ? fmt::format("line {}: {}", verdict.line, ForTerminal(verdict.rule))
          : ForTerminal(verdict.rule)));
  if (rules.crawl_delay().has_value()) {
    out.Write(fmt::format("crawl-delay: {} s\n",
                          absl::ToDoubleSeconds(*rules.crawl_delay())));
  }
  if (flags.file.empty()) {
    out.Write(fmt::format(
        "robots.txt: {} ({}), {}\n", ForTerminal(found->url), found->source,
        found->problem.empty() ? fmt::format("http {}", found->http_status)
                               : ForTerminal(found->problem)));
  }
  return out.Finish();
}

}  // namespace

void AddCheckRobotsCommand(Command& check) {
  auto flags = std::make_shared<Flags>();
  Command& command = check.Add(
      "robots", "say whether a robots.txt lets a crawler fetch the URL");
  command.Value("URL", flags->url, "the page", {.required = true});
  command.Value("--file", flags->file,
                "the robots.txt; '-' is standard input [the host's own: the "
                "stored one until it expires, then from the network]",
                {.type = "F"});
  command.Value("--agent", flags->agent,
                "the crawler's name [user_agent.name of the site]",
                {.type = "A"});
  flags->site.AddAskFlags(command);
  flags->site.AddNetworkFlags(command);
  command.Example(
      "gannet check robots https://example.org/a --file robots.txt "
      "--agent gannet",
      "Exit code 0 whatever the answer is.");
  command.Run([flags] { return CheckRobots(*flags); });
}

}  // namespace gannet::sites
