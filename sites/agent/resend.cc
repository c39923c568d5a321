#include "sites/agent/resend.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"

namespace gannet::sites {
namespace {

constexpr size_t kAtOnce = 2000;
// Nobody knows how deep it was when it was first found; a link is at least
// this.
constexpr uint32_t kDepth = 1;

}  // namespace

Resend::Resend(storage::SiteStore& store,
               const storage::Canonicaliser& canonicaliser,
               const storage::UrlFilter& filter, uint32_t most_redirects,
               Log& log)
    : store_(store),
      canonicaliser_(canonicaliser),
      filter_(filter),
      most_redirects_(most_redirects),
      log_(log) {}

Resend::~Resend() { End(); }

void Resend::End() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
  stop_ = false;
}

void Resend::Begin(std::shared_ptr<const federation::MapView> view,
                   const federation::SentUrls::Changes& changes) {
  const bool was_cut_off = is_busy_;
  End();
  if (!was_cut_off && !has_failed_) {
    reborn_.clear();
    somebody_is_gone_ = false;
  }
  reborn_.insert(changes.reborn.begin(), changes.reborn.end());
  somebody_is_gone_ = somebody_is_gone_ || !changes.gone.empty();
  is_busy_ = true;
  has_failed_ = false;
  thread_ = std::thread([this, view = std::move(view)] { Run(*view); });
}

void Resend::Run(const federation::MapView& view) {
  int64_t sent = 0;
  const absl::Status status = Walk(view, sent);
  if (stop_) return;  // Still busy: whoever comes next begins anew.
  has_failed_ = !status.ok();
  is_busy_ = false;
  if (status.ok()) {
    log_.Info("sent_again", {{"urls", sent}});
  } else {
    log_.Warning("send_again_failed",
                 {{"error", std::string(status.message())}});
  }
}

// Of a page that moved: a chain of redirects must not begin anew each time that
// a site is lost, or an endless one would never end. A page that is another
// site's by now says nothing; its chain begins there.
uint32_t Resend::RedirectsBehind(const storage::Url& moved) const {
  const auto record = store_.crawl_db().GetPage(storage::PageKeyOf(moved));
  return record.ok() ? record->redirects() + 1 : 1;
}

absl::Status Resend::Walk(const federation::MapView& view, int64_t& sent) {
  if (view.self() == nullptr) return absl::OkStatus();
  const storage::SiteId self{view.self()->id()};
  const bool is_moving = federation::IsHandingOff(view.map());
  struct Sent {
    storage::SiteId owner{};
    uint32_t redirects = 0;
  };
  std::map<storage::PageKey, Sent> batch;
  absl::Status status;
  const auto flush = [&] {
    std::vector<storage::Found> mine;
    std::vector<std::pair<storage::SiteId, storage::Found>> others;
    for (const auto& [page, sent_to] : batch) {
      storage::Found url;
      url.page = page;
      url.depth = kDepth;
      url.redirects = sent_to.redirects;
      if (sent_to.owner == self) {
        mine.push_back(std::move(url));
      } else {
        others.emplace_back(sent_to.owner, std::move(url));
      }
    }
    sent += static_cast<int64_t>(batch.size());
    batch.clear();
    status = store_.crawl_db().PutIfAbsent(mine, {absl::Now()}).status();
    if (status.ok()) status = store_.crawl_db().SendAgain(others);
    return status.ok();
  };
  // Theirs now, or theirs before: the previous owner of what a site had that is
  // gone is nobody.
  const auto is_wanted = [&](const storage::PageKey& page,
                             storage::SiteId owner) {
    if (reborn_.contains(owner)) return true;
    return somebody_is_gone_ &&
           (!is_moving || !view.PreviousOwnerOf(page.bytes).has_value());
  };
  storage::Url from, url;
  absl::Status walked =
      store_.archive().ForEachOutlinks([&](const storage::PageLinks& links) {
        if (storage::Url::Parse(links.url, nullptr, from) !=
            storage::UrlOutcome::kOk) {
          return true;
        }
        const uint32_t redirects = links.has_moved ? RedirectsBehind(from) : 0;
        if (redirects > most_redirects_) return true;  // Was not followed.
        for (const std::string& link : links.links) {
          if (canonicaliser_.Canonicalise(link, &from, url) !=
                  storage::UrlOutcome::kOk ||
              filter_.Judge(url) != storage::UrlVerdict::kAllowed) {
            continue;
          }
          storage::PageKey page = storage::PageKeyOf(url);
          const std::optional<storage::SiteId> owner = view.OwnerOf(page.bytes);
          if (!owner.has_value() || !is_wanted(page, *owner)) continue;
          const auto [it, is_new] =
              batch.try_emplace(std::move(page), Sent{*owner, redirects});
          it->second.redirects = std::min(it->second.redirects, redirects);
        }
        return !stop_ && (batch.size() < kAtOnce || flush());
      });
  if (walked.ok() && status.ok() && !stop_) flush();
  return walked.ok() ? status : walked;
}

}  // namespace gannet::sites
