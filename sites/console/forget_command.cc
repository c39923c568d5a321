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
      "A link that is found later may bring it back: 'gannet block' and\n"
      "urls.deny keep it out. The archive keeps what was fetched. Exit code 1\n"
      "if the page is not known.");
  command.Run([flags] { return Forget(*flags); });
}

}  // namespace gannet::sites
