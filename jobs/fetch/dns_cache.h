// DnsCache remembers what names resolved to until their TTL has passed, the
// lately used ones if there are too many. It knows no clock: the caller brings
// the time. Not thread-safe.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "jobs/fetch/address.h"

namespace gannet::jobs {

class DnsCache {
 public:
  using Result = absl::StatusOr<std::vector<Address>>;

  explicit DnsCache(size_t max_names) : max_names_(max_names) {}

  // Null if it is not known or no longer true. Valid until the next call.
  const Result* Find(const std::string& host, absl::Time now);
  void Put(const std::string& host, Result result, absl::Time until);
  size_t size() const { return by_name_.size(); }

 private:
  struct Entry {
    std::string host;
    Result result;
    absl::Time until;
  };

  const size_t max_names_;
  std::list<Entry> lately_used_;  // The latest first.
  absl::flat_hash_map<std::string, std::list<Entry>::iterator> by_name_;
};

}  // namespace gannet::jobs
