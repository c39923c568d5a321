#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "sites/admin/message_times.h"
#include "sites/console/ask_site.h"
#include "sites/console/commands.h"
#include "sites/console/text_table.h"

namespace gannet::sites {
namespace {

struct Flags {
  SiteFlags site;
  std::string host;
  uint64_t top = 20;
  std::string by = "pages";
};

std::string DelayForPeople(const admin::Host& host) {
  std::string text = host.delay() == 0 ? "-" : SecondsForPeople(host.delay());
  // Stored times have whole milliseconds.
  if (host.has_crawl_delay_asked() &&
      host.crawl_delay_asked() >= host.delay() + 0.001) {
    text += fmt::format(" (robots.txt asks for {})",
                        SecondsForPeople(host.crawl_delay_asked()));
  }
  return text;
}

std::string Table(const admin::Hosts& hosts) {
  const bool any_failed = std::any_of(
      hosts.hosts().begin(), hosts.hosts().end(),
      [](const admin::Host& host) { return !host.last_failure().empty(); });
  std::vector<std::string> columns = {"host",      ">pages",      ">delay",
                                      ">failures", ">round trip", "rests until",
                                      "robots"};
  if (any_failed) columns.push_back("last failure");
  TextTable table(columns);
  for (const admin::Host& host : hosts.hosts()) {
    std::vector<std::string> row = {
        host.host(),
        WithCommas(host.pages()),
        DelayForPeople(host),
        WithCommas(host.failures()),
        host.has_rtt() ? SecondsForPeople(host.rtt()) : "-",
        TimeForPeople(host.has_rest_until()
                          ? absl::ToUnixMillis(FromMessage(host.rest_until()))
                          : 0),
        host.robots()};
    if (any_failed) row.push_back(host.last_failure());
    table.Add(row);
  }
  return table.ToString();
}

ExitCode Hosts(const Flags& flags) {
  admin::ListHostsRequest request;
  request.set_host(flags.host);
  request.set_top(static_cast<uint32_t>(flags.top));
  request.set_by(flags.by);
  return AskSite<admin::ListHostsRequest, admin::Hosts>(
      flags.site, &Admin::ListHosts, request, Table,
      [](const admin::Hosts& hosts) { return MessageJson(hosts)["hosts"]; });
}

}  // namespace

void AddHostsCommand(Command& parent) {
  auto flags = std::make_shared<Flags>();
  Command& command = parent.Add(
      "hosts", "list hosts: pages, delay, failures, back-off, robots.txt");
  command.Value("HOST", flags->host, "only this host");
  command.Value(
      "--top", flags->top, "list at most N hosts",
      {.type = "N", .show_default = true, .least = 1, .most = 10'000});
  command.Value(
      "--by", flags->by, "what to sort by; the most comes first",
      {.show_default = true, .one_of = {"pages", "failures", "rest", "slow"}});
  flags->site.AddAskFlags(command);
  command.Example(
      "gannet hosts --top 5 --by failures --data ./tokyo",
      "delay: the Crawl-delay of robots.txt, at most fetch.max_crawl_delay.\n"
      "rests until: after failures the host is not asked before that time.\n"
      "robots: 'rules' it has a robots.txt; 'none' it has none, so all is\n"
      "allowed; 'closed' it could not be read, so nothing is fetched;\n"
      "'expired' it will be asked for again; 'unknown' it was not asked for\n"
      "yet. --by rest: the latest 'rests until' first; --by slow: the longest\n"
      "round trip first.");
  command.Run([flags] { return Hosts(*flags); });
}

}  // namespace gannet::sites
