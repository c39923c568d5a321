#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "sites/config/default_yaml.h"
#include "sites/config/site_config.h"
#include "sites/config/value_checks.h"
#include "sites/console/commands.h"
#include "sites/console/new_file.h"
#include "sites/console/output.h"
#include "sites/console/terminal_text.h"

namespace gannet::sites {
namespace {

namespace fs = std::filesystem;

struct Flags {
  std::string folder;
  std::string name;
  bool json = false;
};

// The folder's name, if it can be a site's.
std::string NameFor(const Flags& flags) {
  if (!flags.name.empty()) return flags.name;
  const std::string last =
      fs::absolute(flags.folder).lexically_normal().filename().string();
  return IsSiteName(last) ? last : SiteSection{}.name;
}

absl::Status WriteSiteYaml(const Flags& flags, const std::string& name,
                           const std::string& path) {
  if (!IsSiteName(name)) {
    return absl::InvalidArgumentError(fmt::format(
        "--name: found '{}', allowed is {}", name, kSiteNameAllowed));
  }
  std::error_code error;
  fs::create_directories(flags.folder, error);
  if (error) {
    return absl::FailedPreconditionError(
        fmt::format("cannot make {}: {}", flags.folder, error.message()));
  }
  const absl::Status written = WriteNewFile(path, DefaultSiteYaml(name));
  if (!absl::IsAlreadyExists(written)) return written;
  return absl::AlreadyExistsError(std::string(written.message()) +
                                  "; edit it, or choose another folder");
}

ExitCode Init(const Flags& flags) {
  const std::string path = (fs::path(flags.folder) / kSiteYaml).string();
  const std::string name = NameFor(flags);
  absl::Status status = WriteSiteYaml(flags, name, path);
  if (!status.ok()) return Report(status);
  Output out;
  if (flags.json) {
    out.WriteJson({{"file", path}, {"site", name}});
  } else {
    const std::string folder = ForTerminal(flags.folder);
    out.Write(
        fmt::format("wrote {}: set user_agent.contact in it, then\n"
                    "  gannet inject https://example.org/ --data {}\n"
                    "  gannet round --data {}\n",
                    ForTerminal(path), folder, folder));
  }
  return out.Finish();
}

}  // namespace

void AddInitCommand(Command& parent) {
  auto flags = std::make_shared<Flags>();
  Command& command =
      parent.Add("init", "write a commented site.yaml into a folder");
  command.Value("DIR", flags->folder,
                "the site's data folder; made if it is missing",
                {.required = true});
  command.Value("--name", flags->name, "the site's name [the folder's name]",
                {.type = "NAME"});
  command.Flag("--json", flags->json, "print one JSON object");
  command.Example("gannet init ./tokyo");
  command.Run([flags] { return Init(*flags); });
}

}  // namespace gannet::sites
