#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sites/console/ask_site.h"
#include "sites/console/commands.h"
#include "sites/console/scope_flags.h"
#include "sites/console/terminal_text.h"

namespace gannet::sites {
namespace {

using Request = admin::ChangeFederationRequest;

struct Flags {
  SiteFlags site;
  std::string name, address;
  uint64_t virtual_nodes = 0, capacity = 0;
  bool resume = false, rules = false;
  ScopeFlags scope;
  std::vector<std::string> seeds, forget;
};

std::string ForPeople(const std::string& done,
                      const admin::FederationChange& change) {
  // A map in a file: nothing has happened yet.
  if (!change.map().empty()) return change.map();
  std::string text =
      fmt::format("{}; the map is of epoch {} now\n", done, change.epoch());
  if (change.moves()) {
    text +=
        "channels move to their new owners; 'gannet federation status' shows "
        "how far that is\n";
  }
  return text;
}

absl::Status CheckScopeFlags(const Flags& flags) {
  const ScopeFlags& scope = flags.scope;
  if (absl::Status s = scope.Check(); !s.ok()) return s;
  const bool is_of_seeds =
      !scope.scope().empty() ||
      (scope.max_depth().has_value() && scope.allow().empty());
  const bool has_any = is_of_seeds || !flags.seeds.empty() ||
                       !flags.forget.empty() || !scope.allow().empty() ||
                       !scope.deny().empty();
  if (has_any && !flags.rules) {
    return absl::InvalidArgumentError("the scope is a rule: add --rules");
  }
  if (is_of_seeds && flags.seeds.empty()) {
    return absl::InvalidArgumentError(
        "--scope and --max-depth are of seeds: name them with --seed URL");
  }
  return absl::OkStatus();
}

void FillRules(const Flags& flags, Request::OwnRules& rules) {
  const std::optional<uint32_t> max_depth = flags.scope.max_depth();
  for (const std::string& url : flags.seeds) {
    Request::Seed& seed = *rules.add_seeds();
    seed.set_url(url);
    seed.set_scope(flags.scope.scope());
    if (max_depth.has_value()) seed.set_max_depth(*max_depth);
  }
  for (const std::string& name : flags.scope.allow()) rules.add_allow(name);
  for (const std::string& name : flags.scope.deny()) rules.add_deny(name);
  for (const std::string& name : flags.forget) rules.add_forget(name);
  if (max_depth.has_value()) rules.set_max_depth(*max_depth);
}

ExitCode Change(const SiteFlags& site, const Request& request,
                const std::string& done) {
  return AskSite<Request, admin::FederationChange>(
      site, &Admin::ChangeFederation, request,
      [&](const admin::FederationChange& change) {
        if (!change.map().empty()) {
          fmt::print(stderr,
                     "note: this federation's map is a file; put what follows "
                     "in its place, at every site\n");
        }
        return ForPeople(done, change);
      });
}

// A change that is told by the name of a site.
void AddNamed(Command& parent, const std::string& name,
              Request::Site* (Request::*site)(), const std::string& help,
              bool needs_name, const std::string& done, const std::string& line,
              const std::string& more) {
  auto flags = std::make_shared<Flags>();
  Command& command = parent.Add(name, help);
  command.Value("NAME", flags->name,
                needs_name ? "the name of the site" : "the site [this one]",
                {.required = needs_name});
  flags->site.AddAskFlags(command);
  command.Example(line, more);
  command.Run([flags, site, done] {
    Request request;
    (request.*site)()->set_name(flags->name);
    return Change(flags->site, request,
                  flags->name.empty()
                      ? "this site " + done
                      : "'" + ForTerminal(flags->name) + "' " + done);
  });
}

void AddJoin(Command& parent) {
  auto flags = std::make_shared<Flags>();
  Command& command =
      parent.Add("join", "ask now to be let into the federation");
  command.Value("ADDRESS", flags->address,
                "a site of the federation [federation.join]",
                {.type = "HOST:PORT"});
  flags->site.AddAskFlags(command);
  command.Example(
      "gannet federation join --data ./zurich",
      "A site whose configuration names its federation asks by itself; this\n"
      "asks at once and says what the answer was. The site must have been\n"
      "invited: 'gannet federation invite NAME' at any site. Where the map\n"
      "(which sites there are, and who owns what) is a file, this prints the\n"
      "next one, with this site in it, or the first one if there is none.");
  command.Run([flags] {
    Request request;
    request.mutable_join()->set_address(flags->address);
    return Change(flags->site, request, "this site is in the federation");
  });
}

void AddPause(Command& parent) {
  auto flags = std::make_shared<Flags>();
  Command& command =
      parent.Add("pause", "let no site begin another round, until --resume");
  command.Flag("--resume", flags->resume, "go on");
  flags->site.AddAskFlags(command);
  command.Example("gannet federation pause --data ./tokyo",
                  "Rounds that run end first. Sites still send each "
                  "other URLs and pages.");
  command.Run([flags] {
    Request request;
    request.set_paused(!flags->resume);
    return Change(flags->site, request,
                  flags->resume ? "all sites go on" : "all sites pause");
  });
}

void AddAdopt(Command& parent) {
  auto flags = std::make_shared<Flags>();
  Command& command =
      parent.Add("adopt", "make this site the registrar, who keeps the map");
  flags->site.AddAskFlags(command);
  command.Example("gannet federation adopt --data ./zurich",
                  "The map says which sites there are, and who owns what. "
                  "Adopt the role when the\nregistrar is gone or is to leave. "
                  "Changes of the map that no other site has\nheard of are "
                  "lost; nothing else is.");
  command.Run([flags] {
    Request request;
    request.mutable_adopt();
    return Change(flags->site, request, "this site is the registrar");
  });
}

void AddSwitch(Command& parent) {
  auto flags = std::make_shared<Flags>();
  Command& command =
      parent.Add("switch", "change which site owns what, or the common rules");
  command.Value("--virtual-nodes", flags->virtual_nodes,
                "how many points on the hash ring a site has per unit of "
                "capacity",
                {.least = 1, .most = 10'000});
  command.Value("--site", flags->name, "the site whose --capacity is changed",
                {.type = "NAME"});
  command.Value("--capacity", flags->capacity,
                "the site's share of the web, against the others'",
                {.least = 1, .most = 1'000});
  command.Flag("--rules", flags->rules,
               "make this site's rules (urls, federation.exchange) the rules "
               "of all sites");
  flags->scope.AddTo(command, "any");
  command.Value("--seed", flags->seeds,
                "with --rules: the seed whose --scope and --max-depth are "
                "changed",
                {.type = "URL"});
  command.Value("--forget", flags->forget,
                "with --rules: end the rule of this seed, or of this name",
                {.type = "URL|DOMAIN"});
  flags->site.AddAskFlags(command);
  command.Example(
      "gannet federation switch --site zurich --capacity 2 --data ./tokyo",
      "'gannet federation plan' with the same flags shows first what would\n"
      "move.\n"
      "How far all sites go is changed from one place, and at once:\n"
      "  gannet federation switch --rules --seed https://example.org/ --scope\n"
      "    domain --allow cdn.example.net --data ./tokyo\n"
      "To change the other rules: change site.yaml at one site, restart it, "
      "and\n"
      "give --rules there; then the same at the others, which begin no round\n"
      "until theirs are the same.");
  command.Run([flags] {
    Request request;
    if (absl::Status s = CheckScopeFlags(*flags); !s.ok()) return Report(s);
    const int asked = int{flags->capacity != 0} +
                      int{flags->virtual_nodes != 0} + int{flags->rules};
    if (asked != 1) {
      return Report(absl::InvalidArgumentError(
          "give one of --virtual-nodes, --capacity and --rules"));
    }
    if (flags->rules) {
      FillRules(*flags, *request.mutable_rules());
    } else if (flags->capacity != 0) {
      request.mutable_capacity()->set_site(flags->name);
      request.mutable_capacity()->set_capacity(
          static_cast<uint32_t>(flags->capacity));
    } else {
      request.mutable_placement()->set_virtual_nodes(
          static_cast<uint32_t>(flags->virtual_nodes));
    }
    return Change(flags->site, request, "switched");
  });
}

}  // namespace

void AddFederationChangeCommands(Command& parent) {
  AddNamed(
      parent, "invite", &Request::mutable_invite,
      "let a site of that name join", true, "may join",
      "gannet federation invite zurich --data ./tokyo",
      "Start the new site with federation.join in its site.yaml; it joins\n"
      "by itself.");
  AddJoin(parent);
  AddNamed(
      parent, "leave", &Request::mutable_leave,
      "hand over everything, and leave", false, "is leaving",
      "gannet federation leave --data ./zurich",
      "Let it run until 'gannet federation status' no longer lists it: it\n"
      "hands over its pages and its outbox. Its archive stays where it is.");
  AddNamed(
      parent, "remove", &Request::mutable_remove,
      "take a dead site out of the federation", true, "is removed",
      "gannet federation remove lima --data ./tokyo",
      "What only that site knew is missing until it comes back: invite it\n"
      "again then, and it hands that over. For a site that still runs, use\n"
      "'gannet federation leave'.");
  AddPause(parent);
  AddSwitch(parent);
  AddAdopt(parent);
}

}  // namespace gannet::sites
