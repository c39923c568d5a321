#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sites/admin/message_json.h"
#include "sites/agent/agent.h"
#include "sites/agent/round_settings.h"
#include "sites/agent/run_agent.h"
#include "sites/agent/service_manager.h"
#include "sites/config/value_checks.h"
#include "sites/console/commands.h"
#include "sites/console/open_site.h"
#include "sites/console/site_flags.h"
#include "sites/dashboard/dashboard.h"

namespace gannet::sites {
namespace {

struct Flags {
  SiteFlags site;
  std::string http;
};

// Is it what systemd connected to its journal? The variable alone is inherited
// by whatever a service starts (sd-daemon(3)).
bool IsJournal(int fd) {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat file = {};
  return stream != nullptr && fstat(fd, &file) == 0 &&
         fmt::format("{}:{}", file.st_dev, file.st_ino) == stream;
}

absl::StatusOr<ChosenSite> ReadSite(const Flags& flags) {
  absl::StatusOr<ChosenSite> site = flags.site.Site();
  if (!site.ok() || flags.http.empty()) return site;
  const bool off = flags.http == "off";
  if (!off && !IsListenAddress(flags.http)) {
    return absl::InvalidArgumentError("--http: found '" + flags.http +
                                      "', allowed is off, or " +
                                      kListenAddressAllowed);
  }
  site->config.listen.http = off ? "" : flags.http;
  return site;
}

// The names by which the dashboard may be asked: those of the configuration,
// and the machine's own. A stranger can choose none of them.
std::vector<std::string> DashboardNames(const SiteConfig& config) {
  std::vector<std::string> names = config.listen.http_names;
  const std::string& address = config.federation.address;
  if (!address.empty()) names.push_back(address.substr(0, address.rfind(':')));
  std::array<char, 256> own = {};
  if (gethostname(own.data(), own.size() - 1) == 0 && own[0] != '\0') {
    names.emplace_back(own.data());
  }
  return names;
}

ExitCode Serve(const Flags& flags) {
  BlockAgentSignals();
  absl::StatusOr<ChosenSite> site = ReadSite(flags);
  if (!site.ok()) return Report(site.status());
  // Checked before anything is made: a site that may not crawl leaves no
  // folder.
  if (auto prepared = PrepareRounds(site->config); !prepared.ok()) {
    return Report(prepared.status());
  }
  PrepareProcess(site->config);
  storage::Clock& clock = storage::SystemClock();
  absl::StatusOr<std::unique_ptr<storage::SiteStore>> store = nullptr;
  {
    const EndOnSignals end_on_signals;
    store = OpenSite(*site, IfMissing::kMakeIfHasConfig, clock);
  }
  if (!store.ok()) return Report(store.status());

  const ServiceManager manager = ServiceManager::FromEnvironment();
  Log log(site->config.log, STDERR_FILENO, IsJournal(STDERR_FILENO), clock);
  AgentSettings settings;
  settings.config = site->config;
  settings.config_file = site->file;
  settings.version = GANNET_VERSION;
  settings.prepare = PrepareRounds;
  settings.read_config = [&flags]() -> absl::StatusOr<SiteConfig> {
    absl::StatusOr<ChosenSite> again = ReadSite(flags);
    if (!again.ok()) return again.status();
    return again->config;
  };
  settings.serve_http = [&log, &clock, names = DashboardNames(site->config)](
                            const std::string& address, Admin& admin,
                            std::function<absl::Status()> healthy)
      -> absl::StatusOr<std::shared_ptr<void>> {
    DashboardSettings dashboard;
    dashboard.address = address;
    dashboard.names = names;
    dashboard.healthy = std::move(healthy);
    dashboard.federation = [&admin]() -> std::string {
      admin::Federation reply;
      if (!admin.GetFederation({}, reply).ok() || !reply.has_federation()) {
        return "";
      }
      return MessageJson(reply).dump(-1, ' ', false,
                                     nlohmann::json::error_handler_t::replace);
    };
    auto server = DashboardServer::Start(dashboard, admin, clock);
    if (!server.ok()) return server.status();
    // Not always the port of the configuration, which may be 0.
    log.Info("dashboard_serves",
             {{"url", "http://" + address.substr(0, address.rfind(':')) + ":" +
                          std::to_string((*server)->port()) + "/"}});
    return std::shared_ptr<void>(*std::move(server));
  };
  auto agent = Agent::Start(std::move(settings), **store, log, clock);
  if (!agent.ok()) return Report(agent.status());
  return RunAgent(*std::move(agent), *std::move(store), manager, log, clock);
}

}  // namespace

void AddServeCommand(Command& parent) {
  auto flags = std::make_shared<Flags>();
  Command& command = parent.Add("serve",
                                "run the site: rounds on schedule, admin API, "
                                "dashboard and metrics");
  flags->site.AddDataFlags(command);
  flags->site.AddFetchFlags(command);
  command.Value("--http", flags->http,
                "where to serve dashboard and metrics; 'off': nowhere "
                "[listen.http]",
                {.type = "ADDRESS:PORT"});
  command.Example(
      "gannet serve --data ./tokyo",
      "SIGTERM or Ctrl-C stops it within ten seconds, a second one at once;\n"
      "nothing is lost either way. SIGHUP makes it read site.yaml again. The\n"
      "other commands work while it runs, by asking it.");
  command.Run([flags] { return Serve(*flags); });
}

}  // namespace gannet::sites
