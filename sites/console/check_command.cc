#include <fmt/format.h>

#include <memory>
#include <string>

#include "sites/admin/url_check.h"
#include "sites/console/ask_site.h"
#include "sites/console/commands.h"
#include "sites/console/terminal_text.h"

namespace gannet::sites {
namespace {

struct UrlFlags {
  SiteFlags site;
  std::string url;
};

std::string ForPeople(const admin::UrlCheck& check,
                      const std::string& problem) {
  const std::string known = !check.has_known()
                                ? problem.empty()
                                      ? "no site here to ask"
                                      : "cannot say: " + ForTerminal(problem)
                            : check.known() ? "yes, " + check.state()
                                            : "no";
  return fmt::format(
      "canonical  {}\nkey        {}\ndomain     {}\nfilters    {}: {}\n"
      "known      {}\n",
      ForTerminal(check.url()), ForTerminal(check.key()),
      ForTerminal(check.domain()), check.allowed() ? "allowed" : "refused",
      check.reason(), known);
}

ExitCode CheckUrl(const UrlFlags& flags) {
  const absl::StatusOr<ChosenSite> site = flags.site.Site();
  if (!site.ok()) return Report(site.status());
  admin::UrlCheck check;
  const auto judged =
      JudgeUrl(site->config, storage::Scope(), flags.url, check);
  if (!judged.ok()) return Report(judged.status());
  // The rest needs a site; a URL can be judged without one.
  std::string problem;
  if (const auto reached = ReachedSite::Reach(*site); reached.ok()) {
    admin::CheckUrlRequest request;
    request.set_url(flags.url);
    const absl::Status asked = (*reached)->admin().CheckUrl(request, check);
    if (!asked.ok()) return ReportAnswer(asked);
  } else if (!absl::IsNotFound(reached.status())) {
    problem = std::string(reached.status().message());
  }
  return Print(
      flags.site,
      [&] {
        nlohmann::json json = MessageJson(check);
        if (!problem.empty()) json["problem"] = problem;
        return json;
      },
      [&] { return ForPeople(check, problem); });
}

}  // namespace

void AddCheckCommand(Command& parent) {
  Command& command =
      parent.Add("check", "say what would be done with a URL, and why");
  auto flags = std::make_shared<UrlFlags>();
  Command& url = command.Add(
      "url", "show canonical form, key, domain, and what the filters say");
  url.Value("URL", flags->url, "as found on a page or typed",
            {.required = true});
  flags->site.AddAskFlags(url);
  url.Example(
      "gannet check url 'HTTP://Example.ORG:80/a/../b?utm_id=1#c'",
      "Works without a site too, but cannot say then whether the page is "
      "known.");
  url.Run([flags] { return CheckUrl(*flags); });
  AddCheckRobotsCommand(command);
  AddCheckPageCommand(command);
  command.Example("gannet check url https://example.org/");
}

}  // namespace gannet::sites
