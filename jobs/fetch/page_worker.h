// PageWorker turns an answer into a completion: it judges the answer, reads the
// page, writes it to the archive, and says what the crawl DB is to remember and
// when the page is to be looked at again. All that costs CPU time happens here,
// in as many threads as the site has; each has its own worker.
//
// Not thread-safe; the store is shared.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "jobs/fetch/outcome.h"
#include "jobs/fetch/page_task.h"
#include "jobs/parse/page_parser.h"
#include "storage/site_store/site_store.h"
#include "storage/url/canonical.h"
#include "storage/url/filter.h"

namespace gannet::jobs {

struct PageSettings {
  ParseSettings parse;
  const storage::Canonicaliser* canonicaliser = nullptr;
  const storage::UrlFilter* filter = nullptr;
  // Answers that are not HTML are read to the end either way.
  bool archive_other_types = true;
  uint32_t max_redirects = 10;  // In a row.
  uint32_t max_retries = 3;     // After the first failure.
  // The first wait before a failed page is tried again; doubles each time.
  absl::Duration retry_delay = absl::Minutes(1);
  absl::Duration max_retry_delay = absl::Hours(24);
  // When a fetched or moved page is looked at again; infinite: never.
  absl::Duration recrawl_interval = absl::Hours(24 * 30);
};

class PageWorker {
 public:
  // `seed` is of the jitter in waits.
  PageWorker(PageSettings settings, storage::SiteStore* store, uint64_t seed);

  // Fails only if the archive does (a full disk).
  absl::StatusOr<storage::Completion> Complete(Answer answer);

  // A page that was not asked for: robots.txt forbids it until then.
  static storage::Completion Blocked(const PageTask& task,
                                     std::string_view reason, absl::Time now,
                                     absl::Time until);

 private:
  // As it is now: seeds may come while the round runs.
  std::shared_ptr<const storage::Scope> Scope() const {
    return store_->crawl_db().scopes().scope();
  }
  bool IsWanted(const storage::Url& url, const storage::Scope& scope,
                uint32_t depth) const;
  absl::Status Read(const Answer& answer, storage::Completion& completion);
  void Follow(const Answer& answer, const std::string& location,
              storage::Completion& completion);
  absl::Status KeepUnchanged(const Answer& answer,
                             storage::Completion& completion);
  void Fail(const Answer& answer, std::string_view kind, std::string reason,
            bool try_again, absl::Duration at_least,
            storage::Completion& completion);
  // Of the metadata record. The parser's texts hold no line ends.
  void AppendField(std::string_view name, std::string_view value);
  absl::Status Archive(const Answer& answer, storage::Completion& completion,
                       const ParsedPage* page, std::string_view digest);

  const PageSettings settings_;
  storage::SiteStore* const store_;
  PageParser parser_;
  std::mt19937_64 random_;
  std::string metadata_;
};

}  // namespace gannet::jobs
