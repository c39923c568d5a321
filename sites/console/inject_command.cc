#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "sites/console/ask_site.h"
#include "sites/console/commands.h"
#include "sites/console/injection.h"

namespace gannet::sites {
namespace {

struct Flags {
  SiteFlags site;
  ScopeFlags scope;
  std::vector<std::string> sources;
};

std::string ForPeople(const admin::Injected& counts) {
  return fmt::format(
      "{} added, {} known before, {} bad{}\n", counts.added(), counts.known(),
      counts.bad(),
      counts.blocked() == 0
          ? ""
          : fmt::format(", {} of blocked domains", counts.blocked()));
}

ExitCode Inject(const Flags& flags) {
  const absl::StatusOr<ChosenSite> site = flags.site.Site();
  if (!site.ok()) return Report(site.status());
  if (absl::Status s = flags.scope.Check(); !s.ok()) return Report(s);
  const auto reached = ReachedSite::Reach(*site, IfMissing::kMakeIfHasConfig);
  if (!reached.ok()) return Report(reached.status());
  Injection injection((*reached)->admin(), flags.scope);
  const absl::Status read = injection.ReadAll(flags.sources);
  if (!read.ok()) return Report(read);
  const admin::Injected& counts = injection.counts();
  const ExitCode written = Print(
      flags.site,
      [&] {
        nlohmann::json json = MessageJson(counts);
        json.erase("bad_seeds");  // Named on standard error.
        json.erase("scope");      // 'gannet scope' shows it.
        return json;
      },
      [&] { return ForPeople(counts); });
  if (!injection.nothing_was_good()) return written;
  return Report(absl::FailedPreconditionError(
      counts.blocked() > 0 && counts.bad() == 0
          ? "none of the seeds could be added: 'gannet block' forbids their "
            "domains ('gannet block DOMAIN --undo' allows one again)"
          : "none of the seeds could be added"));
}

}  // namespace

void AddInjectCommand(Command& parent) {
  auto flags = std::make_shared<Flags>();
  Command& command =
      parent.Add("inject", "add seeds: URLs where crawling begins");
  command.Value("FILE|URL", flags->sources,
                "URLs, or files with one URL per line; '-' is standard input",
                {.required = true});
  flags->scope.AddTo(command, "urls.scope, or any");
  flags->site.AddAskFlags(command);
  command.Example(
      "gannet inject https://example.org/ seeds.txt --data ./tokyo",
      "In a file, lines that begin with # are comments, and a line may say "
      "how\n"
      "far to go from its seed:\n"
      "  https://example.org/guide/   scope=prefix max-depth=3\n"
      "A bad line is named, counted and skipped; the filters of site.yaml\n"
      "apply. Exit code 1 if nothing could be added and something was bad.");
  command.Run([flags] { return Inject(*flags); });
}

}  // namespace gannet::sites
