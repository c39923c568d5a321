#include "sites/console/init_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "sites/config/default_yaml.h"
#include "sites/config/site_config.h"
#include "sites/console/output.h"
#include "sites/console/terminal_text.h"
#include "storage/archive/archive_name.h"

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
  const bool fits = last.size() <= 64 && !last.empty() &&
                    storage::CheckNameParts("GANNET", last).ok();
  return fits ? last : SiteSection{}.name;
}

// Never over a file that is there: O_EXCL.
absl::Status WriteNew(const std::string& path, std::string_view text) {
  const int fd = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0644);
  if (fd < 0 && errno == EEXIST) {
    return absl::AlreadyExistsError(fmt::format(
        "{} exists already, and is left as it is; edit it, or choose another "
        "folder",
        path));
  }
  const bool written = fd >= 0 &&
                       write(fd, text.data(), text.size()) ==
                           static_cast<ssize_t>(text.size()) &&
                       fsync(fd) == 0;
  const int error = errno;
  if (fd >= 0) close(fd);
  if (written) return absl::OkStatus();
  if (fd >= 0) unlink(path.c_str());
  const std::string message =
      fmt::format("cannot write {}: {}", path, strerror(error));
  return error == ENOSPC || error == EDQUOT
             ? absl::ResourceExhaustedError(message)
             : absl::FailedPreconditionError(message);
}

absl::Status WriteSiteYaml(const Flags& flags, const std::string& name,
                           const std::string& path) {
  if (name.size() > 64 || !storage::CheckNameParts("GANNET", name).ok()) {
    return absl::InvalidArgumentError(
        fmt::format("--name: found '{}', allowed are letters, digits, '_', '.' "
                    "and '-', up to 64",
                    name));
  }
  std::error_code error;
  fs::create_directories(flags.folder, error);
  if (error) {
    return absl::FailedPreconditionError(
        fmt::format("cannot make {}: {}", flags.folder, error.message()));
  }
  return WriteNew(path, DefaultSiteYaml(name));
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
  command.Value("DIR", flags->folder, "the site's data folder; made if need be",
                {.required = true});
  command.Value("--name", flags->name, "the site's name [that of the folder]",
                {.type = "NAME"});
  command.Flag("--json", flags->json, "print one JSON object");
  command.Example("gannet init ./tokyo");
  command.Run([flags] { return Init(*flags); });
}

}  // namespace gannet::sites
