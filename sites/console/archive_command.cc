#include "sites/console/archive_command.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "sites/console/open_site.h"
#include "sites/console/output.h"
#include "sites/console/site_flags.h"
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

ExitCode List(const Flags& flags) {
  absl::StatusOr<ChosenSite> site = flags.site.Site();
  if (!site.ok()) return Report(site.status());
  auto store = OpenSite(*site);
  if (!store.ok()) return Report(store.status());
  auto files = (*store)->archive().List();
  if (!files.ok()) return Report(files.status());
  nlohmann::json list = nlohmann::json::array();
  TextTable table(
      {">number", "file", ">size", ">captures", "first", "last", ""});
  for (const storage::FinishedFile& file : *files) {
    list.push_back({{"number", static_cast<uint32_t>(file.number)},
                    {"file", file.name},
                    {"bytes", file.size},
                    {"captures", file.captures},
                    {"first", file.first_date},
                    {"last", file.last_date},
                    {"released", file.released}});
    table.Add(
        {std::to_string(static_cast<uint32_t>(file.number)), file.name,
         file.released ? "-" : BytesForPeople(static_cast<double>(file.size)),
         WithCommas(static_cast<int64_t>(file.captures)), file.first_date,
         file.last_date, file.released ? "released" : ""});
  }
  Output out;
  if (flags.site.json()) {
    out.WriteJson(list);
  } else if (files->empty()) {
    out.Write("no archive file is finished yet\n");
  } else {
    out.Write(table.ToString());
  }
  return out.Finish();
}

// By its name, by a path to it, or by its number.
absl::StatusOr<storage::FinishedFile> Find(storage::Archive& archive,
                                           const std::string& file) {
  auto files = archive.List();
  if (!files.ok()) return files.status();
  const std::string name = std::filesystem::path(file).filename().string();
  for (const storage::FinishedFile& known : *files) {
    if (known.name == name ||
        std::to_string(static_cast<uint32_t>(known.number)) == file) {
      return known;
    }
  }
  return absl::FailedPreconditionError(
      fmt::format("there is no finished archive file {}; 'gannet archive list' "
                  "shows them (one that is being written ends in .open)",
                  file));
}

ExitCode Release(const Flags& flags) {
  if (flags.to.empty() != flags.erase) {
    return Report(absl::InvalidArgumentError(
        "say where it goes: --to DIR, or --delete to delete it"));
  }
  std::error_code none;
  if (!flags.erase && !std::filesystem::is_directory(flags.to, none)) {
    return Report(absl::InvalidArgumentError(
        fmt::format("--to: {} is no folder", flags.to)));
  }
  absl::StatusOr<ChosenSite> site = flags.site.Site();
  if (!site.ok()) return Report(site.status());
  auto store = OpenSite(*site);
  if (!store.ok()) return Report(store.status());
  auto file = Find((*store)->archive(), flags.file);
  if (!file.ok()) return Report(file.status());
  if (file->released) {
    return Report(absl::FailedPreconditionError(
        fmt::format("{} was released before", file->name)));
  }
  absl::Status released = (*store)->archive().Release(file->number, flags.to);
  if (!released.ok()) return Report(released);
  Output out;
  if (flags.site.json()) {
    out.WriteJson({{"released", file->name}, {"to", flags.to}});
  } else {
    out.Write(fmt::format(
        "{} {}; its index stays\n", file->name,
        flags.erase ? "is deleted" : "is now in " + ForTerminal(flags.to)));
  }
  return out.Finish();
}

}  // namespace

void AddArchiveCommand(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command =
      app.add_subcommand("archive", "finished WARC files: list, take away");
  command->require_subcommand(1);
  auto list_flags = std::make_shared<Flags>();
  CLI::App* list =
      command->add_subcommand("list", "finished and released files");
  list_flags->site.AddDataFlags(*list);
  list->footer("Example:\n  gannet archive list --data ./tokyo");
  list->callback([list_flags, &exit_code] { exit_code = List(*list_flags); });

  auto flags = std::make_shared<Flags>();
  CLI::App* release = command->add_subcommand(
      "release", "take a finished file out of the data folder");
  release->add_option("FILE", flags->file, "its name or number")->required();
  release->add_option("--to", flags->to, "move it into this folder")
      ->type_name("DIR");
  release->add_flag("--delete", flags->erase, "delete it instead");
  flags->site.AddDataFlags(*release);
  release->footer(
      "Example:\n  gannet archive release 42 --to /mnt/warcs --data ./tokyo\n\n"
      "The site remembers that it was released: its pages are not lost, and\n"
      "'gannet verify' knows it.");
  release->callback([flags, &exit_code] { exit_code = Release(*flags); });
  command->footer("Example:\n  gannet archive list --data ./tokyo");
}

}  // namespace gannet::sites
