#include "sites/console/export_command.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>

#include "absl/cleanup/cleanup.h"
#include "absl/time/clock.h"
#include "sites/console/archived_page.h"
#include "sites/console/cdxj_merge.h"
#include "sites/console/names.h"
#include "sites/console/open_site.h"
#include "sites/console/output.h"
#include "sites/console/page_selection.h"
#include "sites/console/site_flags.h"
#include "storage/archive/cdxj.h"

namespace gannet::sites {
namespace {

struct Flags {
  SiteFlags site;
  PageSelection selection;
};

// What an export prints; each is a walk that writes lines.
using Walk = absl::Status (*)(const ChosenSite& site, storage::SiteStore& store,
                              const Flags& flags, Output& out);

// URLs have no control characters (the canonical form escapes them), so a line
// is a URL and a tab ends a field.
absl::Status Urls(const ChosenSite&, storage::SiteStore& store,
                  const Flags& flags, Output& out) {
  return flags.selection.ForEach(
      store.crawl_db(), [&](std::string_view page, const proto::PageRecord&) {
        return out.Write(UrlOfPage(page) + "\n");
      });
}

absl::Status Fetches(const ChosenSite&, storage::SiteStore& store,
                     const Flags& flags, Output& out) {
  return flags.selection.ForEach(
      store.crawl_db(),
      [&](std::string_view page, const proto::PageRecord& record) {
        if (record.state() == proto::NEW) return true;
        return out.Write(fmt::format(
            "{}\t{}\t{}\t{}\t{}\t{}\n", UrlOfPage(page),
            StateName(record.state()), record.http_status(),
            record.visited_ms() == 0 ? "" : Rfc3339(record.visited_ms()),
            record.payload_digest(),
            record.has_archive()
                ? fmt::format("{}:{}:{}", record.archive().file(),
                              record.archive().offset(),
                              record.archive().length())
                : ""));
      });
}

// A page whose outlinks are gone (released file, nothing archived) has none.
absl::Status Links(const ChosenSite&, storage::SiteStore& store,
                   const Flags& flags, Output& out) {
  absl::Status problem;
  absl::Status walked = flags.selection.ForEach(
      store.crawl_db(),
      [&](std::string_view page, const proto::PageRecord& record) {
        if (!record.has_archive()) return true;
        auto links = store.archive().ReadOutlinks(PositionOf(record));
        if (absl::IsNotFound(links.status())) return true;
        if (!links.ok()) {
          problem = links.status();
          return false;
        }
        const std::string from = UrlOfPage(page);
        for (const std::string& to : *links) {
          if (!out.Write(fmt::format("{}\t{}\n", from, to))) return false;
        }
        return true;
      });
  return walked.ok() ? problem : walked;
}

// A line a page: what would end it is escaped.
std::string OnOneLine(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '\n':
        line += "\\n";
        break;
      case '\r':
        line += "\\r";
        break;
      case '\t':
        line += "\\t";
        break;
      case '\\':
        line += "\\\\";
        break;
      default:
        line += c;
    }
  }
  return line;
}

// Pages that are not HTML, or whose content is gone, have no text.
absl::Status Text(const ChosenSite&, storage::SiteStore& store,
                  const Flags& flags, Output& out) {
  absl::Status problem;
  ArchivedHtml reader;
  absl::Status walked = flags.selection.ForEach(
      store.crawl_db(),
      [&](std::string_view key, const proto::PageRecord& record) {
        auto page = ReadArchivedPage(store.archive(), record);
        if (absl::IsNotFound(page.status())) return true;
        if (!page.ok()) {
          problem = page.status();
          return false;
        }
        const auto html = reader.Html(*page);
        if (!html.has_value()) return true;
        const std::string text = reader.Text(*html);
        if (!flags.site.json()) {
          return out.Write(
              fmt::format("{}\t{}\n", UrlOfPage(key), OnOneLine(text)));
        }
        return out.WriteJson({{"url", UrlOfPage(key)},
                              {"title", reader.Title(*html).value_or("")},
                              {"text", text}});
      });
  return walked.ok() ? problem : walked;
}

