// SiteConfig is what an operator may choose: site.yaml, read and checked, a
// small struct for each of its sections (DESIGN, section 10). The words are
// those of the file, so `config.crawl.width` is `width` under `crawl`. The
// initial values are the defaults; why each is as it is stands in the file that
// DefaultSiteYaml() writes. A plain value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "federation/placement/channel.h"
#include "sites/config/schedule.h"
#include "storage/crawl_db/order.h"
#include "storage/url/canonical.h"
#include "storage/url/filter.h"
#include "storage/url/scope.h"

namespace gannet::sites {

struct Location {
  double latitude = 0;   // Degrees, north is positive.
  double longitude = 0;  // Degrees, east is positive.
  bool operator==(const Location&) const = default;
};

struct SiteSection {
  std::string name = "site";
  std::string data;  // Empty: the folder of site.yaml.
  std::optional<Location> location;
  bool operator==(const SiteSection&) const = default;
};

struct UserAgentSection {
  std::string name = "gannet";
  std::string version;  // Empty: Gannet's own.
  std::string contact;  // Empty: only loopback and test webs may be crawled.
  bool operator==(const UserAgentSection&) const = default;
};

// Addresses with ports; empty: not there.
struct ListenSection {
  std::string peers;                    // Other sites of the federation.
  std::string http = "127.0.0.1:7781";  // Dashboard and metrics.
  std::vector<std::string> http_names;  // By which it may be asked.
  std::string admin;                    // The admin API, over TLS.
  bool operator==(const ListenSection&) const = default;
};

struct CrawlSection {
  Schedule schedule;  // Of `gannet serve`.
  int64_t width = 20'000;
  int64_t per_host = 200;
  absl::Duration time_limit = absl::Minutes(30);
  std::optional<storage::Order> order;  // `nullopt` keeps the stored order.
  int64_t max_pages = 0;                // Fetched in all; 0: no limit.
  bool operator==(const CrawlSection&) const = default;
};

enum class OverQuota { kDefer, kDrop };

struct UpdateSection {
  std::optional<int64_t> new_pages;  // `nullopt`: 4 times the width.
  OverQuota over_quota = OverQuota::kDefer;
  bool operator==(const UpdateSection&) const = default;
};

struct ResolverSection {
  std::vector<std::string> servers;  // Empty: the system's.
  int64_t queries_per_second = 50;   // 0: no limit.
  bool operator==(const ResolverSection&) const = default;
};

struct FetchSection {
  absl::Duration delay = absl::Seconds(1);
  bool share_addresses = true;
  absl::Duration max_crawl_delay = absl::Seconds(30);
  int64_t connections = 500;
  uint64_t bandwidth = 0;  // Bytes a second; 0: no limit.
  bool allow_private = false;
  std::vector<std::string> allow_addresses;
  std::string connect_to;
  std::string ca_file;
  absl::Duration robots_lifetime = absl::Hours(24);
  uint64_t max_bytes = 10 << 20;
  uint64_t max_decoded_bytes = 50 << 20;
  uint64_t max_header_bytes = 64 << 10;
  absl::Duration timeout = absl::Minutes(2);
  absl::Duration first_byte_timeout = absl::Seconds(30);
  absl::Duration connect_timeout = absl::Seconds(10);
  uint64_t min_speed = 1000;  // Bytes a second; 0: no limit.
  // So long below it, and the transfer ends. Whole seconds.
  absl::Duration min_speed_time = absl::Seconds(20);
  int64_t redirects = 5;
  int64_t retries = 3;
  absl::Duration retry_delay = absl::Minutes(5);
  absl::Duration max_retry_delay = absl::Hours(24);
  bool http2 = false;
  std::string accept_language;  // Empty: the header is not sent.
  std::string proxy;
  std::string source_address;
  ResolverSection resolver;
  uint64_t memory = 256 << 20;
  bool low_priority = false;
  bool operator==(const FetchSection&) const = default;
};

enum class OtherTypes { kArchive, kSkip };

struct ParseSection {
  std::vector<std::string> follow = {"a", "area", "iframe", "frame"};
  int64_t max_links = 2000;
  OtherTypes other_types = OtherTypes::kArchive;
  bool operator==(const ParseSection&) const = default;
};

struct UrlListSection {
  std::vector<std::string> domains, hosts, prefixes, regexes;
  bool operator==(const UrlListSection&) const = default;
};

struct UrlsSection {
  // How far the crawl goes from seeds that come without a scope of their own.
  // `nullopt`: the command says (seed_scopes.h).
  std::optional<storage::ScopeRule::Kind> scope;
  int64_t max_depth = 0;  // Links from a seed; 0: no limit.
  UrlListSection allow, deny;
  int64_t max_bytes = 2048;
  int64_t max_path_depth = 32;
  int64_t max_segment_repeats = 2;
  int64_t max_query_parameters = 24;
  int64_t max_query_bytes = 1024;
  std::vector<std::string> drop_parameters =
      storage::CanonicalRules{}.query_parameters;
  int64_t max_pages_per_host = 1'000'000;  // Known ones; 0: no limit.
  bool operator==(const UrlsSection&) const = default;
};

struct ArchiveSection {
  std::string prefix = "GANNET";
  uint64_t file_size = uint64_t{1} << 30;
  uint64_t min_free = uint64_t{5} << 30;
  int64_t level = 1;
  bool operator==(const ArchiveSection&) const = default;
};

// Memory of the crawl DB. Its tables' indexes come on top, some 2 MB per
// million pages.
struct CrawlDbSection {
  uint64_t cache = 128 << 20;         // Of blocks that were read.
  uint64_t write_buffers = 96 << 20;  // Of what is not in tables yet.
  bool operator==(const CrawlDbSection&) const = default;
};

struct RecrawlSection {
  absl::Duration interval = absl::Hours(24 * 30);
  bool operator==(const RecrawlSection&) const = default;
};

enum class MapSource { kNone, kRegistrar, kFile };
enum class ExchangeMode { kUrls, kCash };

struct FederationSection {
  MapSource map = MapSource::kNone;  // None: a site for itself.
  std::string file;                  // Of MapSource::kFile.
  std::string join;                  // Any site of the federation, HOST:PORT.
  std::string address;          // Where others reach this; see PeersAddress().
  int64_t capacity = 1;         // Its share of the web, against others'.
  bool insecure_peers = false;  // Without TLS beyond loopback.
  uint64_t cache = 3 << 20;     // Of URLs lately sent.
  int64_t gain_every = 4;       // Rounds, with ExchangeMode::kCash.
  // Rules: the same in all sites.
  federation::ChannelUnit channel = federation::ChannelUnit::kDomain;
  ExchangeMode exchange = ExchangeMode::kUrls;
  bool operator==(const FederationSection&) const = default;
};

// Paths of files in PEM.
struct TlsSection {
  bool IsComplete() const {
    return !ca.empty() && !cert.empty() && !key.empty();
  }

