#include "jobs/fetch/dns_cache.h"

#include <utility>

namespace gannet::jobs {

const DnsCache::Result* DnsCache::Find(const std::string& host,
                                       absl::Time now) {
  const auto it = by_name_.find(host);
  if (it == by_name_.end()) return nullptr;
  if (it->second->until <= now) {
    lately_used_.erase(it->second);
    by_name_.erase(it);
    return nullptr;
  }
  lately_used_.splice(lately_used_.begin(), lately_used_, it->second);
  return &it->second->result;
}

void DnsCache::Put(const std::string& host, Result result, absl::Time until) {
  if (max_names_ == 0) return;
  const auto it = by_name_.find(host);
  if (it != by_name_.end()) {
    lately_used_.erase(it->second);
    by_name_.erase(it);
  } else if (by_name_.size() >= max_names_) {
    by_name_.erase(lately_used_.back().host);
    lately_used_.pop_back();
  }
  lately_used_.push_front({host, std::move(result), until});
  by_name_.emplace(host, lately_used_.begin());
}

}  // namespace gannet::jobs
