#include "sites/console/site_flags.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "sites/config/quantity.h"
#include "sites/config/value_checks.h"

namespace gannet::sites {
namespace {

namespace fs = std::filesystem;

// On the command line a plain number is seconds: the flag says so.
std::optional<absl::Duration> Seconds(const std::string& text) {
  const bool plain = text.find_first_not_of("0123456789.") == std::string::npos;
  return ParseDuration(plain ? text + "s" : text);
}

absl::Status BadFlag(std::string_view flag, std::string_view found,
                     std::string_view allowed) {
  return absl::InvalidArgumentError(
      fmt::format("{}: found '{}', allowed is {}", flag, found, allowed));
}

constexpr char kSecondsAllowed[] =
    "seconds or a duration, such as 0.5, 500ms or 30m";

}  // namespace

void SiteFlags::AddDataFlags(Command& command) {
  command.Value("--data", data_, "the site's data folder [.]", {.type = "DIR"});
  command.Value("--config", config_,
                "the site's configuration [site.yaml in the data folder]",
                {.type = "FILE"});
  command.Flag("--json", json_, "print JSON, for other programs");
}

void SiteFlags::AddAskFlags(Command& command) {
  AddDataFlags(command);
  command.Value("--admin", admin_,
                "ask the agent (a running 'gannet serve') at this address, "
                "with the certificate that tls in the configuration names",
                {.type = "HOST:PORT"});
}

void SiteFlags::AddQuietFlag(Command& command) {
  command.Flag("--quiet", quiet_,
               "print no progress, only errors and the result");
}

void SiteFlags::AddFetchFlags(Command& command) {
  command.Value("--width", width_, "fetch at most W pages in a round [20000]",
                {.type = "W", .positive = true});
  command.Value("--per-host", per_host_,
                "fetch at most K pages of one host in a round [200]",
                {.type = "K", .positive = true});
  command.Value("--delay", delay_, "seconds between two requests to a host [1]",
                {.type = "SECONDS"});
  AddNetworkFlags(command);
}

void SiteFlags::AddNetworkFlags(Command& command) {
  command.Value("--contact", contact_,
                "how webmasters reach you; needed for the real web",
                {.type = "URL|MAIL"});
  command.Value("--connect-to", connect_to_,
                "connect every fetch to this address instead of the URL's "
                "host, to crawl a test web; the second port is for https",
                {.type = "HOST:PORT[,PORT]"});
  command.Value("--ca-file", ca_file_,
                "for https, trust the authorities in this file (PEM) instead "
                "of the system's",
                {.type = "FILE"});
}

void SiteFlags::AddRoundFlags(Command& command,
                              const std::string& default_wait) {
  wait_ = default_wait;
  command.Value("--rounds", rounds_, "run at most N rounds",
                {.type = "N", .positive = true});
  command.Value("--wait", wait_,
                "when no page is ready, end unless one becomes ready within "
                "this time",
                {.type = "TIME", .show_default = true});
  command.Value("--max-pages", max_pages_,
                "end when N pages have been fetched, of this and earlier runs",
                {.type = "N", .positive = true});
  command.Value("--max-time", max_time_,
                "end after this time; the same command goes on",
                {.type = "TIME"});
}

absl::StatusOr<ChosenSite> SiteFlags::FromFile() const {
  ChosenSite site;
  std::string file = config_;
  if (file.empty()) {
    file = (fs::path(data_) / kSiteYaml).string();
    std::error_code none;
    if (!fs::exists(file, none)) {
      site.config.site.data = data_.empty() ? "." : data_;
      return site;
    }
  }
  absl::StatusOr<SiteConfig> config = LoadSiteConfig(file);
  if (!config.ok()) return config.status();
  site.has_file = true;
  site.file = file;
  site.config = *std::move(config);
  if (data_.empty()) return site;
  // A folder's own file may say that the data is elsewhere: then which is
  // meant?
  std::error_code none;
  if (config_.empty() && fs::weakly_canonical(site.config.site.data, none) !=
                             fs::weakly_canonical(data_, none)) {
    return absl::InvalidArgumentError(
        fmt::format("--data names {0}, but {1} says that the data is in {2}; "
                    "use --config {1}",
                    data_, file, site.config.site.data));
  }
  site.config.site.data = data_;
  return site;
}

absl::StatusOr<ChosenSite> SiteFlags::Site() const {
  absl::StatusOr<ChosenSite> site = FromFile();
  if (!site.ok()) return site;
  SiteConfig& config = site->config;
  if (width_ != 0) config.crawl.width = width_;
  if (per_host_ != 0) config.crawl.per_host = per_host_;
  if (max_pages_ != 0) config.crawl.max_pages = max_pages_;
  if (!delay_.empty()) {
    const std::optional<absl::Duration> delay = Seconds(delay_);
    if (!delay.has_value()) return BadFlag("--delay", delay_, kSecondsAllowed);
    if (*delay >= config.crawl.time_limit) {
      return BadFlag("--delay", delay_,
                     "less than crawl.time_limit: a longer one lets no round "
                     "fetch anything");
    }
    config.fetch.delay = *delay;
  }
  if (!contact_.empty()) {
    if (!IsContact(contact_)) {
      return BadFlag("--contact", contact_, kContactAllowed);
    }
    config.user_agent.contact = contact_;
  }
  if (!connect_to_.empty()) {
    if (!IsConnectTo(connect_to_)) {
      return BadFlag("--connect-to", connect_to_, kConnectToAllowed);
    }
    config.fetch.connect_to = connect_to_;
  }
  if (!ca_file_.empty()) config.fetch.ca_file = ca_file_;
  if (!admin_.empty()) {
    if (!IsHostPort(admin_)) {
      return BadFlag("--admin", admin_,
                     "a host and a port, tokyo.example:7782");
    }
    const TlsSection& tls = config.tls;
    if (tls.ca.empty() || tls.cert.empty() || tls.key.empty()) {
      return absl::InvalidArgumentError(
          "--admin needs an administrator's certificate: name its files in the "
          "configuration (--config FILE), as in 'tls: {ca: ca.pem, cert: "
          "alice.pem, key: alice.key}'");
    }
    site->admin = admin_;
  }
  if (!Seconds(wait_).has_value()) {
    return BadFlag("--wait", wait_, kSecondsAllowed);
  }
  if (max_time() <= absl::ZeroDuration()) {
    return BadFlag("--max-time", max_time_, kSecondsAllowed);
  }
  return site;
}

std::optional<int64_t> SiteFlags::rounds() const {
  if (rounds_ == 0) return std::nullopt;
  return rounds_;
}

absl::Duration SiteFlags::wait() const {
  return Seconds(wait_).value_or(absl::ZeroDuration());
}

absl::Duration SiteFlags::max_time() const {
  if (max_time_.empty()) return absl::InfiniteDuration();
  return Seconds(max_time_).value_or(absl::ZeroDuration());
}

std::optional<std::string> SiteFlags::given_fetch_flag() const {
  if (width_ != 0) return "--width";
  if (per_host_ != 0) return "--per-host";
  if (max_pages_ != 0) return "--max-pages";
  if (!max_time_.empty()) return "--max-time";
  if (!delay_.empty()) return "--delay";
  if (!contact_.empty()) return "--contact";
  if (!connect_to_.empty()) return "--connect-to";
  if (!ca_file_.empty()) return "--ca-file";
  return std::nullopt;
}

}  // namespace gannet::sites
