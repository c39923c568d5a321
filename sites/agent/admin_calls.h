// AdminCalls counts the calls of the admin API, by method, for metrics. The
// methods are those of proto/admin.proto and no others, so that a caller cannot
// add labels. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "storage/mutex.h"

namespace gannet::sites {

class AdminCalls {
 public:
  struct Counts {
    int64_t requests = 0;
    int64_t failures = 0;
  };

  AdminCalls();

  // `method` is "GetStatus".
  void Count(std::string_view method, bool failed) ABSL_LOCKS_EXCLUDED(mu_);
  // All methods, also those that nobody has called.
  std::map<std::string, Counts> counts() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  mutable storage::Mutex mu_;
  std::map<std::string, Counts, std::less<>> counts_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gannet::sites
