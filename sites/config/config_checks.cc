#include "sites/config/config_checks.h"

#include <fmt/format.h>

#include "sites/config/quantity.h"
#include "sites/config/value_checks.h"

namespace gannet::sites {
namespace {

bool IsThere(const YAML::Node& root, const char* section, const char* key) {
  const YAML::Node node = root[section];
  return node.IsDefined() && node.IsMap() && node[key].IsDefined();
}

// The value's place in the file, or that of the file.
YAML::Mark PlaceOf(const YAML::Node& root, const char* section,
                   const char* key) {
  return IsThere(root, section, key) ? root[section][key].Mark() : root.Mark();
}

// Hosts are asked only after a first delay (jobs/fetch), so that a round that
// short would never fetch anything. Reported at whichever of the two keys the
// file has.
void CheckTimeLimit(const YAML::Node& root, const SiteConfig& config,
                    YamlProblems& problems) {
  if (config.crawl.time_limit > config.fetch.delay) return;
  const YAML::Mark at = IsThere(root, "crawl", "time_limit")
                            ? PlaceOf(root, "crawl", "time_limit")
                            : PlaceOf(root, "fetch", "delay");
  problems.Add(at, "crawl.time_limit",
               fmt::format("{} is not longer than fetch.delay ({}): no round "
                           "would fetch anything",
                           DurationText(config.crawl.time_limit),
                           DurationText(config.fetch.delay)));
}

// Otherwise anybody who can reach the port could do everything an operator can.
void CheckAdmin(const YAML::Node& root, const SiteConfig& config,
                YamlProblems& problems) {
  if (config.listen.admin.empty() || config.tls.IsComplete()) return;
  problems.Add(PlaceOf(root, "listen", "admin"), "listen.admin",
               "the admin API over TCP needs certificates: set tls.ca, "
               "tls.cert and tls.key, or leave it \"\" and use the socket in "
               "the data folder");
}

// Without certificates, anybody who can reach this port could send any URLs,
// and pass for any site.
void CheckPeers(const YAML::Node& root, const SiteConfig& config,
                YamlProblems& problems) {
  const std::string& peers = config.listen.peers;
  if (peers.empty()) return;
  const TlsSection& tls = config.tls;
  const bool no_tls = tls.ca.empty() && tls.cert.empty() && tls.key.empty();
  const YAML::Mark at = PlaceOf(root, "listen", "peers");
  if (!no_tls && !tls.IsComplete()) {
    problems.Add(at, "listen.peers",
                 "of tls.ca, tls.cert and tls.key some are set and some are "
                 "not: set all three, or none");
  } else if (no_tls && !IsLoopback(peers) &&
             !config.federation.insecure_peers) {
    problems.Add(
        at, "listen.peers",
        fmt::format("{} can be reached from other machines, and without "
                    "certificates whoever reaches it could pass for a site: "
                    "set tls.ca, tls.cert and tls.key ('gannet federation "
                    "certs' makes them), or listen on 127.0.0.1; where nobody "
                    "else is in the network, set federation.insecure_peers: "
                    "true",
                    peers));
  }
}

void CheckFederation(const YAML::Node& root, const SiteConfig& config,
                     YamlProblems& problems) {
  const FederationSection& federation = config.federation;
  const bool by_file = federation.map == MapSource::kFile;
  if (by_file && federation.file.empty()) {
    problems.Add(PlaceOf(root, "federation", "map"), "federation.map",
                 "federation.file must say where the map is");
  }
  if (!by_file && !federation.file.empty()) {
    problems.Add(PlaceOf(root, "federation", "file"), "federation.file",
                 "it is read with 'map: file' only; set that, or remove it");
  }
  if (federation.map == MapSource::kNone) return;
  if (config.listen.peers.empty()) {
    problems.Add(PlaceOf(root, "federation", "map"), "federation.map",
                 "a site of a federation is reached by the others: set "
                 "listen.peers, such as 127.0.0.1:7701");
  } else if (federation.address.empty() && IsAnyAddress(config.listen.peers)) {
    problems.Add(PlaceOf(root, "listen", "peers"), "listen.peers",
                 fmt::format("{} is every address of this machine, and others "
                             "must be told one: set federation.address, such "
                             "as tokyo.example:7701",
                             config.listen.peers));
  }
}

}  // namespace

void CheckTogether(const YAML::Node& root, const SiteConfig& config,
                   YamlProblems& problems) {
  CheckTimeLimit(root, config, problems);
  CheckAdmin(root, config, problems);
  CheckPeers(root, config, problems);
  CheckFederation(root, config, problems);
}

}  // namespace gannet::sites