  std::string ca, cert, key;
  bool operator==(const TlsSection&) const = default;
};

enum class LogLevel { kDebug, kInfo, kWarning, kError };
enum class LogFormat { kText, kJson };

struct LogSection {
  LogLevel level = LogLevel::kInfo;
  LogFormat format = LogFormat::kText;
  bool operator==(const LogSection&) const = default;
};

struct SiteConfig {
  SiteSection site;
  UserAgentSection user_agent;
  ListenSection listen;
  CrawlSection crawl;
  UpdateSection update;
  FetchSection fetch;
  ParseSection parse;
  UrlsSection urls;
  ArchiveSection archive;
  CrawlDbSection crawl_db;
  RecrawlSection recrawl;
  FederationSection federation;
  TlsSection tls;
  LogSection log;
  bool operator==(const SiteConfig&) const = default;

  // What update.new_pages comes to.
  int64_t NewPages() const {
    return update.new_pages.value_or(4 * crawl.width);
  }
  // Where others are told to reach this site.
  const std::string& PeersAddress() const {
    return federation.address.empty() ? listen.peers : federation.address;
  }
};

// The file of a data folder.
inline constexpr std::string_view kSiteYaml = "site.yaml";

// kInvalidArgument names all that is wrong, a line each:
//   site.yaml:7:10: crawl.width: found 'lots', allowed is a whole number ...
// kNotFound if there is no such file. Relative paths (`site.data`, `tls`,
// `federation.file`, `fetch.ca_file`) are taken from the file's folder.
absl::StatusOr<SiteConfig> LoadSiteConfig(const std::string& path);
absl::StatusOr<SiteConfig> ParseSiteConfig(std::string_view text,
                                           std::string_view file_name);

// Every key that may be written, "crawl.width".
std::vector<std::string> SiteConfigKeys();

// Every key with its value as YAML, in the order of the file.
std::vector<std::pair<std::string, std::string>> SiteConfigValues(
    const SiteConfig& config);

// What the filters and the canonical form are made of.
storage::UrlFilterRules FilterRulesOf(const SiteConfig& config);
storage::CanonicalRules CanonicalRulesOf(const SiteConfig& config);

}  // namespace gannet::sites
