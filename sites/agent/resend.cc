#include "sites/agent/resend.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "federation/ownership/ownership.h"

namespace gannet::sites {
namespace {

constexpr size_t kAtOnce = 2000;
// The depth at which it was first found is not known; a link has at least this.
constexpr uint32_t kDepth = 1;
constexpr absl::Duration kFirstRest = absl::Seconds(5);
constexpr absl::Duration kLongestRest = absl::Minutes(5);

}  // namespace

Resend::Resend(storage::SiteStore& store,
               const storage::Canonicaliser& canonicaliser,
               const storage::UrlFilter& filter, uint32_t most_redirects,
               Log& log, storage::Clock& clock)
    : store_(store),
      canonicaliser_(canonicaliser),
      filter_(filter),
      most_redirects_(most_redirects),
      log_(log),
      clock_(clock) {}

Resend::~Resend() { End(); }

void Resend::End() {
  storage::MutexLock lock(&begin_mu_);
  has_ended_ = true;
  Stop();
}

void Resend::Stop() {
  {
    storage::MutexLock lock(&mu_);
    stop_ = true;
    stopped_.SignalAll();
  }
  if (thread_.joinable()) thread_.join();
  stop_ = false;
  under_way_.reset();
}

bool Resend::Rest(absl::Duration time) {
  const absl::Time until = clock_.SteadyNow() + time;
  storage::MutexLock lock(&mu_);
  while (!stop_ && clock_.SteadyNow() < until) {
    clock_.WaitUntil(stopped_, &mu_, until);
  }
  return !stop_;
}

void Resend::Begin(const federation::MapHolder& maps,
                   federation::Losses& losses,
                   std::function<void()> on_foreign) {
  List list = losses.Get();
  const auto view = maps.view();
  // A site that is not in the map cannot send: this is done when it is back.
  if (list.empty() || view == nullptr || view->self() == nullptr) return;
  storage::MutexLock lock(&begin_mu_);
  if (has_ended_ || under_way_ == list.version) return;
  Stop();
  under_way_ = list.version;
  thread_ = std::thread([this, &maps, &losses, list = std::move(list),
                         on_foreign = std::move(on_foreign)] {
    Run(maps, losses, list, on_foreign);
  });
}

void Resend::Run(const federation::MapHolder& maps, federation::Losses& losses,
                 const List& list, const std::function<void()>& on_foreign) {
  absl::Duration rest = kFirstRest;
  do {
    int64_t sent = 0;
    absl::Status status = Walk(maps, list, sent);
    if (stop_) return;  // The next call begins anew.
    if (on_foreign) on_foreign();
    if (status.ok()) status = losses.Forget(list);
    if (status.ok()) {
      log_.Info("sent_again", {{"urls", sent}});
      return;
    }
    log_.Warning("send_again_failed",
                 {{"error", std::string(status.message())}});
    rest = std::min(2 * rest, kLongestRest);
  } while (Rest(rest));
}

// How many redirects lead through a page that has moved: a chain must not begin
// anew each time that a site is lost, or an endless one would never end. If the
// page belongs to another site by now, its count is not known here, and the
// chain begins there.
uint32_t Resend::RedirectsBehind(const storage::Url& moved) const {
  const auto record =
      store_.crawl_db().records().GetPage(storage::PageKeyOf(moved));
  return record.ok() ? record->redirects() + 1 : 1;
}

absl::Status Resend::Walk(const federation::MapHolder& maps, const List& list,
                          int64_t& sent) {
  std::map<storage::PageKey, uint32_t> batch;  // How many redirects.
  absl::Status status;
  const auto flush = [&] {
    // The newest: channels may have moved since this began.
    const auto view = maps.view();
    if (view->self() == nullptr) {
      status = absl::FailedPreconditionError("this site was removed");
      return false;
    }
    const storage::SiteId self{view->self()->id()};
    std::vector<storage::FoundUrl> mine;
    std::vector<std::pair<storage::SiteId, storage::FoundUrl>> others;
    for (const auto& [page, redirects] : batch) {
      storage::FoundUrl url;
      url.page = page;
      url.depth = kDepth;
      url.redirects = redirects;
      const storage::SiteId owner =
          federation::Ownership(*view).OwnerOf(page.bytes).value_or(self);
      if (owner == self) {
        mine.push_back(std::move(url));
      } else {
        others.emplace_back(owner, std::move(url));
      }
    }
    sent += static_cast<int64_t>(batch.size());
    batch.clear();
    status =
        store_.crawl_db().incoming().PutIfAbsent(mine, {clock_.Now()}).status();
    if (status.ok()) status = store_.crawl_db().waiting().SendAgain(others);
    return status.ok();
  };
  const federation::LostPages lost(list, maps.view());
  const auto scope = store_.crawl_db().scopes().scope();
  storage::Url from, url;
  absl::Status walked = store_.archive().ForEachOutlinks(
      [&](const storage::PageLinks& links) {
        if (storage::Url::Parse(links.url, nullptr, from) !=
            storage::UrlOutcome::kOk) {
          return true;
        }
        const uint32_t redirects = links.has_moved ? RedirectsBehind(from) : 0;
        if (redirects > most_redirects_) return true;  // Was not followed.
        for (const std::string& link : links.links) {
          if (canonicaliser_.Canonicalise(link, &from, url) !=
                  storage::UrlOutcome::kOk ||
              filter_.Judge(url) != storage::UrlVerdict::kAllowed ||
              scope->Judge(url, kDepth) != storage::UrlVerdict::kAllowed) {
            continue;
          }
          storage::PageKey page = storage::PageKeyOf(url);
          if (!lost.Contains(page.bytes)) continue;
          const auto [it, is_new] =
              batch.try_emplace(std::move(page), redirects);
          it->second = std::min(it->second, redirects);
        }
        return !stop_ && (batch.size() < kAtOnce || flush());
      },
      [&](const absl::Status& damage) {
        log_.Warning("archive_damaged",
                     {{"error", std::string(damage.message())}});
      });
  if (walked.ok() && status.ok() && !stop_) flush();
  return walked.ok() ? status : walked;
}

}  // namespace gannet::sites
