#include "storage/url/domain.h"

#include <libpsl.h>

#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "storage/url/ip_address.h"

namespace gannet::storage {
namespace {

// The deepest rule of the list has five labels; libpsl's time grows with their
// square, and a hostile host has thousands.
constexpr int kMaxLabels = 10;
constexpr size_t kMaxBytes = 255;

// Where the registrable domain starts in `host`, or nothing.
std::optional<size_t> AskLibpsl(std::string_view host) {
  size_t begin = host.size();
  for (int labels = 0; labels < kMaxLabels && begin > 0; ++labels) {
    const size_t dot =
        begin >= 2 ? host.rfind('.', begin - 2) : std::string_view::npos;
    begin = dot == std::string_view::npos ? 0 : dot + 1;
  }
  const std::string_view tail = host.substr(begin);
  char name[kMaxBytes + 1];
  if (tail.size() > kMaxBytes) return std::nullopt;
  std::memcpy(name, tail.data(), tail.size());
  name[tail.size()] = '\0';
  const char* found = psl_registrable_domain(psl_builtin(), name);
  if (found == nullptr) return std::nullopt;
  return begin + static_cast<size_t>(found - name);
}

// Direct-mapped, by hash of the host; the host itself is compared, so that no
// crafted name can borrow another's domain. 64 KiB a thread hold the hosts of
// the pages at hand.
struct CacheEntry {
  uint8_t length = 0;
  uint8_t domain_begin = 0;
  bool has_domain = false;
  char host[61];
};
constexpr size_t kCacheEntries = 1024;
thread_local CacheEntry cache[kCacheEntries];

std::optional<size_t> DomainBegin(std::string_view host) {
  if (host.empty() || host.size() > sizeof(CacheEntry::host)) {
    return host.empty() ? std::nullopt : AskLibpsl(host);
  }
  CacheEntry& entry =
      cache[XXH3_64bits(host.data(), host.size()) % kCacheEntries];
  if (entry.length != host.size() ||
      std::memcmp(entry.host, host.data(), host.size()) != 0) {
    const std::optional<size_t> begin = AskLibpsl(host);
    entry.length = static_cast<uint8_t>(host.size());
    entry.domain_begin = static_cast<uint8_t>(begin.value_or(0));
    entry.has_domain = begin.has_value();
    std::memcpy(entry.host, host.data(), host.size());
  }
  if (!entry.has_domain) return std::nullopt;
  return entry.domain_begin;
}

}  // namespace

std::optional<std::string_view> RegistrableDomainIfAny(std::string_view host) {
  if (IsIpHost(host)) return std::nullopt;
  const std::optional<size_t> begin = DomainBegin(host);
  if (!begin.has_value()) return std::nullopt;
  return host.substr(*begin);
}

std::string_view RegistrableDomain(std::string_view host) {
  return RegistrableDomainIfAny(host).value_or(host);
}

uint8_t DomainBucket(std::string_view registrable_domain) {
  return static_cast<uint8_t>(
      XXH3_64bits(registrable_domain.data(), registrable_domain.size()) >> 56);
}

std::string_view PublicSuffixListHash() { return psl_builtin_sha1sum(); }

}  // namespace gannet::storage
