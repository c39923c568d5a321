#include "sites/console/page_command.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "sites/console/archived_page.h"
#include "sites/console/names.h"
#include "sites/console/open_site.h"
#include "sites/console/output.h"
#include "sites/console/site_flags.h"
#include "sites/console/terminal_text.h"
#include "storage/crawl_db/score.h"

namespace gannet::sites {
namespace {

struct Flags {
  SiteFlags site;
  std::string url;
  bool body = false;
};

nlohmann::json TimeOrNull(int64_t ms) {
  return ms == 0 ? nlohmann::json() : nlohmann::json(Rfc3339(ms));
}

absl::StatusOr<nlohmann::json> Describe(storage::SiteStore& store,
                                        const storage::Url& url,
                                        const proto::PageRecord& record) {
  nlohmann::json page = {{"url", url.href()},
                         {"state", StateName(record.state())},
                         {"place", PlaceName(record.place())},
                         {"score", storage::Score(record)},
                         {"cash", record.cash()},
                         {"history", record.history()},
                         {"depth", record.depth()},
                         {"redirects", record.redirects()},
                         {"found", TimeOrNull(record.found_ms())},
                         {"visited", TimeOrNull(record.visited_ms())},
                         {"due", TimeOrNull(record.ready_ms())},
                         {"http_status", record.http_status()},
                         {"retries", record.retries()},
                         {"etag", record.etag()},
                         {"last_modified", record.last_modified()},
                         {"digest", record.payload_digest()},
                         {"visits", record.change().visits()},
                         {"changes", record.change().changes()},
                         {"finished_reason", record.finished_reason()},
                         {"archive", nullptr},
                         {"title", nullptr}};
  if (record.place() == proto::READY) {
    const storage::PageKey key = storage::PageKeyOf(url);
    // Nothing fits between this and the key: URLs have no such bytes.
    storage::PageKey before = key;
    --before.bytes.back();
    before.bytes.push_back('\xff');
    auto open = store.crawl_db().FetchList(before, 1);
    if (!open.ok()) return open.status();
    if (!open->empty() && open->front() == key) page["place"] = "open round";
  }
  if (!record.has_archive()) return page;
  page["archive"] = {{"file", record.archive().file()},
                     {"offset", record.archive().offset()},
                     {"length", record.archive().length()}};
  absl::StatusOr<ArchivedPage> archived =
      ReadArchivedPage(store.archive(), record);
  if (!archived.ok()) {
    page["archive"]["problem"] = std::string(archived.status().message());
    return page;
  }
  page["archive"]["content_type"] = archived->content_type;
  page["archive"]["body_bytes"] = archived->body.size();
  ArchivedHtml reader;
  if (const auto html = reader.Html(*archived)) {
    if (auto title = reader.Title(*html)) page["title"] = *title;
  }
  return page;
}

// A line a key; what is empty, zero or null is left out.
std::string ForPeople(const nlohmann::json& page) {
  std::string text;
  for (const char* key :
       {"url",     "title",           "state", "http_status",   "place",
        "due",     "finished_reason", "score", "cash",          "history",
        "depth",   "redirects",       "found", "visited",       "visits",
        "changes", "retries",         "etag",  "last_modified", "digest"}) {
    const nlohmann::json& value = page[key];
    if (value.is_null() || value == "" ||
        (value == 0 && std::string_view(key) != "score" &&
         std::string_view(key) != "depth")) {
      continue;
    }
    text +=
        fmt::format("{:<16} {}\n", key,
                    value.is_string() ? ForTerminal(value.get<std::string>())
                                      : JsonText(value));
  }
  const nlohmann::json& archive = page["archive"];
  if (archive.is_null()) return text;
  text += fmt::format("{:<16} file {}, offset {}, {} bytes on disk\n",
                      "archive", archive["file"].get<uint32_t>(),
                      archive["offset"].get<uint64_t>(),
                      archive["length"].get<uint64_t>());
  if (archive.contains("problem")) {
    return text +
           fmt::format("{:<16} {}\n", "",
                       ForTerminal(archive["problem"].get<std::string>()));
  }
  return text +
         fmt::format("{:<16} {}, {} bytes\n", "content",
                     ForTerminal(archive["content_type"].get<std::string>()),
                     archive["body_bytes"].get<uint64_t>());
}

ExitCode PrintBody(storage::SiteStore& store, const proto::PageRecord& record) {
  absl::StatusOr<ArchivedPage> page = ReadArchivedPage(store.archive(), record);
  if (absl::IsNotFound(page.status())) {
    return Report(absl::FailedPreconditionError(page.status().message()));
  }
  if (!page.ok()) return Report(page.status());
  if (!page->content_encoding.empty()) {
    fmt::print(
        stderr,
        "note: the body is as the server sent it: '{}' cannot be undone\n",
        ForTerminal(page->content_encoding));
  }
  Output out;
  out.Write(page->body);
  return out.Finish();
}

ExitCode Page(const Flags& flags) {
  absl::StatusOr<ChosenSite> site = flags.site.Site();
  if (!site.ok()) return Report(site.status());
  absl::StatusOr<storage::Url> url = CanonicalUrl(site->config, flags.url);
  if (!url.ok()) return Report(url.status());
  auto store = OpenSite(*site);
  if (!store.ok()) return Report(store.status());
  absl::StatusOr<proto::PageRecord> record =
      (*store)->crawl_db().GetPage(storage::PageKeyOf(*url));
  if (absl::IsNotFound(record.status())) {
    return Report(absl::FailedPreconditionError(
        fmt::format("{} is not known; 'gannet inject' adds it, 'gannet check "
                    "url' says whether it may be",
                    url->href())));
  }
  if (!record.ok()) return Report(record.status());
  if (flags.body) return PrintBody(**store, *record);
  absl::StatusOr<nlohmann::json> page = Describe(**store, *url, *record);
  if (!page.ok()) return Report(page.status());
  Output out;
  if (flags.site.json()) {
    out.WriteJson(*page);
  } else {
    out.Write(ForPeople(*page));
  }
  return out.Finish();
}

}  // namespace

void AddPageCommand(CLI::App& app, ExitCode& exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command =
      app.add_subcommand("page", "one page: its record, its content");
  command->add_option("URL", flags->url, "the page")->required();
  command->add_flag(
      "--body", flags->body,
      "print the archived content instead, content coding undone");
  flags->site.AddDataFlags(*command);
  command->footer(
      "Example:\n  gannet page https://example.org/ --body --data ./tokyo\n\n"
      "Exit code 1 if the page is not known or has no content.");
  command->callback([flags, &exit_code] { exit_code = Page(*flags); });
}

}  // namespace gannet::sites
