#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/time/clock.h"
#include "jobs/fetch/outcome.h"
#include "jobs/fetch/single_fetch.h"
#include "jobs/parse/page_parser.h"
#include "sites/admin/names.h"
#include "sites/agent/round_settings.h"
#include "sites/console/ask_site.h"
#include "sites/console/commands.h"
#include "sites/console/output.h"
#include "sites/console/robots_source.h"
#include "sites/console/site_flags.h"
#include "sites/console/terminal_text.h"
#include "storage/archive/http_message.h"

namespace gannet::sites {
namespace {

struct Flags {
  SiteFlags site;
  std::string url;
};

nlohmann::json LinksJson(const jobs::ParsedPage& page) {
  const jobs::LinkCounts& counts = page.counts;
  nlohmann::json links = {{"found", counts.found},
                          {"taken", page.outlinks.size()}};
  nlohmann::json left = nlohmann::json::object();
  const auto add = [&](std::string_view why, uint32_t count) {
    if (count > 0) left[std::string(why)] = count;
  };
  add("kind_not_followed", counts.not_asked);
  add("nofollow", counts.nofollow);
  add("same_page", counts.same_page);
  add("repeated", counts.repeated);
  add("over_max_links", counts.over_max_links);
  for (size_t i = 0; i < counts.by_outcome.size(); ++i) {
    add(storage::UrlOutcomeName(static_cast<storage::UrlOutcome>(i)),
        counts.by_outcome[i]);
  }
  for (size_t i = 0; i < counts.by_verdict.size(); ++i) {
    add(storage::UrlVerdictName(static_cast<storage::UrlVerdict>(i)),
        counts.by_verdict[i]);
  }
  links["not_taken"] = left;
  return links;
}

std::string KindName(jobs::ParsedPage::Kind kind) {
  switch (kind) {
    case jobs::ParsedPage::Kind::kHtml:
      return "html";
    case jobs::ParsedPage::Kind::kOther:
      return "other";
    case jobs::ParsedPage::Kind::kTooLarge:
      return "too large when decoded";
    case jobs::ParsedPage::Kind::kBadEncoding:
      return "damaged content coding";
  }
  return "";
}

void DescribeMove(const PreparedRounds& prepared, const storage::Url& url,
                  const std::string& location, nlohmann::json& answer) {
  storage::Url target;
  const storage::UrlOutcome outcome =
      prepared.canonicaliser->Canonicalise(location, &url, target);
  if (outcome != storage::UrlOutcome::kOk) {
    answer["target_refused"] = std::string(storage::UrlOutcomeName(outcome));
    answer["target"] = location;
    return;
  }
  answer["target"] = target.href();
  const storage::UrlVerdict verdict = prepared.filter->Judge(target);
  if (verdict != storage::UrlVerdict::kAllowed) {
    answer["target_refused"] = std::string(storage::UrlVerdictName(verdict));
  }
}

void DescribeResponse(const PreparedRounds& prepared, const storage::Url& url,
                      const jobs::Response& response, nlohmann::json& answer) {
  const bool was_asked = response.failure != jobs::Failure::kNameNotFound &&
                         response.failure != jobs::Failure::kNameNoAnswer;
  if (was_asked) answer["address"] = response.address.ToString();
  answer["address_refused"] =
      response.failure == jobs::Failure::kAddressRefused;
  answer["http_status"] = response.status;
  answer["bytes"] = response.bytes;
  const jobs::Outcome outcome =
      jobs::OutcomeOf(response, /*was_conditional=*/false, absl::Now());
  answer["outcome"] = StateName(outcome.state);
  answer["reason"] = outcome.reason;
  if (outcome.state == proto::FAILED) answer["try_again"] = outcome.try_again;
  if (outcome.state == proto::MOVED) {
    return DescribeMove(prepared, url, outcome.location, answer);
  }
  if (outcome.state != proto::FETCHED) return;
  jobs::PageParser parser(prepared.settings.fetch.page.parse,
                          prepared.canonicaliser.get(), prepared.filter.get());
  const storage::HttpHead head = storage::SplitHttpResponse(response.head);
  const jobs::ParsedPage& page = parser.Parse(url, head.fields, response.body);
  answer["kind"] = KindName(page.kind);
  answer["type"] = page.media_type;
  if (page.kind == jobs::ParsedPage::Kind::kTooLarge ||
      page.kind == jobs::ParsedPage::Kind::kBadEncoding) {
    answer["outcome"] = StateName(proto::FAILED);
    answer["reason"] = KindName(page.kind);
    return;
  }
  if (page.kind != jobs::ParsedPage::Kind::kHtml) return;
  answer["charset"] = page.charset;
  answer["title"] = page.title;
  if (!page.canonical.empty()) answer["canonical"] = page.canonical;
  answer["noindex"] = page.noindex;
  answer["nofollow"] = page.nofollow;
  answer["links"] = LinksJson(page);
}

// The steps of a round, until one refuses the page.
absl::StatusOr<nlohmann::json> Check(const ChosenSite& site,
                                     const PreparedRounds& prepared,
                                     const storage::Url& url) {
  nlohmann::json answer = {{"url", url.href()},
                           {"outcome", nullptr},
                           {"reason", ""},
                           {"robots", nullptr}};
  const storage::UrlVerdict verdict = prepared.filter->Judge(url);
  if (verdict != storage::UrlVerdict::kAllowed) {
    answer["outcome"] = "refused";
    answer["reason"] = fmt::format("the filters are against it: {}",
                                   storage::UrlVerdictName(verdict));
    return answer;
  }
  // Without a site, the network is asked.
  const auto reached = ReachedSite::Reach(site);
  if (!reached.ok() && !absl::IsNotFound(reached.status())) {
    return reached.status();
  }
  if (reached.ok()) {
    admin::CheckUrlRequest request;
    request.set_url(std::string(url.href()));
    admin::UrlCheck check;
    if (absl::Status s = (*reached)->admin().CheckUrl(request, check);
        !s.ok()) {
      return s;
    }
    if (check.blocked()) {
      answer["outcome"] = "refused";
      answer["reason"] = check.reason();
      return answer;
    }
  }
  auto fetch = jobs::SingleFetch::Create(prepared.settings.fetch.fetch);
  if (!fetch.ok()) return fetch.status();
  const RobotsSource robots =
      FindRobots(url, site.config.user_agent.name,
                 reached.ok() ? &(*reached)->admin() : nullptr, **fetch);
  const jobs::RobotsRules::Verdict rule =
      robots.rules.Judge(url.path_and_query());
  answer["robots"] = {
      {"allowed", rule.allowed}, {"rule", std::string(rule.rule)},
      {"line", rule.line},       {"source", robots.source},
      {"url", robots.url},       {"http_status", robots.http_status}};
  if (!robots.problem.empty()) answer["robots"]["problem"] = robots.problem;
  if (robots.host_failed) {
    answer["outcome"] = StateName(proto::FAILED);
    answer["reason"] = robots.problem;
    return answer;
  }
  if (!rule.allowed) {
    answer["outcome"] = StateName(proto::BLOCKED);
    answer["reason"] = std::string(rule.rule);
    return answer;
  }
  DescribeResponse(prepared, url, (*fetch)->Get(url), answer);
  return answer;
}

std::string ForPeople(const nlohmann::json& answer) {
  std::string text;
  const auto line = [&](const char* key, const std::string& value) {
    if (!value.empty()) {
      text += fmt::format("{:<11} {}\n", key, ForTerminal(value));
    }
  };
  const auto field = [&](const char* key) {
    if (!answer.contains(key) || answer[key].is_null()) return;
    line(key, answer[key].is_string() ? answer[key].get<std::string>()
                                      : JsonText(answer[key]));
  };
  field("url");
  if (const nlohmann::json& robots = answer["robots"]; !robots.is_null()) {
    const std::string rule = robots["rule"];
    const int number = robots["line"];
    line("robots.txt",
         fmt::format("{}{} ({}, {})",
                     robots["allowed"] == true ? "allowed" : "forbidden",
                     rule.empty()  ? ": no rule applies to it"
                     : number == 0 ? ": " + rule
                                   : fmt::format(": line {}: {}", number, rule),
                     robots["source"].get<std::string>(),
                     robots.contains("problem")
                         ? robots["problem"].get<std::string>()
                         : fmt::format("http {}",
                                       robots["http_status"].get<uint32_t>())));
  }
  for (const char* key :
       {"address", "http_status", "bytes", "outcome", "reason", "target",
        "target_refused", "type", "charset", "title", "canonical"}) {
    field(key);
  }
  if (!answer.contains("links")) return text;
  if (answer["noindex"] == true) line("noindex", "yes");
  if (answer["nofollow"] == true) line("nofollow", "yes");
  const nlohmann::json& links = answer["links"];
  line("links", fmt::format("{} found, {} taken", links["found"].get<int>(),
                            links["taken"].get<int>()));
  for (const auto& [why, count] : links["not_taken"].items()) {
    line("", fmt::format("{} not: {}", count.get<int>(), why));
  }
  return text;
}

ExitCode CheckPage(const Flags& flags) {
  absl::StatusOr<ChosenSite> site = flags.site.Site();
  if (!site.ok()) return Report(site.status());
  absl::StatusOr<storage::Url> url = CanonicalUrl(site->config, flags.url);
  if (!url.ok()) return Report(url.status());
  absl::StatusOr<PreparedRounds> prepared = PrepareRounds(site->config);
  if (!prepared.ok()) return Report(prepared.status());
  absl::StatusOr<nlohmann::json> answer = Check(*site, *prepared, *url);
  if (!answer.ok()) return Report(answer.status());
  Output out;
  if (flags.site.json()) {
    out.WriteJson(*answer);
  } else {
    out.Write(ForPeople(*answer));
  }
  return out.Finish();
}

}  // namespace

void AddCheckPageCommand(Command& check) {
  auto flags = std::make_shared<Flags>();
  Command& command = check.Add(
      "page", "fetch one page, store nothing, and say what a round would do");
  command.Value("URL", flags->url, "the page", {.required = true});
  flags->site.AddAskFlags(command);
  flags->site.AddNetworkFlags(command);
  command.Example(
      "gannet check page https://example.org/ --contact me@example.org",
      "Exit code 0 whatever the answer is. A redirect is shown, not followed.");
  command.Run([flags] { return CheckPage(*flags); });
}

}  // namespace gannet::sites
