#include "sites/console/inject_command.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "sites/console/injection.h"
#include "sites/console/open_site.h"
#include "sites/console/output.h"
#include "sites/console/site_flags.h"

namespace gannet::sites {
namespace {

struct Flags {
  SiteFlags site;
  std::vector<std::string> sources;
};

ExitCode Inject(const Flags& flags) {
  absl::StatusOr<ChosenSite> site = flags.site.Site();
  if (!site.ok()) return Report(site.status());
  auto store = OpenSite(*site, IfMissing::kMakeIfHasConfig);
  if (!store.ok()) return Report(store.status());
  Injection injection((*store)->crawl_db());
  absl::Status read = injection.ReadAll(site->config, flags.sources);
  if (!read.ok()) return Report(read);
  const storage::PutCounts& counts = injection.counts();
  Output out;
  if (flags.site.json()) {
    out.WriteJson({{"added", counts.added},
                   {"known", counts.known},
                   {"blocked", counts.blocked},
                   {"bad", injection.bad()}});
  } else {
    out.Write(fmt::format(
        "{} added, {} known before, {} bad{}\n", counts.added, counts.known,
        injection.bad(),
        counts.blocked == 0
            ? ""
            : fmt::format(", {} of blocked domains", counts.blocked)));
  }
  const ExitCode written = out.Finish();
  if (!injection.nothing_was_good()) return written;
  return Report(absl::FailedPreconditionError(
      counts.blocked > 0 && injection.bad() == 0
          ? "none of the seeds could be added: 'gannet block' forbids their "
            "domains ('gannet block DOMAIN --undo' allows one again)"
          : "none of the seeds could be added"));
}

}  // namespace

void AddInjectCommand(CLI::App& app, ExitCode& exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand("inject", "add seeds");
  command
      ->add_option("FILE|URL", flags->sources,
                   "URLs, and files with a URL a line; '-' is standard input")
      ->required();
  flags->site.AddDataFlags(*command);
  command->footer(
      "Example:\n  gannet inject https://example.org/ seeds.txt --data "
      "./tokyo\n\n"
      "In a file, lines that begin with # are comments. A bad line is named,\n"
      "counted and skipped; the filters of site.yaml apply. Exit code 1 if\n"
      "nothing could be added and something was bad.");
  command->callback([flags, &exit_code] { exit_code = Inject(*flags); });
}

}  // namespace gannet::sites
