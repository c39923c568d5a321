#include <fmt/format.h>

#include <memory>
#include <string>

#include "sites/console/ask_site.h"
#include "sites/console/commands.h"
#include "sites/console/terminal_text.h"
#include "sites/console/text_table.h"

namespace gannet::sites {
namespace {

struct Flags {
  SiteFlags site;
  std::string add, leave, remove, name;
  uint64_t virtual_nodes = 0, capacity = 0;
};

std::string ForPeople(const admin::FederationPlan& plan) {
  TextTable table({"site", ">channels", ">pages", ">leave it", ">pages",
                   ">bytes", ">channels then", ">pages then", ""});
  for (const admin::FederationPlan::Site& site : plan.sites()) {
    table.Add({site.name(), WithCommas(site.channels_now()),
               WithCommas(site.pages_now()), WithCommas(site.channels_out()),
               WithCommas(site.pages_out()),
               BytesForPeople(static_cast<double>(site.bytes_out())),
               WithCommas(site.channels_after()),
               WithCommas(site.pages_after()), site.error()});
  }
  return table.ToString() +
         fmt::format("{} channels with {} pages would move, some {}\n",
                     WithCommas(plan.channels()), WithCommas(plan.pages()),
                     BytesForPeople(static_cast<double>(plan.bytes())));
}

absl::StatusOr<admin::ChangeFederationRequest> ToRequest(const Flags& flags) {
  admin::ChangeFederationRequest request;
  const auto capacity = static_cast<uint32_t>(flags.capacity);
  int chosen = 0;
  if (!flags.add.empty()) {
    ++chosen;
    request.mutable_add()->set_site(flags.add);
    request.mutable_add()->set_capacity(capacity);
  }
  if (!flags.leave.empty()) {
    ++chosen;
    request.mutable_leave()->set_name(flags.leave);
  }
  if (!flags.remove.empty()) {
    ++chosen;
    request.mutable_remove()->set_name(flags.remove);
  }
  if (flags.virtual_nodes != 0) {
    ++chosen;
    request.mutable_placement()->set_virtual_nodes(
        static_cast<uint32_t>(flags.virtual_nodes));
  }
  if (capacity != 0 && flags.add.empty()) {
    ++chosen;
    request.mutable_capacity()->set_site(flags.name);
    request.mutable_capacity()->set_capacity(capacity);
  }
  if (chosen == 1) return request;
  return absl::InvalidArgumentError(
      "say what is to be planned, one of: --add NAME, --leave NAME, --remove "
      "NAME, --virtual-nodes N, --site NAME --capacity N");
}

}  // namespace

void AddFederationPlanCommand(Command& parent) {
  auto flags = std::make_shared<Flags>();
  Command& command =
      parent.Add("plan", "show what a change would move; changes nothing");
  command.Value("--add", flags->add, "a site that would join",
                {.type = "NAME"});
  command.Value("--leave", flags->leave, "a site that would leave",
                {.type = "NAME"});
  command.Value("--remove", flags->remove, "a site that would be removed",
                {.type = "NAME"});
  command.Value("--virtual-nodes", flags->virtual_nodes, "as in 'switch'",
                {.least = 1, .most = 10'000});
  command.Value("--site", flags->name, "the site whose --capacity would change",
                {.type = "NAME"});
  command.Value("--capacity", flags->capacity,
                "as in 'switch'; with --add, the new site's",
                {.least = 1, .most = 1'000});
  flags->site.AddAskFlags(command);
  command.Example("gannet federation plan --add lima --data ./tokyo",
                  "A channel is what moves as one: a domain, or a host. Every "
                  "site looks\nthrough its hosts; the bytes are an estimate.");
  command.Run([flags] {
    const auto request = ToRequest(*flags);
    if (!request.ok()) return Report(request.status());
    return AskSite<admin::ChangeFederationRequest, admin::FederationPlan>(
        flags->site, &Admin::PlanFederation, *request, ForPeople);
  });
}

}  // namespace gannet::sites
