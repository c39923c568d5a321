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

void SiteFlags::AddDataFlags(CLI::App& command) {
  command.add_option("--data", data_, "the site's data folder [.]")
      ->type_name("DIR");
  command
      .add_option("--config", config_,
                  "the site's configuration [site.yaml in the data folder]")
      ->type_name("FILE");
  command.add_flag("--json", json_, "print for machines");
}

void SiteFlags::AddQuietFlag(CLI::App& command) {
  command.add_flag("--quiet", quiet_,
                   "no progress, only errors and the result");
}

void SiteFlags::AddFetchFlags(CLI::App& command) {
  command.add_option("--width", width_, "pages of a round, at most [20000]")
      ->type_name("W")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--per-host", per_host_,
                  "pages of one host in a round, at most [200]")
      ->type_name("K")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--delay", delay_,
                  "seconds between two requests to a host [1]")
      ->type_name("SECONDS");
  AddNetworkFlags(command);
}

void SiteFlags::AddNetworkFlags(CLI::App& command) {
  command
      .add_option("--contact", contact_,
                  "how webmasters reach you; needed for the real web")
      ->type_name("URL|MAIL");
  command
      .add_option("--connect-to", connect_to_,
                  "connect there whatever the URL's host: a test web")
      ->type_name("HOST:PORT");
}

void SiteFlags::AddRoundFlags(CLI::App& command) {
  command.add_option("--rounds", rounds_, "run so many rounds, at most")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--wait", wait_,
                  "wait so long for a page to be due before it ends")
      ->type_name("TIME")
      ->capture_default_str();
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
  if (!delay_.empty()) {
    const std::optional<absl::Duration> delay = Seconds(delay_);
    if (!delay.has_value()) return BadFlag("--delay", delay_, kSecondsAllowed);
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
  if (!Seconds(wait_).has_value()) {
    return BadFlag("--wait", wait_, kSecondsAllowed);
  }
  return site;
}

std::optional<int64_t> SiteFlags::rounds() const {
  if (rounds_ == 0) return std::nullopt;
  return rounds_;
}

absl::Duration SiteFlags::wait() const {
  return Seconds(wait_).value_or(absl::Minutes(10));
}

}  // namespace gannet::sites
