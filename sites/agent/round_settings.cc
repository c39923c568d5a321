#include "sites/agent/round_settings.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "jobs/fetch/socket_budget.h"
#include "jobs/fetch/tls_trust.h"

namespace gannet::sites {
namespace {

absl::Status CheckContact(const SiteConfig& config) {
  if (!config.user_agent.contact.empty() || !config.fetch.connect_to.empty() ||
      (config.fetch.allow_private && config.fetch.proxy.empty())) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "a crawler must say whom webmasters can write to: add --contact with a "
      "web page or a mail address of yours (user_agent.contact in site.yaml). "
      "Only loopback (fetch.allow_private) and test webs (--connect-to) are "
      "crawled without");
}

absl::Status SetAddresses(const SiteConfig& config,
                          jobs::FetchSettings& fetch) {
  fetch.allow_private = config.fetch.allow_private;
  fetch.loopback_only =
      config.user_agent.contact.empty() && config.fetch.connect_to.empty();
  for (const std::string& text : config.fetch.allow_addresses) {
    auto range = jobs::AddressRange::Parse(text);
    if (!range.ok()) return range.status();
    fetch.allowed_addresses.push_back(*std::move(range));
  }
  if (!config.fetch.connect_to.empty()) {
    auto connect_to = jobs::ConnectTo::Parse(config.fetch.connect_to);
    if (!connect_to.ok()) return connect_to.status();
    fetch.connect_to = *std::move(connect_to);
  }
  return absl::OkStatus();
}

void SetFetch(const SiteConfig& config, jobs::FetchSettings& fetch) {
  const FetchSection& section = config.fetch;
  fetch.agent = config.user_agent.name;
  fetch.delay = section.delay;
  fetch.share_addresses = section.share_addresses;
  fetch.max_crawl_delay = section.max_crawl_delay;
  fetch.connections = static_cast<size_t>(section.connections);
  fetch.bandwidth = static_cast<int64_t>(section.bandwidth);
  fetch.max_bytes = section.max_bytes;
  fetch.robots_lifetime = section.robots_lifetime;
  fetch.rest = section.retry_delay;
  fetch.max_rest = section.max_retry_delay;
  // Half for what comes in, half for what is on its way to the disk.
  fetch.max_undelivered_bytes = section.memory / 2;
  fetch.resolver.servers = section.resolver.servers;
  fetch.resolver.queries_per_second =
      static_cast<int>(section.resolver.queries_per_second);

  jobs::DownloadSettings& download = fetch.download;
  download.user_agent = UserAgentOf(config);
  download.accept_language = section.accept_language;
  download.max_header_bytes = section.max_header_bytes;
  download.connect_timeout = section.connect_timeout;
  download.first_byte_timeout = section.first_byte_timeout;
  download.timeout = section.timeout;
  download.min_speed = static_cast<int64_t>(section.min_speed);
  download.min_speed_time = section.min_speed_time;
  download.bandwidth = static_cast<int64_t>(section.bandwidth);
  download.http2 = section.http2;
  download.proxy = section.proxy;
  download.ca_file = section.ca_file;
  download.source_address = section.source_address;
  download.memory = section.memory / 2;
}

// Connections that the process cannot have would be met as failures of
// healthy servers.
void FitFileLimit(jobs::FetchSettings& fetch,
                  std::vector<std::string>& notices) {
  const uint64_t limit = RaiseFileLimit();
  const jobs::SocketBudget budget = jobs::FitSockets(
      fetch.connections, fetch.download.max_idle_connections, limit);
  const size_t wanted = fetch.connections;
  fetch.connections = budget.connections;
  fetch.download.connections = budget.connections;
  fetch.download.max_idle_connections = budget.idle;
  if (wanted == budget.connections) return;
  notices.push_back(fmt::format(
      "fetch.connections is {}, but this process may have only {} files open: "
      "it uses {} connections at most. Raise the limit (ulimit -n, or "
      "LimitNOFILE= of the service), or lower fetch.connections",
      wanted, limit, budget.connections));
}

// A file that the operator named must be there; without the system's, http is
// still crawled.
absl::Status CheckCertificates(const FetchSection& fetch,
                               std::vector<std::string>& notices) {
  absl::Status status = jobs::TlsTrust::For(fetch.ca_file)->Check();
  if (status.ok() || !fetch.ca_file.empty()) return status;
  notices.emplace_back(status.message());
  return absl::OkStatus();
}

void SetParse(const SiteConfig& config, jobs::ParseSettings& parse) {
  const auto follows = [&](std::string_view kind) {
    const std::vector<std::string>& list = config.parse.follow;
    return std::find(list.begin(), list.end(), kind) != list.end();
  };
  parse.follow_a = follows("a");
  parse.follow_area = follows("area");
  parse.follow_link = follows("link");
  parse.follow_iframe = follows("iframe");
  parse.follow_frame = follows("frame");
  parse.follow_img = follows("img");
  parse.follow_srcset = follows("srcset");
  parse.max_links = static_cast<size_t>(config.parse.max_links);
  parse.max_decoded_bytes = config.fetch.max_decoded_bytes;
  parse.agent = config.user_agent.name;
}

}  // namespace

