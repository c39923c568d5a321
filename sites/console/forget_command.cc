#include "sites/console/forget_command.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "sites/console/names.h"
#include "sites/console/open_site.h"
#include "sites/console/output.h"
#include "sites/console/site_flags.h"
#include "sites/console/terminal_text.h"

namespace gannet::sites {
namespace {

struct Flags {
  SiteFlags site;
  std::string url;
};

ExitCode Forget(const Flags& flags) {
  absl::StatusOr<ChosenSite> site = flags.site.Site();
  if (!site.ok()) return Report(site.status());
  absl::StatusOr<storage::Url> url = CanonicalUrl(site->config, flags.url);
  if (!url.ok()) return Report(url.status());
  auto store = OpenSite(*site);
  if (!store.ok()) return Report(store.status());
  absl::Status forgotten =
      (*store)->crawl_db().Forget(storage::PageKeyOf(*url));
  if (absl::IsNotFound(forgotten)) {
    return Report(absl::FailedPreconditionError(
        fmt::format("{} is not known", url->href())));
  }
  if (!forgotten.ok()) return Report(forgotten);
  Output out;
  if (flags.site.json()) {
    out.WriteJson({{"forgotten", url->href()}});
  } else {
    out.Write(fmt::format("forgotten: {}\n", ForTerminal(url->href())));
  }
  return out.Finish();
}

}  // namespace

void AddForgetCommand(CLI::App& app, ExitCode& exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      app.add_subcommand("forget", "take a page out of the crawl DB");
  command->add_option("URL", flags->url, "the page")->required();
  flags->site.AddDataFlags(*command);
  command->footer(
      "Example:\n  gannet forget https://example.org/private --data ./tokyo\n\n"
      "A link that is found later may bring it back: 'gannet block' and\n"
      "urls.deny keep it out. The archive keeps what was fetched. Exit code 1\n"
      "if the page is not known.");
  command->callback([flags, &exit_code] { exit_code = Forget(*flags); });
}

}  // namespace gannet::sites