absl::Status Cdxj(const ChosenSite& site, storage::SiteStore&,
                  const Flags& flags, Output& out) {
  const PageSelection& selection = flags.selection;
  if (selection.has_state()) {
    return absl::InvalidArgumentError(
        "--state does not go with cdxj: the index knows captures, not pages");
  }
  std::string prefix;
  if (!selection.host().empty()) {
    const std::string key =
        storage::CdxjKey(fmt::format("http://{}/", selection.host()));
    prefix = key.substr(0, key.find(')') + 1);
  }
  const std::string since =
      selection.since() == absl::InfinitePast()
          ? ""
          : absl::FormatTime("%Y%m%d%H%M%S", selection.since(),
                             absl::UTCTimeZone());
  std::string scratch =
      (std::filesystem::temp_directory_path() / "gannet-cdxj-XXXXXX").string();
  if (mkdtemp(scratch.data()) == nullptr) {
    return absl::FailedPreconditionError("cannot make the folder " + scratch);
  }
  absl::Cleanup remove = [&] {
    std::error_code ignored;
    std::filesystem::remove_all(scratch, ignored);
  };
  return ForEachCdxjLine(
      std::filesystem::path(site.config.site.data) / "archive", scratch,
      [&](std::string_view line) {
        if (!line.starts_with(prefix)) return true;
        const size_t space = line.find(' ');
        if (!since.empty() && (space == std::string_view::npos ||
                               line.substr(space + 1, 14) < since)) {
          return true;
        }
        return out.Write(line) && out.Write("\n");
      });
}

ExitCode Export(Flags& flags, Walk walk) {
  absl::StatusOr<ChosenSite> site = flags.site.Site();
  if (!site.ok()) return Report(site.status());
  absl::Status prepared = flags.selection.Prepare(absl::Now());
  if (!prepared.ok()) return Report(prepared);
  auto store = OpenSite(*site);
  if (!store.ok()) return Report(store.status());
  Output out;
  absl::Status walked = walk(*site, **store, flags, out);
  const ExitCode written = out.Finish();
  return walked.ok() ? written : Report(walked);
}

}  // namespace

void AddExportCommand(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command = app.add_subcommand("export", "take data out, as lines");
  command->require_subcommand(1);
  const auto add = [&](const char* name, const char* what, Walk walk,
                       const char* footer) {
    auto flags = std::make_shared<Flags>();
    CLI::App* kind = command->add_subcommand(name, what);
    flags->site.AddDataFlags(*kind);
    flags->selection.AddFlags(*kind);
    kind->footer(std::string("Example:\n  ") + footer +
                 (walk == Text ? "\n\nWithout --json, line ends, tabs and "
                                 "backslashes in the text are escaped."
                               : "\n\nThe lines are for machines already: "
                                 "--json changes nothing."));
    kind->callback(
        [flags, walk, &exit_code] { exit_code = Export(*flags, walk); });
  };
  add("urls", "one URL a line, in key order", Urls,
      "gannet export urls --state failed --data ./tokyo");
  add("fetches",
      "url, state, HTTP status, visited, digest, archive file:offset:length, "
      "between tabs",
      Fetches, "gannet export fetches --since 24h --data ./tokyo");
  add("links", "from<TAB>to, as the archive has them", Links,
      "gannet export links --host www.example.org --data ./tokyo");
  add("text",
      "url<TAB>the visible text of each HTML page; with --json an object a "
      "line "
      "(url, title, text)",
      Text, "gannet export text --host www.example.org --data ./tokyo");
  add("cdxj", "the index of all archive files, merged and sorted", Cdxj,
      "gannet export cdxj --data ./tokyo > index.cdxj");
  command->footer("Example:\n  gannet export urls --data ./tokyo | wc -l");
}

}  // namespace gannet::sites
