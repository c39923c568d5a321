#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "sites/console/ask_site.h"
#include "sites/console/commands.h"
#include "sites/console/output.h"
#include "sites/console/terminal_text.h"
#include "sites/console/text_table.h"

namespace gannet::sites {
namespace {

struct BackupFlags {
  SiteFlags site;
  std::string to;
};

struct RestoreFlags {
  std::string backup;
  std::string data;
  bool json = false;
};

ExitCode Backup(const BackupFlags& flags) {
  admin::BackupRequest request;
  // Made absolute, because an agent has another working folder.
  request.set_to(std::filesystem::absolute(flags.to));
  return AskSite<admin::BackupRequest, admin::BackupDone>(
      flags.site, &Admin::Backup, request, [](const admin::BackupDone& done) {
        return fmt::format(
            "{} in {} files are in {}, in {}\n'gannet restore {} --data DIR' "
            "makes a site of it\n",
            BytesForPeople(static_cast<double>(done.bytes())), done.files(),
            ForTerminal(done.to()), SecondsForPeople(done.seconds()),
            ForTerminal(done.to()));
      });
}

ExitCode Restore(const RestoreFlags& flags) {
  const absl::Status restored =
      storage::RestoreBackup(flags.backup, flags.data);
  if (!restored.ok()) return Report(restored);
  if (flags.json) {
    fmt::print("{}\n", JsonText({{"restored", flags.data}}));
  } else {
    fmt::print(
        "the site is in {}, as a new incarnation; 'gannet verify --full --data "
        "{}' checks it\n",
        flags.data, flags.data);
  }
  return kDone;
}

}  // namespace

void AddBackupCommand(Command& parent) {
  auto flags = std::make_shared<BackupFlags>();
  Command& command =
      parent.Add("backup", "copy the site, even while it crawls");
  command.Value("--to", flags->to, "a folder that does not exist yet",
                {.type = "DIR", .required = true});
  flags->site.AddAskFlags(command);
  command.Example(
      "gannet backup --to /backups/tokyo-2026-01-31 --data ./tokyo",
      "On the same disk, files that never change are linked, not copied: that\n"
      "is quick and takes little room, but a broken disk takes both. So copy\n"
      "the folder to another disk, with any tool.");
  command.Run([flags] { return Backup(*flags); });
}

void AddRestoreCommand(Command& parent) {
  auto flags = std::make_shared<RestoreFlags>();
  Command& command = parent.Add("restore", "make a site from a backup");
  command.Value("BACKUP", flags->backup, "what 'gannet backup' made",
                {.required = true});
  command.Value("--data", flags->data, "a folder that is new or empty",
                {.type = "DIR", .required = true});
  command.Flag("--json", flags->json, "print JSON, for other programs");
  command.Example("gannet restore /backups/tokyo-2026-01-31 --data ./tokyo",
                  "The backup stays as it is. The site gets a new incarnation "
                  "(a number drawn\nat random), by which other sites can tell "
                  "it from the one that was lost.");
  command.Run([flags] { return Restore(*flags); });
}

}  // namespace gannet::sites
