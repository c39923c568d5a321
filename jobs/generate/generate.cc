#include "jobs/generate/generate.h"

#include <optional>
#include <utility>
#include <vector>

#include "federation/ownership/ownership.h"

namespace gannet::jobs {
namespace {

// Lets deferred URLs in; those of another site go to its outbox.
absl::Status LetIn(storage::CrawlDb& crawl_db, const GenerateSettings& settings,
                   absl::Time now, std::vector<storage::FoundUrl> waiting) {
  std::vector<storage::PageKey> here;
  std::vector<std::pair<storage::SiteId, storage::PageKey>> elsewhere;
  for (storage::FoundUrl& url : waiting) {
    std::optional<storage::SiteId> owner;
    if (settings.map != nullptr) {
      const federation::Ownership ownership(*settings.map);
      if (!ownership.IsMine(url.page.bytes)) {
        owner = ownership.OwnerOf(url.page.bytes);
      }
    }
    if (owner.has_value()) {
      elsewhere.emplace_back(*owner, std::move(url.page));
    } else {
      here.push_back(std::move(url.page));
    }
  }
  if (!elsewhere.empty()) {
    if (absl::Status s = crawl_db.waiting().SendDeferred(elsewhere); !s.ok())
      return s;
  }
  if (here.empty()) return absl::OkStatus();
  return crawl_db.waiting()
      .Undefer(here, {.now = now}, settings.max_pages_per_host)
      .status();
}

}  // namespace

absl::StatusOr<bool> HasWork(storage::CrawlDb& crawl_db,
                             const GenerateSettings& settings, absl::Time now) {
  absl::StatusOr<int64_t> woken =
      crawl_db.frontier().WakeDue(now, static_cast<int64_t>(settings.width),
                                  static_cast<int64_t>(settings.per_host));
  if (!woken.ok()) return woken.status();
  for (;;) {
    absl::StatusOr<storage::Selection> top =
        crawl_db.frontier().Top(1, 1, settings.may_crawl);
    if (!top.ok()) return top.status();
    if (!top->pages.empty()) return true;
    absl::StatusOr<std::vector<storage::FoundUrl>> waiting =
        crawl_db.waiting().TopDeferred(settings.width);
    if (!waiting.ok()) return waiting.status();
    if (waiting->empty()) {
      // What is left in the frontier waits for hosts to wake. It is put aside,
      // so that NextDue sees it and the next look need not step over it.
      top = crawl_db.frontier().Top(settings.width, settings.per_host,
                                    settings.may_crawl);
      if (!top.ok()) return top.status();
      if (top->pages.empty() && top->resting.empty()) {
        // Other sites may have work: what their pages have gained need not
        // wait.
        absl::StatusOr<int64_t> released = crawl_db.waiting().ReleaseGains();
        if (!released.ok()) return released.status();
        return false;
      }
      if (absl::Status s = crawl_db.frontier().PutAside(*top); !s.ok())
        return s;
      continue;
    }
    if (absl::Status s = LetIn(crawl_db, settings, now, *std::move(waiting));
        !s.ok()) {
      return s;
    }
    // Each turn takes some of the deferred URLs. All of them may turn out to be
    // no work: known, blocked, another site's, or of full or resting hosts.
  }
}

absl::StatusOr<int64_t> Generate(storage::CrawlDb& crawl_db,
                                 const GenerateSettings& settings) {
  if (!crawl_db.round().journal().root_has_paid()) {
    const auto claimed = static_cast<size_t>(crawl_db.totals().round_pages);
    if (claimed < settings.width) {
      absl::StatusOr<storage::Selection> best = crawl_db.frontier().Top(
          settings.width - claimed, settings.per_host, settings.may_crawl);
      if (!best.ok()) return best.status();
      absl::StatusOr<int64_t> taken = crawl_db.frontier().Claim(*best);
      if (!taken.ok()) return taken.status();
    }
    if (absl::Status status = crawl_db.round().PayRoot(); !status.ok())
      return status;
  }
  // Beyond this point the fetch list never grows.
  return crawl_db.totals().round_pages;
}

}  // namespace gannet::jobs
