#include "storage/crawl_db/rests.h"

#include "storage/crawl_db/hash128.h"

namespace gannet::storage {

void Rests::Begin(std::string_view host, int64_t until_ms) {
  const absl::uint128 hash = Hash128(host);
  MutexLock lock(&mu_);
  const auto [rest, is_new] = rests_.try_emplace(hash);
  if (is_new) ++count_;
  if (rest->second.has_pages_aside) {
    by_end_.erase({rest->second.until_ms, hash});
    by_end_.emplace(until_ms, hash);
  }
  rest->second.until_ms = until_ms;
}

void Rests::End(std::string_view host) {
  const absl::uint128 hash = Hash128(host);
  MutexLock lock(&mu_);
  const auto rest = rests_.find(hash);
  if (rest == rests_.end()) return;
  by_end_.erase({rest->second.until_ms, hash});
  rests_.erase(rest);
  --count_;
}

void Rests::NotePagesAside(std::string_view host) {
  const absl::uint128 hash = Hash128(host);
  MutexLock lock(&mu_);
  const auto rest = rests_.find(hash);
  if (rest == rests_.end() || rest->second.has_pages_aside) return;
  rest->second.has_pages_aside = true;
  by_end_.emplace(rest->second.until_ms, hash);
}

bool Rests::IsResting(std::string_view host) const {
  if (!any()) return false;
  MutexLock lock(&mu_);
  const auto rest = rests_.find(Hash128(host));
  return rest != rests_.end() && rest->second.until_ms != kWakingMs;
}

bool Rests::MayHavePagesAside(std::string_view host) const {
  if (!any()) return false;
  MutexLock lock(&mu_);
  return rests_.contains(Hash128(host));
}

std::optional<int64_t> Rests::NextWithPagesAside() const {
  MutexLock lock(&mu_);
  if (by_end_.empty()) return std::nullopt;
  return by_end_.begin()->first;
}

}  // namespace gannet::storage
