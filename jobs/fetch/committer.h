// Committer writes what became of pages to the site's store, many at a time:
// one sync of the archive and one of the crawl DB for a whole group (DESIGN,
// section 5). A page counts as done only when its group is on the disk; what is
// not is fetched again after a crash, so a group is kept small and young.
//
// Thread-safe. It has a thread of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "storage/clock.h"
#include "storage/mutex.h"
#include "storage/site_store/site_store.h"

namespace gannet::jobs {

struct CommitSettings {
  // A group is written when it has so many pages, or bytes in memory (links of
  // pages, rules of hosts), or is so old.
  size_t pages = 512;
  size_t bytes = 24 << 20;
  absl::Duration age = absl::Milliseconds(200);
};

class Committer {
 public:
  // Called, from the committer's thread, when a group of so many pages was
  // written or could not be (then Finish() tells why). `store` and `clock` must
  // outlive this.
  using Written = std::function<void(size_t pages)>;
  Committer(storage::SiteStore* store, CommitSettings settings,
            storage::Clock& clock, Written written);
  ~Committer();

  void Complete(storage::Completion completion) ABSL_LOCKS_EXCLUDED(mu_);
  // Back to the frontier, unfetched.
  void Release(std::vector<storage::PageKey> pages) ABSL_LOCKS_EXCLUDED(mu_);
  // The newest state of a host, written with the next group: so with or before
  // any page that is completed later.
  // Returns the number of that group.
  uint64_t Update(storage::HostUpdate host) ABSL_LOCKS_EXCLUDED(mu_);

  // All groups with smaller numbers were written.
  uint64_t next_to_write() const { return next_to_write_; }
  // About how many bytes wait to be written.
  size_t bytes() const { return bytes_; }
  // Waits while more bytes than one group holds wait to be written. Only
  // callers that add a lot need it.
  void WaitForRoom() ABSL_LOCKS_EXCLUDED(mu_);

  // Writes all that is left and ends the thread. The first error, if any; after
  // an error nothing more is written.
  absl::Status Finish() ABSL_LOCKS_EXCLUDED(mu_);
  bool failed() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Group {
    std::vector<storage::Completion> completions;
    size_t bytes = 0;
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
           next_.bytes >= settings_.bytes;
  }

  storage::SiteStore* const store_;
  const CommitSettings settings_;
  storage::Clock& clock_;
  const Written written_;

  mutable storage::Mutex mu_;
  storage::Condition changed_;
  storage::Condition taken_;  // The committer has taken a group.
  Group next_ ABSL_GUARDED_BY(mu_);
  absl::Time oldest_ ABSL_GUARDED_BY(mu_) = absl::InfiniteFuture();
  bool finishing_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mu_);
  uint64_t number_ ABSL_GUARDED_BY(mu_) = 0;  // Of the group in `next_`.
  std::atomic<uint64_t> next_to_write_ = 0;
  std::atomic<size_t> bytes_ = 0;
  std::thread thread_;
};

}  // namespace gannet::jobs
