#include "tests/jobs/round/fake_crawl.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

#include "absl/time/clock.h"
#include "storage/url/surt.h"

namespace gannet::jobs {
namespace {

std::string StateName(proto::PageState state) {
  switch (state) {
    case proto::NEW:
      return "new";
    case proto::FETCHED:
      return "fetched";
    case proto::MOVED:
      return "moved";
    case proto::GONE:
      return "gone";
    case proto::BLOCKED:
      return "blocked";
    default:
      return "failed";
  }
}

storage::PageKey KeyOf(const std::string& url) {
  return storage::PageKeyOf(storage::Url::Parse(url).value());
}

// Half of the web's hosts are on https, or the share of tests/run.sh --https.
fake_web::WebOptions WithHttps(fake_web::WebOptions options) {
  const char* share = std::getenv("GANNET_TEST_HTTPS");
  options.https_share = share != nullptr ? std::atof(share) : 0.5;
  return options;
}

}  // namespace

FakeCrawl::FakeCrawl(fake_web::WebOptions options)
    : web_(fake_web::Web::Create(WithHttps(std::move(options))).value()) {
  server_ = fake_web::Server::Start(web_.get(), &clock_,
                                    {.tls_port = 0, .keep_log = true})
                .value();
  const std::string ca_file = folder_.path() + "/web-ca.pem";
  std::ofstream(ca_file) << server_->CaPem();
  storage::UrlFilterRules urls;
  urls.max_path_depth = rules_.max_path_depth = 12;
  urls.max_query_parameters = rules_.max_query_parameters = 6;
  canonicaliser_ = std::make_unique<storage::Canonicaliser>();
  filter_ = storage::UrlFilter::Create(urls, *canonicaliser_).value();

  settings_.generate = {.width = 2000, .per_host = 200};
  FetchSettings& fetch = settings_.fetch.fetch;
  fetch.connect_to =
      ConnectTo::Parse(fmt::format("127.0.0.0/8:{},{}", server_->port(),
                                   server_->tls_port()))
          .value();
  fetch.download.ca_file = ca_file;
  fetch.download.connect_timeout = absl::Seconds(2);
  fetch.delay = absl::Milliseconds(20);
  fetch.rest = absl::Milliseconds(100);
  fetch.max_bytes = 4 << 20;
  fetch.download.user_agent = "gannet/test (+mailto:test@localhost)";
  fetch.download.first_byte_timeout = absl::Seconds(5);
  fetch.download.timeout = absl::Seconds(8);
  fetch.download.min_speed = 100;
  fetch.download.min_speed_time = absl::Seconds(3);
  PageSettings& page = settings_.fetch.page;
  page.canonicaliser = canonicaliser_.get();
  page.filter = filter_.get();
  page.parse.agent = "gannet";
  page.retry_delay = absl::Milliseconds(200);
  Open();
}

void FakeCrawl::Open() {
  storage::SiteStoreSettings store;
  store.folder = folder_.path();
  store.create = true;
  store_ = storage::SiteStore::Open(store, storage::SystemClock()).value();
}

void FakeCrawl::Reopen() {
  store_.reset();
  Open();
}

absl::Status FakeCrawl::Inject(const std::string& url) {
  return store_->crawl_db()
      .incoming()
      .Inject({KeyOf(url)}, absl::Now())
      .status();
}

absl::Status FakeCrawl::InjectSeeds() {
  for (const fake_web::Ref& seed : web_->Seeds()) {
    if (absl::Status s = Inject(web_->Url(seed)); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status FakeCrawl::Crawl(std::optional<int64_t> rounds) {
  return Rounds(settings_, store_.get(), storage::SystemClock())
      .RunMany(rounds, absl::Minutes(1), stop);
}

std::map<std::string, std::string> FakeCrawl::States() {
  std::map<std::string, std::string> states;
  (void)store_->crawl_db().records().ScanPages(
      {}, [&](std::string_view page, const proto::PageRecord& record) {
        states[storage::UrlFromSurt(storage::SurtOf(page)).value()] =
            StateName(record.state());
        return true;
      });
  return states;
}

std::map<std::string, std::string> FakeCrawl::TrueStates() const {
  fake_web::Truth truth(web_.get(), rules_);
  std::map<std::string, std::string> states;
  for (const fake_web::TruePage& page : truth.Reachable()) {
    states[web_->Url(page.ref)] = fake_web::Name(page.outcome);
  }
  return states;
}

proto::PageRecord FakeCrawl::Record(const std::string& url) {
  return store_->crawl_db()
      .records()
      .GetPage(KeyOf(url))
      .value_or(proto::PageRecord());
}

fake_web::Verdict FakeCrawl::JudgePoliteness() {
  (void)server_->Stop();
  fake_web::JudgeOptions options;
  options.delay = settings_.fetch.fetch.delay;
  options.per_address = settings_.fetch.fetch.connect_to->is_range();
  return fake_web::Judge(*web_, server_->Log(), options);
}

std::string FakeCrawl::UrlOfKind(fake_web::Nasty kind) const {
  fake_web::Truth truth(web_.get(), rules_);
  for (const fake_web::TruePage& page : truth.Reachable()) {
    if (page.ref.kind == kind) return web_->Url(page.ref);
  }
  return "";
}

std::string Differences(const std::map<std::string, std::string>& crawl,
                        const std::map<std::string, std::string>& truth) {
  std::string text;
  int named = 0;
  const auto name = [&](const std::string& url, const std::string& is,
                        const std::string& should) {
    if (++named <= 20) text += fmt::format("{}: {}, not {}\n", url, is, should);
  };
  for (const auto& [url, state] : truth) {
    const auto it = crawl.find(url);
    if (it == crawl.end()) {
      name(url, "unknown", state);
    } else if (it->second != state) {
      name(url, it->second, state);
    }
  }
  for (const auto& [url, state] : crawl) {
    if (!truth.contains(url)) name(url, state, "to be found at all");
  }
  if (named > 20) text += fmt::format("... {} in all\n", named);
  return text;
}

}  // namespace gannet::jobs