uint64_t RaiseFileLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : before;
}

void PrepareProcess(const SiteConfig& config) {
  if (config.fetch.low_priority) setpriority(PRIO_PROCESS, 0, 19);
}

std::string UserAgentOf(const SiteConfig& config) {
  const UserAgentSection& agent = config.user_agent;
  std::string text = fmt::format(
      "{}/{}", agent.name,
      agent.version.empty() ? GANNET_VERSION : agent.version.c_str());
  if (!agent.contact.empty()) text += fmt::format(" (+{})", agent.contact);
  return text;
}

absl::StatusOr<PreparedRounds> PrepareRounds(const SiteConfig& config) {
  if (absl::Status s = CheckContact(config); !s.ok()) return s;
  // A page that never fits would be asked for in every round.
  if (config.fetch.memory / 2 < config.fetch.max_bytes) {
    return absl::InvalidArgumentError(
        "fetch.memory must be at least twice fetch.max_bytes");
  }
  PreparedRounds prepared;
  auto canonicaliser = storage::Canonicaliser::Create(CanonicalRulesOf(config));
  if (!canonicaliser.ok()) return canonicaliser.status();
  prepared.canonicaliser =
      std::make_unique<storage::Canonicaliser>(*std::move(canonicaliser));
  auto filter = storage::UrlFilter::Create(FilterRulesOf(config),
                                           *prepared.canonicaliser);
  if (!filter.ok()) return filter.status();
  prepared.filter = *std::move(filter);

  jobs::RoundSettings& settings = prepared.settings;
  settings.generate.width = static_cast<size_t>(config.crawl.width);
  settings.generate.max_pages_per_host = config.urls.max_pages_per_host;
  settings.generate.per_host = static_cast<size_t>(config.crawl.per_host);
  settings.time_limit = config.crawl.time_limit;
  settings.max_pages = config.crawl.max_pages;
  settings.min_free = config.archive.min_free;
  settings.data_folder = config.site.data;
  settings.update.new_pages = config.NewPages();
  settings.update.drop_over_quota =
      config.update.over_quota == OverQuota::kDrop;
  settings.update.max_pages_per_host = config.urls.max_pages_per_host;
  settings.update.gain_every =
      static_cast<uint64_t>(config.federation.gain_every);

  if (absl::Status s = SetAddresses(config, settings.fetch.fetch); !s.ok()) {
    return s;
  }
  SetFetch(config, settings.fetch.fetch);
  FitFileLimit(settings.fetch.fetch, prepared.notices);
  if (absl::Status s = CheckCertificates(config.fetch, prepared.notices);
      !s.ok()) {
    return s;
  }
  jobs::PageSettings& page = settings.fetch.page;
  SetParse(config, page.parse);
  page.canonicaliser = prepared.canonicaliser.get();
  page.filter = prepared.filter.get();
  settings.fetch.fetch.filter = prepared.filter.get();
  page.archive_other_types = config.parse.other_types == OtherTypes::kArchive;
  page.max_redirects = static_cast<uint32_t>(config.fetch.redirects);
  page.max_retries = static_cast<uint32_t>(config.fetch.retries);
  page.retry_delay = config.fetch.retry_delay;
  page.max_retry_delay = config.fetch.max_retry_delay;
  page.recrawl_interval = config.recrawl.interval;
  return prepared;
}

}  // namespace gannet::sites
