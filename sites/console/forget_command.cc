#include <fmt/format.h>

#include <memory>
#include <string>

#include "sites/console/ask_site.h"
#include "sites/console/commands.h"
#include "sites/console/terminal_text.h"

namespace gannet::sites {
namespace {

struct Flags {
  SiteFlags site;
  std::string url;
};

ExitCode Forget(const Flags& flags) {
  admin::ForgetRequest request;
  request.set_url(flags.url);
  return AskSite<admin::ForgetRequest, admin::Forgotten>(
      flags.site, &Admin::Forget, request, [](const admin::Forgotten& reply) {
        return fmt::format("forgotten: {}\n", ForTerminal(reply.forgotten()));
      });
}

}  // namespace

void AddForgetCommand(Command& parent) {
  auto flags = std::make_shared<Flags>();
  Command& command = parent.Add("forget", "take a page out of the crawl DB");
  command.Value("URL", flags->url, "the page", {.required = true});
  flags->site.AddAskFlags(command);
  command.Example(
      "gannet forget https://example.org/private --data ./tokyo",
      "A link that is found later brings it back, unless 'gannet block' or\n"
      "urls.deny keeps it out. The archive keeps what was fetched. Exit code\n"
      "1 if the page is not known.");
  command.Run([flags] { return Forget(*flags); });
}

}  // namespace gannet::sites
