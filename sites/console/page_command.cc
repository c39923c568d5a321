#include <fmt/format.h>

#include <memory>
#include <string>

#include "sites/console/ask_site.h"
#include "sites/console/commands.h"
#include "sites/console/output.h"
#include "sites/console/terminal_text.h"

namespace gannet::sites {
namespace {

struct Flags {
  SiteFlags site;
  std::string url;
  bool body = false;
  bool links = false;
};

// A line a key; what is empty, zero, false or null is left out.
std::string ForPeople(const admin::Page& message) {
  const nlohmann::json page = MessageJson(message);
  std::string text;
  for (const char* key :
       {"url",     "title",           "state", "http_status",   "place",
        "due",     "finished_reason", "score", "cash",          "history",
        "depth",   "redirects",       "found", "visited",       "visits",
        "changes", "retries",         "etag",  "last_modified", "digest",
        "noindex", "canonical"}) {
    const nlohmann::json& value = page[key];
    if (value.is_null() || value == "" || value == false ||
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
  if (!archive["problem"].is_null()) {
    return text +
           fmt::format("{:<16} {}\n", "",
                       ForTerminal(archive["problem"].get<std::string>()));
  }
  return text +
         fmt::format("{:<16} {}, {} bytes\n", "content",
                     ForTerminal(archive["content_type"].get<std::string>()),
                     archive["body_bytes"].get<uint64_t>());
}

ExitCode PrintBody(const Flags& flags, const admin::GetPageRequest& request) {
  const absl::StatusOr<ChosenSite> site = flags.site.Site();
  if (!site.ok()) return Report(site.status());
  const auto reached = ReachedSite::Reach(*site);
  if (!reached.ok()) return Report(reached.status());
  Output out;
  const absl::Status asked = (*reached)->admin().GetPageBody(
      request, [&](const admin::PageBody& piece) {
        if (!piece.content_encoding().empty()) {
          fmt::print(stderr,
                     "note: the body is as the server sent it: '{}' cannot be "
                     "undone\n",
                     ForTerminal(piece.content_encoding()));
        }
        return out.Write(piece.bytes());
      });
  const ExitCode written = out.Finish();
  return asked.ok() ? written : ReportAnswer(asked);
}

ExitCode Page(const Flags& flags) {
  admin::GetPageRequest request;
  request.set_url(flags.url);
  request.set_links(flags.links);
  if (flags.body) return PrintBody(flags, request);
  return AskSite<admin::GetPageRequest, admin::Page>(
      flags.site, &Admin::GetPage, request, [&](const admin::Page& page) {
        std::string text = ForPeople(page);
        for (const std::string& link : page.outlinks()) {
          text += fmt::format("{:<16} {}\n", "links to", ForTerminal(link));
        }
        return text;
      });
}

}  // namespace

void AddPageCommand(Command& parent) {
  auto flags = std::make_shared<Flags>();
  Command& command =
      parent.Add("page", "show one page: its record, or its content");
  command.Value("URL", flags->url, "the page", {.required = true});
  command.Flag("--body", flags->body,
               "print the archived content instead, decompressed");
  command.Flag("--links", flags->links, "with the pages that it links to");
  flags->site.AddAskFlags(command);
  command.Example("gannet page https://example.org/ --body --data ./tokyo",
                  "Exit code 1 if the page is not known or has no content.");
  command.Run([flags] { return Page(*flags); });
}

}  // namespace gannet::sites
