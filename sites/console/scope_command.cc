#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "sites/console/ask_site.h"
#include "sites/console/commands.h"
#include "sites/console/terminal_text.h"

namespace gannet::sites {
namespace {

struct Flags {
  SiteFlags site;
  std::vector<std::string> allow, deny, forget;
};

std::string ForPeople(const admin::ScopeRules& scope) {
  std::string text = fmt::format("{}\n", ForTerminal(scope.words()));
  if (scope.is_of_federation()) {
    text += "a rule of the federation's map, the same for all sites\n";
  }
  for (const admin::ScopeRules::Rule& rule : scope.rules()) {
    text += fmt::format(
        "{:<7} {}{}\n", rule.kind(),
        rule.name().empty() ? "(seeds without a scope)"
                            : ForTerminal(rule.name()),
        rule.has_max_depth()
            ? fmt::format(", at most {} links away", rule.max_depth())
            : "");
  }
  if (scope.all_rules() > scope.rules_size()) {
    text += fmt::format("... and {} more\n",
                        scope.all_rules() - scope.rules_size());
  }
  return text;
}

}  // namespace

void AddScopeCommand(Command& parent) {
  auto flags = std::make_shared<Flags>();
  Command& command =
      parent.Add("scope", "show how far the crawl goes, and change it");
  command.Value("--allow", flags->allow,
                "also crawl this host or domain, and all names below it",
                {.type = "DOMAIN"});
  command.Value("--deny", flags->deny, "never crawl this one",
                {.type = "DOMAIN"});
  command.Value("--forget", flags->forget,
                "end the rule of this seed, or of this name",
                {.type = "URL|DOMAIN"});
  flags->site.AddAskFlags(command);
  command.Example(
      "gannet scope --allow cdn.example.net --data ./example",
      "Seeds bring the rules: 'gannet crawl' and 'gannet inject' have --scope\n"
      "and --max-depth, and give a seed another rule when it is named again.\n"
      "Pages that are known and no longer in scope are not fetched.");
  command.Run([flags] {
    admin::ScopeRequest request;
    request.mutable_allow()->Add(flags->allow.begin(), flags->allow.end());
    request.mutable_deny()->Add(flags->deny.begin(), flags->deny.end());
    request.mutable_forget()->Add(flags->forget.begin(), flags->forget.end());
    return AskSite<admin::ScopeRequest, admin::ScopeRules>(
        flags->site, &Admin::ChangeScope, request, ForPeople);
  });
}

}  // namespace gannet::sites
