// Committer writes what became of pages to the site's store, many at a time:
// one sync of the archive and one of the crawl DB for a whole group (DESIGN,
// section 5). A page counts as done only when its group is on the disk; what is
// not is fetched again after a crash, so a group is kept small and young.
//
// Thread-safe. It has a thread of its own.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "storage/mutex.h"
#include "storage/site_store/site_store.h"

namespace gannet::jobs {

struct CommitSettings {
  // A group is written when it has so many pages, or is so old.
  size_t pages = 512;
  size_t links = 200'000;  // Outlinks of all of its pages.
  absl::Duration age = absl::Milliseconds(200);
};

class Committer {
 public:
  // Called, from the committer's thread, when a group was written (its pages)
  // or could not be (then Finish() tells why). `store` must outlive this.
  using Written =
      std::function<void(const std::vector<storage::Completion>& group)>;
  Committer(storage::SiteStore* store, CommitSettings settings,
            Written written);
  ~Committer();

  void Complete(storage::Completion completion) ABSL_LOCKS_EXCLUDED(mu_);
  // Back to the frontier, unfetched.
  void Release(std::vector<storage::PageKey> pages) ABSL_LOCKS_EXCLUDED(mu_);
  // The newest state of a host, written with the next group: so with or before
  // any page that is completed later.
  void Update(storage::HostUpdate host) ABSL_LOCKS_EXCLUDED(mu_);

  // Writes all that is left and ends the thread. The first error, if any; after
  // an error nothing more is written.
  absl::Status Finish() ABSL_LOCKS_EXCLUDED(mu_);
  bool failed() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Group {
    std::vector<storage::Completion> completions;
    size_t links = 0;
    std::vector<storage::PageKey> released;
    std::map<std::string, proto::HostRecord> hosts;  // By key.
    bool empty() const {
      return completions.empty() && released.empty() && hosts.empty();
    }
  };

  void Run();
  absl::Status Write(Group& group);
  void Touch() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsFull() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return next_.completions.size() >= settings_.pages ||
           next_.links >= settings_.links;
  }

  storage::SiteStore* const store_;
  const CommitSettings settings_;
  const Written written_;

  mutable storage::Mutex mu_;
  storage::Condition changed_;
  Group next_ ABSL_GUARDED_BY(mu_);
  absl::Time oldest_ ABSL_GUARDED_BY(mu_) = absl::InfiniteFuture();
  bool finishing_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
};

}  // namespace gannet::jobs
