#include <fmt/format.h>

#include <memory>
#include <string>

#include "absl/time/clock.h"
#include "sites/admin/message_times.h"
#include "sites/admin/names.h"
#include "sites/console/ask_site.h"
#include "sites/console/commands.h"
#include "sites/console/output.h"

namespace gannet::sites {
namespace {

struct Flags {
  SiteFlags site;
  std::string state, host, since;
};

void AddSelectionFlags(Flags& flags, Command& command) {
  command.Value("--state", flags.state,
                "only pages whose last outcome is this: new, fetched, moved, "
                "gone, failed, blocked",
                {.type = "S"});
  command.Value("--host", flags.host, "only pages of this host", {.type = "H"});
  command.Value("--since", flags.since,
                "only pages visited since: 2026-01-31, "
                "2026-01-31T23:59:59Z, or 24h for a day ago",
                {.type = "TIME"});
}

ExitCode Export(const Flags& flags, const std::string& kind) {
  const absl::StatusOr<ChosenSite> site = flags.site.Site();
  if (!site.ok()) return Report(site.status());
  admin::ExportRequest request;
  request.set_kind(kind);
  request.set_state(flags.state);
  request.set_host(flags.host);
  request.set_json(flags.site.json());
  if (!flags.since.empty()) {
    const auto since = ParseTime(flags.since, absl::Now());
    if (!since.ok()) return Report(since.status());
    *request.mutable_since() = ToMessage(*since);
  }
  const auto reached = ReachedSite::Reach(*site);
  if (!reached.ok()) return Report(reached.status());
  Output out;
  const absl::Status walked = (*reached)->admin().Export(
      request, [&](const admin::ExportedLines& piece) {
        return out.Write(piece.lines());
      });
  const ExitCode written = out.Finish();
  return walked.ok() ? written : ReportAnswer(walked);
}

}  // namespace

void AddExportCommand(Command& parent) {
  Command& command =
      parent.Add("export", "print the site's data as lines of text");
  const auto add = [&](const char* name, const char* what,
                       const char* example) {
    auto flags = std::make_shared<Flags>();
    Command& kind = command.Add(name, what);
    flags->site.AddAskFlags(kind);
    AddSelectionFlags(*flags, kind);
    kind.Example(
        example,
        std::string_view(name) == "text"
            ? "Without --json, line ends, tabs and backslashes in the text are "
              "escaped."
            : "The lines are the same with --json.");
    kind.Run(
        [flags, name = std::string(name)] { return Export(*flags, name); });
  };
  add("urls", "one URL per line, those of a domain together",
      "gannet export urls --state failed --data ./tokyo");
  add("fetches",
      "one page per line, with tabs between: url, state, HTTP status, time of "
      "the last visit, digest, place in the archive (file:offset:length), "
      "'noindex' if the page asks for it",
      "gannet export fetches --since 24h --data ./tokyo");
  add("links", "one link per line: from<TAB>to, as archived with the page",
      "gannet export links --host www.example.org --data ./tokyo");
  add("text",
      "one HTML page per line: url<TAB>its visible text; with --json an "
      "object (url, title, text)",
      "gannet export text --host www.example.org --data ./tokyo");
  add("cdxj", "the index of all archive files, merged and sorted",
      "gannet export cdxj --data ./tokyo > index.cdxj");
  command.Example("gannet export urls --data ./tokyo | wc -l");
}

}  // namespace gannet::sites
