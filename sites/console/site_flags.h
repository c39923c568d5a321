// SiteFlags are the flags that commands share (DESIGN, section 10), and what
// they come to: the site's configuration, first from its file, then from the
// flags. A command adds the groups that it needs. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "sites/config/site_config.h"
#include "sites/console/command.h"

namespace gannet::sites {

// The site that a command is about.
struct ChosenSite {
  SiteConfig config;  // `site.data` is never empty.
  bool has_file = false;
  std::string file;  // Where it came from, if it has one.
  // Where its agent is asked over TCP; empty: by the data folder.
  std::string admin;
};

class SiteFlags {
 public:
  // --data, --config, --json.
  void AddDataFlags(Command& command);
  // These, and --admin: for commands that ask, here or far away.
  void AddAskFlags(Command& command);
  // --quiet.
  void AddQuietFlag(Command& command);
  // --contact, --connect-to, --ca-file.
  void AddNetworkFlags(Command& command);
  // These, and --width, --per-host, --delay.
  void AddFetchFlags(Command& command);
  // --rounds, --wait, --max-pages, --max-time.
  void AddRoundFlags(Command& command, const std::string& default_wait);

  // The file is --config; or site.yaml in --data, if there is one; or
  // ./site.yaml, if there is one. kInvalidArgument or kNotFound say what is
  // wrong with file or flags.
  absl::StatusOr<ChosenSite> Site() const;

  // The first of AddFetchFlags()'s and AddNetworkFlags()'s that was given.
  std::optional<std::string> given_fetch_flag() const;

  bool json() const { return json_; }
  bool quiet() const { return quiet_; }
  // Nothing: no limit.
  std::optional<int64_t> rounds() const;
  // REQUIRES: Site() was OK.
  absl::Duration wait() const;
  // InfiniteDuration: no limit. REQUIRES: Site() was OK.
  absl::Duration max_time() const;

 private:
  absl::StatusOr<ChosenSite> FromFile() const;

  std::string data_, config_, admin_;
  bool json_ = false, quiet_ = false;
  int64_t width_ = 0, per_host_ = 0, rounds_ = 0, max_pages_ = 0;
  std::string delay_, contact_, connect_to_, ca_file_, wait_ = "0", max_time_;
};

}  // namespace gannet::sites
