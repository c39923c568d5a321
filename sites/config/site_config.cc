// The schema: a function for each section, which asks for its keys.
#include "sites/config/site_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sites/config/config_checks.h"
#include "sites/config/value_checks.h"
#include "sites/config/yaml_section.h"
#include "storage/archive/archive_name.h"

namespace gannet::sites {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 60;
constexpr int64_t kMostPages = 1'000'000'000;

void Read(YamlSection section, SiteSection& site) {
  section.Text("name", site.name, kSiteNameAllowed, IsSiteName);
  section.Text("data", site.data, "a folder's path, or \"\"",
               [](const std::string&) { return true; });
  std::optional<std::pair<double, double>> location;
  if (site.location.has_value()) {
    location.emplace(site.location->latitude, site.location->longitude);
  }
  section.Pair("location", location,
               "[latitude, longitude] in degrees, such as [35.7, 139.7]");
  if (location.has_value()) {
    site.location = Location{location->first, location->second};
  }
  section.End();
}

void Read(YamlSection section, UserAgentSection& agent) {
  section.Text("name", agent.name, kAgentNameAllowed, IsAgentName);
  section.Text("version", agent.version,
               "letters, digits and punctuation without blanks, or \"\"",
               [](const std::string& v) { return v.empty() || IsToken(v); });
  section.Text("contact", agent.contact, kContactAllowed,
               [](const std::string& c) { return c.empty() || IsContact(c); });
  section.End();
}

void Read(YamlSection section, ListenSection& listen) {
  const auto is_right = [](const std::string& text) {
    return text.empty() || IsListenAddress(text);
  };
  section.Text("peers", listen.peers, kListenAddressAllowed, is_right);
  section.Text("http", listen.http, kListenAddressAllowed, is_right);
  section.List("http_names", listen.http_names, kHostNameAllowed, IsHostName);
  section.Text("admin", listen.admin, kListenAddressAllowed, is_right);
  section.End();
}

void Read(YamlSection section, CrawlSection& crawl) {
  std::string schedule = crawl.schedule.ToText();
  section.Text("schedule", schedule, kScheduleAllowed,
               [](const std::string& text) {
                 return Schedule::Parse(text).has_value();
               });
  crawl.schedule = Schedule::Parse(schedule).value_or(crawl.schedule);
  section.Number("width", crawl.width, 1, 100'000'000);
  section.Number("per_host", crawl.per_host, 1, 100'000'000);
  section.Duration("time_limit", crawl.time_limit, absl::Seconds(1),
                   absl::Hours(24 * 365));
  section.Choice("order", crawl.order,
                 {{"auto", std::nullopt},
                  {"opic", storage::Order::kOpic},
                  {"breadth-first", storage::Order::kBreadthFirst},
                  {"random", storage::Order::kRandom}});
  section.Number("max_pages", crawl.max_pages, 0, int64_t{1} << 40);
  section.End();
}

void Read(YamlSection section, UpdateSection& update) {
  section.Number("new_pages", update.new_pages, 1, kMostPages);
  section.Choice("over_quota", update.over_quota,
                 {{"defer", OverQuota::kDefer}, {"drop", OverQuota::kDrop}});
  section.End();
}

void Read(YamlSection section, ResolverSection& resolver) {
  section.List("servers", resolver.servers,
               "an IP address with or without a port, such as 9.9.9.9 or "
               "[2620:fe::fe]:53",
               IsAddressWithOptionalPort);
  section.Number("queries_per_second", resolver.queries_per_second, 0,
                 1'000'000);
  section.End();
}

void Read(YamlSection section, FetchSection& fetch) {
  const absl::Duration day = absl::Hours(24);
  section.Duration("delay", fetch.delay, absl::ZeroDuration(), day);
  section.Flag("share_addresses", fetch.share_addresses);
  section.Duration("max_crawl_delay", fetch.max_crawl_delay,
                   absl::ZeroDuration(), day);
  section.Number("connections", fetch.connections, 1, 100'000);
  section.Size("bandwidth", fetch.bandwidth, 0, kMostBytes);
  section.Flag("allow_private", fetch.allow_private);
  section.List("allow_addresses", fetch.allow_addresses,
               "an address range, such as 10.1.0.0/16 or fd00::/8", IsCidr);
  section.Text(
      "connect_to", fetch.connect_to, kConnectToAllowed,
      [](const std::string& to) { return to.empty() || IsConnectTo(to); });
  section.Text("ca_file", fetch.ca_file,
               "a file of certificates in PEM, or \"\"",
               [](const std::string&) { return true; });
  section.Duration("robots_lifetime", fetch.robots_lifetime, absl::Minutes(1),
                   day * 30);
  section.Size("max_bytes", fetch.max_bytes, 1, uint64_t{1} << 30);
  section.Size("max_decoded_bytes", fetch.max_decoded_bytes, 1,
               uint64_t{4} << 30);
  section.Size("max_header_bytes", fetch.max_header_bytes, 1 << 10, 16 << 20);
  section.Duration("timeout", fetch.timeout, absl::Milliseconds(1), day);
  section.Duration("first_byte_timeout", fetch.first_byte_timeout,
                   absl::Milliseconds(1), day);
  section.Duration("connect_timeout", fetch.connect_timeout,
                   absl::Milliseconds(1), day);
  section.Size("min_speed", fetch.min_speed, 0, kMostBytes);
  section.Duration("min_speed_time", fetch.min_speed_time, absl::Seconds(1),
                   day);
  section.Number("redirects", fetch.redirects, 0, 100);
  section.Number("retries", fetch.retries, 0, 100);
  section.Duration("retry_delay", fetch.retry_delay, absl::Milliseconds(1),
                   day * 365);
  section.Duration("max_retry_delay", fetch.max_retry_delay,
                   absl::Milliseconds(1), day * 365);
  section.Flag("http2", fetch.http2);
  section.Text(
      "accept_language", fetch.accept_language,
      "a value of the header Accept-Language, such as \"en, ja;q=0.5\"",
      IsHeaderValue);
  section.Text(
      "proxy", fetch.proxy,
      "a URL such as http://proxy.example:3128 or socks5h://[::1]:1080, "
      "or \"\"",
      [](const std::string& p) { return p.empty() || IsProxy(p); });
  section.Text("source_address", fetch.source_address, "an IP address, or \"\"",
               [](const std::string& a) { return a.empty() || IsAddress(a); });
  Read(section.Section("resolver"), fetch.resolver);
  section.Size("memory", fetch.memory, 16 << 20, kMostBytes);
  section.Flag("low_priority", fetch.low_priority);
  section.End();
}

void Read(YamlSection section, ParseSection& parse) {
  const std::vector<std::string> tags = {"a",    "area", "iframe", "frame",
                                         "link", "img",  "srcset"};
  section.List("follow", parse.follow,
               fmt::format("one of {}", fmt::join(tags, ", ")),
               [&](const std::string& tag) {
                 return std::find(tags.begin(), tags.end(), tag) != tags.end();
               });
  section.Number("max_links", parse.max_links, 0, 1'000'000);
  section.Choice(
      "other_types", parse.other_types,
      {{"archive", OtherTypes::kArchive}, {"skip", OtherTypes::kSkip}});
  section.End();
}

// An entry is right if a filter with it alone can be made.
void Read(YamlSection section, UrlListSection& list) {
  const auto problem = [](auto field) {
    return [field](const std::string& entry) -> std::string {
      storage::UrlFilterRules rules;
      (rules.deny.*field).push_back(entry);
      const auto filter = storage::UrlFilter::Create(rules);
      if (filter.ok()) return {};
      return fmt::format("found '{}': {}", entry,
                         std::string(filter.status().message()));
    };
  };
  section.List("domains", list.domains, problem(&storage::UrlList::domains));
  section.List("hosts", list.hosts, problem(&storage::UrlList::hosts));
  section.List("prefixes", list.prefixes, problem(&storage::UrlList::prefixes));
  section.List("regexes", list.regexes, problem(&storage::UrlList::regexes));
  section.End();
}

void Read(YamlSection section, UrlsSection& urls) {
  using Kind = storage::ScopeRule::Kind;
  section.Choice("scope", urls.scope,
                 {{"auto", std::nullopt},
                  {"page", Kind::kPage},
                  {"prefix", Kind::kPrefix},
                  {"host", Kind::kHost},
                  {"domain", Kind::kDomain},
                  {"any", Kind::kAny}});
  section.Number("max_depth", urls.max_depth, 0, 1'000'000);
  Read(section.Section("allow"), urls.allow);
  Read(section.Section("deny"), urls.deny);
  section.Number("max_bytes", urls.max_bytes, 64, 1 << 20);
  section.Number("max_path_depth", urls.max_path_depth, 1, 10'000);
  section.Number("max_segment_repeats", urls.max_segment_repeats, 1, 10'000);
  section.Number("max_query_parameters", urls.max_query_parameters, 0, 10'000);
  section.Number("max_query_bytes", urls.max_query_bytes, 0, 1 << 20);
  section.List("drop_parameters", urls.drop_parameters,
               [](const std::string& name) -> std::string {
                 storage::CanonicalRules rules;
                 rules.query_parameters = {name};
                 const auto made = storage::Canonicaliser::Create(rules);
                 if (made.ok()) return {};
                 return fmt::format("found '{}': {}", name,
                                    std::string(made.status().message()));
               });
  section.Number("max_pages_per_host", urls.max_pages_per_host, 0,
                 int64_t{1} << 40);
  section.End();
}

void Read(YamlSection section, ArchiveSection& archive) {
  section.Text("prefix", archive.prefix,
               "a name of letters, digits, '_' and '.', up to 64",
               [](const std::string& prefix) {
                 return prefix.size() <= 64 &&
                        storage::CheckNameParts(prefix, "site").ok();
               });
  section.Size("file_size", archive.file_size, 1 << 20, uint64_t{1} << 40);
  section.Size("min_free", archive.min_free, 0, kMostBytes);
  section.Number("level", archive.level, 1, 12);
  section.End();
}

void Read(YamlSection section, CrawlDbSection& crawl_db) {
  section.Size("cache", crawl_db.cache, 1 << 20, uint64_t{1} << 40);
  section.Size("write_buffers", crawl_db.write_buffers, 4 << 20,
               uint64_t{1} << 40);
  section.End();
}

void Read(YamlSection section, RecrawlSection& recrawl) {
  section.Duration("interval", recrawl.interval, absl::Minutes(1),
                   absl::Hours(24 * 3650));
  section.NotYet("strategy", "fixed", "strategies other than 'fixed' are");
  section.NotYet("share", "auto", "a share for recrawls is");
  section.End();
}

void Read(YamlSection section, FederationSection& federation) {
  const auto is_right = [](const std::string& text) {
    return text.empty() || IsHostPort(text);
  };
  section.Choice("map", federation.map,
                 {{"", MapSource::kNone},
                  {"registrar", MapSource::kRegistrar},
                  {"file", MapSource::kFile}});
  section.Text("file", federation.file, "the path of the map's file, or \"\"",
               [](const std::string&) { return true; });
  section.Text("join", federation.join, kHostPortAllowed, is_right);
  section.Text("address", federation.address, kHostPortAllowed, is_right);
  section.Number("capacity", federation.capacity, 1, 1000);
  section.Flag("insecure_peers", federation.insecure_peers);
  // It is kept as one message, and these have at most 2 GiB.
  section.Size("cache", federation.cache, 64 << 10, uint64_t{1} << 30);
  section.Number("gain_every", federation.gain_every, 1, 1'000'000);
  section.Choice("channel", federation.channel,
                 {{"domain", federation::ChannelUnit::kDomain},
                  {"host", federation::ChannelUnit::kHost}});
  section.Choice(
      "exchange", federation.exchange,
      {{"urls", ExchangeMode::kUrls}, {"cash", ExchangeMode::kCash}});
  section.End();
}

void Read(YamlSection section, TlsSection& tls) {
  const auto any = [](const std::string&) { return true; };
  for (const auto& [key, path] :
       {std::pair("ca", &tls.ca), std::pair("cert", &tls.cert),
        std::pair("key", &tls.key)}) {
    section.Text(key, *path, "the path of a file in PEM, or \"\"", any);
  }
  section.End();
}

void Read(YamlSection section, LogSection& log) {
  section.Choice("level", log.level,
                 {{"debug", LogLevel::kDebug},
                  {"info", LogLevel::kInfo},
                  {"warning", LogLevel::kWarning},
                  {"error", LogLevel::kError}});
  section.Choice("format", log.format,
                 {{"text", LogFormat::kText}, {"json", LogFormat::kJson}});
  section.End();
}

void ReadAll(YamlSection file, SiteConfig& config) {
  Read(file.Section("site"), config.site);
  Read(file.Section("user_agent"), config.user_agent);
  Read(file.Section("listen"), config.listen);
  Read(file.Section("crawl"), config.crawl);
  Read(file.Section("update"), config.update);
  Read(file.Section("fetch"), config.fetch);
  Read(file.Section("parse"), config.parse);
  Read(file.Section("urls"), config.urls);
  Read(file.Section("archive"), config.archive);
  Read(file.Section("crawl_db"), config.crawl_db);
  Read(file.Section("recrawl"), config.recrawl);
  Read(file.Section("federation"), config.federation);
  Read(file.Section("tls"), config.tls);
  Read(file.Section("log"), config.log);
  file.End();
}

storage::UrlList ListOf(const UrlListSection& list) {
  return {list.domains, list.hosts, list.prefixes, list.regexes};
}

}  // namespace

absl::StatusOr<SiteConfig> ParseSiteConfig(std::string_view text,
                                           std::string_view file_name) {
  YamlProblems problems(file_name);
  YAML::Node root;
  try {
    std::vector<YAML::Node> documents = YAML::LoadAll(std::string(text));
    if (documents.size() > 1) {
      problems.Add(documents[1].Mark(), "",
                   "a second YAML document begins; allowed is one");
    }
    if (!documents.empty()) root = documents[0];
  } catch (const YAML::Exception& error) {
    problems.Add(error.mark, "", "this is not YAML: " + error.msg);
    return problems.ToStatus();
  }
  SiteConfig config;
  ReadAll(YamlSection(root, "", problems), config);
  if (absl::Status s = problems.ToStatus(); !s.ok()) return s;
  CheckTogether(root, config, problems);
  if (absl::Status s = problems.ToStatus(); !s.ok()) return s;
  return config;
}

absl::StatusOr<SiteConfig> LoadSiteConfig(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::exists(path, none)) {
    return absl::NotFoundError(
        fmt::format("there is no file {}; 'gannet init DIR' writes one", path));
  }
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in || std::filesystem::is_directory(path, none)) {
    return absl::InvalidArgumentError(
        fmt::format("{} cannot be read; is it a file of yours?", path));
  }
  absl::StatusOr<SiteConfig> config = ParseSiteConfig(text.str(), path);
  if (!config.ok()) return config;
  const std::filesystem::path folder =
      std::filesystem::path(path).parent_path();
  // "" is the file's own folder; an absolute path stands as it is.
  config->site.data = (folder / config->site.data).lexically_normal();
  if (config->site.data.empty()) config->site.data = ".";
  for (std::string* file :
       {&config->tls.ca, &config->tls.cert, &config->tls.key,
        &config->federation.file, &config->fetch.ca_file}) {
    if (!file->empty()) *file = (folder / *file).lexically_normal();
  }
  return config;
}

std::vector<std::string> SiteConfigKeys() {
  YamlProblems problems("");
  SiteConfig config;
  ReadAll(YamlSection(YAML::Node(), "", problems), config);
  std::vector<std::string> keys = problems.keys();
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

std::vector<std::pair<std::string, std::string>> SiteConfigValues(
    const SiteConfig& config) {
  YamlProblems problems("");
  SiteConfig same = config;
  ReadAll(YamlSection(YAML::Node(), "", problems), same);
  return problems.values();
}

storage::UrlFilterRules FilterRulesOf(const SiteConfig& config) {
  storage::UrlFilterRules rules;
  rules.allow = ListOf(config.urls.allow);
  rules.deny = ListOf(config.urls.deny);
  rules.max_url_bytes = config.urls.max_bytes;
  rules.max_path_depth = config.urls.max_path_depth;
  rules.max_segment_repeats = config.urls.max_segment_repeats;
  rules.max_query_parameters = config.urls.max_query_parameters;
  rules.max_query_bytes = config.urls.max_query_bytes;
  return rules;
}

storage::CanonicalRules CanonicalRulesOf(const SiteConfig& config) {
  storage::CanonicalRules rules;
  rules.query_parameters = config.urls.drop_parameters;
  // An operator who drops nothing from queries means the path, too.
  rules.drop_parameters = !config.urls.drop_parameters.empty();
  return rules;
}

}  // namespace gannet::sites
