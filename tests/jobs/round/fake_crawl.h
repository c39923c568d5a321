// A crawl of a fake web within one process: the web's server, a site in a
// temporary folder, and rounds with settings that suit loopback. For tests.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "jobs/round/round.h"
#include "storage/site_store/site_store.h"
#include "storage/url/canonical.h"
#include "storage/url/filter.h"
#include "tests/fake_web/judge.h"
#include "tests/fake_web/server.h"
#include "tests/fake_web/truth.h"
#include "tests/fake_web/web.h"
#include "tests/temporary_folder.h"

namespace gannet::jobs {

class FakeCrawl {
 public:
  // Only limits on URLs end traps, and the truth applies them too.
  explicit FakeCrawl(fake_web::WebOptions options);

  RoundSettings& settings() { return settings_; }
  storage::SiteStore& store() { return *store_; }
  const fake_web::Web& web() const { return *web_; }
  fake_web::Server& server() { return *server_; }

  absl::Status InjectSeeds();
  absl::Status Inject(const std::string& url);
  // Runs rounds until nothing is left, or so many.
  absl::Status Crawl(std::optional<int64_t> rounds = std::nullopt);
  // Closes the store and opens it again, as a new process would.
  void Reopen();

  // URL to state: "fetched", "moved", ...
  std::map<std::string, std::string> States();
  std::map<std::string, std::string> TrueStates() const;
  proto::PageRecord Record(const std::string& url);
  // Ends the server.
  fake_web::Verdict JudgePoliteness();
  std::string Url(const fake_web::Ref& ref) const { return web_->Url(ref); }
  // The first URL of that kind that a crawl finds.
  std::string UrlOfKind(fake_web::Nasty kind) const;

  std::atomic<bool> stop = false;

 private:
  void Open();

  std::unique_ptr<fake_web::Web> web_;
  fake_web::WebClock clock_;
  std::unique_ptr<fake_web::Server> server_;
  TemporaryFolder folder_;
  std::unique_ptr<storage::Canonicaliser> canonicaliser_;
  std::unique_ptr<storage::UrlFilter> filter_;
  fake_web::CrawlRules rules_;
  RoundSettings settings_;
  std::unique_ptr<storage::SiteStore> store_;
};

// How the states of a crawl differ from the truth, for a failing test's
// message.
std::string Differences(const std::map<std::string, std::string>& crawl,
                        const std::map<std::string, std::string>& truth);

}  // namespace gannet::jobs
