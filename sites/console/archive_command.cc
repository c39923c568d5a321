#include <fmt/format.h>

#include <filesystem>
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
  std::string file;
  std::string to;
  bool erase = false;
};

std::string ListForPeople(const admin::ArchiveFiles& reply) {
  if (reply.files().empty()) {
    return "no archive file is finished yet ('gannet archive finish' ends the "
           "one being written)\n";
  }
  TextTable table(
      {">number", "file", ">size", ">captures", "first", "last", ""});
  for (const admin::ArchiveFile& file : reply.files()) {
    table.Add({std::to_string(file.number()), file.file(),
               file.released()
                   ? "-"
                   : BytesForPeople(static_cast<double>(file.bytes())),
               WithCommas(static_cast<int64_t>(file.captures())), file.first(),
               file.last(), file.released() ? "released" : ""});
  }
  return table.ToString();
}

ExitCode List(const Flags& flags) {
  return AskSite<admin::ListArchiveRequest, admin::ArchiveFiles>(
      flags.site, &Admin::ListArchive, {}, ListForPeople,
      [](const admin::ArchiveFiles& reply) {
        return MessageJson(reply)["files"];
      });
}

ExitCode Finish(const Flags& flags) {
  return AskSite<admin::FinishArchiveFileRequest, admin::FinishedArchiveFiles>(
      flags.site, &Admin::FinishArchiveFile, {},
      [](const admin::FinishedArchiveFiles& reply) -> std::string {
        if (reply.finished().empty()) {
          return "no archive file is being written\n";
        }
        std::string text;
        for (const std::string& name : reply.finished()) {
          text += fmt::format("{} is finished, with its index\n", name);
        }
        return text;
      });
}

ExitCode Release(const Flags& flags) {
  if (flags.to.empty() != flags.erase) {
    return Report(absl::InvalidArgumentError(
        "say where it goes: --to DIR, or --delete to delete it"));
  }
  admin::ReleaseArchiveFileRequest request;
  request.set_file(flags.file);
  // Made absolute, because an agent has another working folder.
  if (!flags.erase) request.set_to(std::filesystem::absolute(flags.to));
  return AskSite<admin::ReleaseArchiveFileRequest, admin::ReleasedArchiveFile>(
      flags.site, &Admin::ReleaseArchiveFile, request,
      [&](const admin::ReleasedArchiveFile& reply) {
        return fmt::format(
            "{} {}; its index stays\n", reply.released(),
            flags.erase ? "is deleted" : "is now in " + ForTerminal(flags.to));
      },
      [&](const admin::ReleasedArchiveFile& reply) {
        nlohmann::json json = MessageJson(reply);
        json["to"] = flags.to;
        return json;
      });
}

}  // namespace

void AddArchiveCommand(Command& parent) {
  Command& command =
      parent.Add("archive", "list, finish or take away the WARC files");
  auto list_flags = std::make_shared<Flags>();
  Command& list = command.Add("list", "list finished and released files");
  list_flags->site.AddAskFlags(list);
  list.Example("gannet archive list --data ./tokyo");
  list.Run([list_flags] { return List(*list_flags); });

  auto finish_flags = std::make_shared<Flags>();
  Command& finish = command.Add("finish", "finish the file being written");
  finish_flags->site.AddAskFlags(finish);
  finish.Example(
      "gannet archive finish --data ./tokyo",
      "It gets its index and its final name, and can be released; the next\n"
      "page begins another. A crawl that ends because nothing is left does\n"
      "this by itself.");
  finish.Run([finish_flags] { return Finish(*finish_flags); });

  auto flags = std::make_shared<Flags>();
  Command& release =
      command.Add("release", "take a finished file out of the data folder");
  release.Value("FILE", flags->file, "its name or number", {.required = true});
  release.Value("--to", flags->to, "move it into this folder", {.type = "DIR"});
  release.Flag("--delete", flags->erase, "delete it instead");
  flags->site.AddAskFlags(release);
  release.Example(
      "gannet archive release 42 --to /mnt/warcs --data ./tokyo",
      "The site remembers that the file was released: 'gannet verify' does\n"
      "not report its pages as lost.");
  release.Run([flags] { return Release(*flags); });
  command.Example("gannet archive list --data ./tokyo");
}

}  // namespace gannet::sites
