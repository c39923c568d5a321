#include "storage/crawl_db/keys.h"

#include "storage/url/domain.h"
#include "storage/url/surt.h"

namespace gannet::storage {
namespace {

std::string Join(char kind, std::string_view a, std::string_view b = {}) {
  std::string key;
  key.reserve(1 + a.size() + b.size());
  key.push_back(kind);
  key.append(a);
  key.append(b);
  return key;
}

std::string BigEndian32(uint32_t value) {
  std::string bytes(4, '\0');
  for (int i = 3; i >= 0; --i, value >>= 8) bytes[i] = static_cast<char>(value);
  return bytes;
}

char Inverted(uint8_t step) { return static_cast<char>(255 - step); }

}  // namespace

PageKey MakePageKey(std::string_view domain, std::string_view surt) {
  PageKey key;
  key.bytes.reserve(1 + surt.size());
  key.bytes.push_back(static_cast<char>(DomainBucket(domain)));
  key.bytes.append(surt);
  return key;
}

PageKey PageKeyOf(const Url& url) {
  PageKey key;
  key.bytes.push_back(
      static_cast<char>(DomainBucket(RegistrableDomain(url.host()))));
  AppendSurtKey(url, key.bytes);
  return key;
}

std::string_view SurtOf(std::string_view page) {
  return page.empty() ? page : page.substr(1);
}

std::string_view HostPartOf(std::string_view page) {
  const size_t end = page.find(')', 1);
  return end == std::string_view::npos ? page : page.substr(0, end + 1);
}

bool IsPageKey(std::string_view page) {
  const size_t end = page.find(')', 1);
  return end != std::string_view::npos && end > 1 && end + 1 < page.size();
}

bool IsHostKey(std::string_view host) {
  return host.size() > 2 && host.find(')', 1) == host.size() - 1;
}

std::string BigEndian64(uint64_t value) {
  std::string bytes(8, '\0');
  for (int i = 7; i >= 0; --i, value >>= 8) bytes[i] = static_cast<char>(value);
  return bytes;
}

uint64_t ReadBigEndian64(std::string_view bytes) {
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i)
    value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

int64_t ToMillis(absl::Time time) { return absl::ToUnixMillis(time); }

namespace keys {

std::string Note(std::string_view name) { return "note/" + std::string(name); }

std::string Scope(std::string_view name) {
  return "scope/" + std::string(name);
}

std::string SentPrefix() { return "sent/"; }

std::string SentPair(SiteId destination) {
  return SentPrefix() + std::to_string(static_cast<uint32_t>(destination));
}

std::string ReceivedPrefix() { return "received/"; }

std::string ReceivedPair(SiteId from, uint64_t incarnation) {
  return ReceivedPrefix() + std::to_string(static_cast<uint32_t>(from)) + "/" +
         std::to_string(incarnation);
}

std::string ActiveFrontier(uint8_t step, std::string_view page) {
  std::string key;
  key.reserve(2 + page.size());
  key.push_back('a');
  key.push_back(Inverted(step));
  key.append(page);
  return key;
}

std::string RestingFrontier(uint8_t step, std::string_view page) {
  const std::string_view host = HostPartOf(page);
  std::string key = Join('r', host);
  key.push_back(Inverted(step));
  key.append(page.substr(host.size()));
  return key;
}

bool ParseActiveFrontier(std::string_view key, uint8_t& step,
                         std::string_view& page) {
  if (key.size() < 3 || key[0] != 'a') return false;
  step = 255 - static_cast<uint8_t>(key[1]);
  page = key.substr(2);
  return true;
}

bool ParseRestingFrontier(std::string_view key, uint8_t& step,
                          std::string& page) {
  if (key.size() < 3 || key[0] != 'r') return false;
  const std::string_view host = HostPartOf(key.substr(1));
  if (1 + host.size() >= key.size()) return false;
  step = 255 - static_cast<uint8_t>(key[1 + host.size()]);
  page.assign(host);
  page.append(key.substr(2 + host.size()));
  return true;
}

std::string RestingPrefix(std::string_view host) { return Join('r', host); }

std::string ScheduledPage(int64_t ready_ms, std::string_view page) {
  return Join('p', BigEndian64(static_cast<uint64_t>(ready_ms)), page);
}

std::string ScheduledHost(int64_t ready_ms, std::string_view host) {
  return Join('h', BigEndian64(static_cast<uint64_t>(ready_ms)), host);
}

bool ParseSchedule(std::string_view key, int64_t& ready_ms,
                   std::string_view& page_or_host) {
  if (key.size() < 10 || (key[0] != 'h' && key[0] != 'p')) return false;
  ready_ms = static_cast<int64_t>(ReadBigEndian64(key.substr(1)));
  page_or_host = key.substr(9);
  return true;
}

std::string HostInfo(std::string_view host) { return std::string(host) + 'i'; }
std::string HostPages(std::string_view host) { return std::string(host) + 'n'; }

std::string FetchList(std::string_view page) { return Join('f', page); }
std::string Outlinks(std::string_view page) { return Join('s', page); }
std::string Journal() { return "j"; }
std::string Report(uint64_t round) { return Join('r', BigEndian64(round)); }

std::string Deferred(std::string_view page) { return Join('u', page); }
std::string DeferredByCash(int64_t cash, std::string_view page) {
  return Join('c', BigEndian64(~static_cast<uint64_t>(cash)), page);
}

bool ParseDeferredByCash(std::string_view key, int64_t& cash,
                         std::string_view& page) {
  if (key.size() < 10 || key[0] != 'c') return false;
  cash = static_cast<int64_t>(~ReadBigEndian64(key.substr(1)));
  page = key.substr(9);
  return true;
}

std::string Outbox(SiteId destination, std::string_view page) {
  return Join('u', BigEndian32(static_cast<uint32_t>(destination)), page);
}
std::string Sending(SiteId destination, uint64_t sequence) {
  return Join('s', BigEndian32(static_cast<uint32_t>(destination)),
              BigEndian64(sequence));
}

std::string Gains(SiteId destination, std::string_view page) {
  return Join('g', BigEndian32(static_cast<uint32_t>(destination)), page);
}

bool ParseOutbox(std::string_view key, SiteId& destination,
                 std::string_view& rest) {
  if (key.size() < 6 || (key[0] != 'u' && key[0] != 's' && key[0] != 'g')) {
    return false;
  }
  uint32_t site = 0;
  for (int i = 1; i < 5; ++i) site = site << 8 | static_cast<uint8_t>(key[i]);
  destination = SiteId{site};
  rest = key.substr(5);
  return key[0] != 's' || rest.size() == sizeof(uint64_t);
}

}  // namespace keys
}  // namespace gannet::storage
