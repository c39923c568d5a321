// Keys of the crawl DB: ordered bytes, laid out so that each column reads in
// the order in which a job wants it. Stored on disk: never change a layout
// without a new format number (data_folder.h).
//
//   page     bucket, SURT URL            "\x8f" "com,example,www,)https/a?b"
//   host     its pages' common prefix    "\x8f" "com,example,www,)"
//   frontier 'a', 255 - step, page       best score first, a host's pages
//   together
//            'r', host, 255 - step, rest of the page key: a resting host's
//            pages
//   schedule 'h' time (8 bytes, big-endian), host; 'p' time, page
//   hosts    host, 'i' info or 'n' number of its pages
//   rounds   'f' page: still to fetch; 's' page: its outlinks; 'j' the journal;
//            'r' number: a round's report
//   deferred 'u' page; 'c' ~cash, page: the index by cash
//   outbox   'u' destination, page; 's' destination, sequence: being sent;
//            'g' destination, page: what a page that was sent has gained since
//
// The bucket is a small hash of the registrable domain: a domain is one key
// range, and neighbouring domains do not pile up in one bucket.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "storage/url/url.h"

namespace gannet::storage {

enum class SiteId : uint32_t {};

struct HostKey {
  std::string bytes;
  auto operator<=>(const HostKey&) const = default;
};

struct PageKey {
  std::string bytes;
  auto operator<=>(const PageKey&) const = default;
};

// REQUIRES: `url` is canonical.
PageKey PageKeyOf(const Url& url);
// REQUIRES: `surt` is a SURT key of storage/url, of a host in `domain`.
PageKey MakePageKey(std::string_view domain, std::string_view surt);

// The URL's SURT key.
std::string_view SurtOf(std::string_view page);
inline uint8_t BucketOf(std::string_view page) {
  return page.empty() ? 0 : static_cast<uint8_t>(page[0]);
}
// The host's key is the page key up to its ')' (a host's own is escaped).
// Returns all of `page` if it has none: no page key of ours.
std::string_view HostPartOf(std::string_view page);

// Whether it is a valid key. What other sites send is checked with these before
// it is stored: one row that cannot be parsed would hide all behind it.
bool IsPageKey(std::string_view page);
bool IsHostKey(std::string_view host);

std::string BigEndian64(uint64_t value);
uint64_t ReadBigEndian64(std::string_view bytes);
int64_t ToMillis(absl::Time time);

// Each returns the row's key; the Parse functions give back what a row's key
// was made of, as views into it, and false if it is no such key.
namespace keys {

// Rows of `meta`.
inline constexpr char kTotals[] = "totals";
inline constexpr char kArchive[] = "archive";
inline constexpr char kIdentity[] = "identity";
inline constexpr char kVerified[] = "verified";
inline constexpr char kBlockList[] = "blocked";
inline constexpr char kOrder[] = "order";
std::string Note(std::string_view name);
std::string Scope(std::string_view name);
std::string SentPrefix();
std::string SentPair(SiteId destination);
std::string ReceivedPrefix();
std::string ReceivedPair(SiteId from, uint64_t incarnation);

std::string ActiveFrontier(uint8_t step, std::string_view page);
std::string RestingFrontier(uint8_t step, std::string_view page);
bool ParseActiveFrontier(std::string_view key, uint8_t& step,
                         std::string_view& page);
bool ParseRestingFrontier(std::string_view key, uint8_t& step,
                          std::string& page);
// Where the resting pages of a host begin.
std::string RestingPrefix(std::string_view host);

std::string ScheduledPage(int64_t ready_ms, std::string_view page);
std::string ScheduledHost(int64_t ready_ms, std::string_view host);
bool ParseSchedule(std::string_view key, int64_t& ready_ms,
                   std::string_view& page_or_host);

std::string HostInfo(std::string_view host);
std::string HostPages(std::string_view host);

std::string FetchList(std::string_view page);
std::string Outlinks(std::string_view page);
std::string Journal();
std::string Report(uint64_t round);

std::string Deferred(std::string_view page);
std::string DeferredByCash(int64_t cash, std::string_view page);
bool ParseDeferredByCash(std::string_view key, int64_t& cash,
                         std::string_view& page);

std::string Outbox(SiteId destination, std::string_view page);
std::string Sending(SiteId destination, uint64_t sequence);
std::string Gains(SiteId destination, std::string_view page);
// Of all kinds of row; `rest` is the page, or the sequence number's eight
// bytes.
bool ParseOutbox(std::string_view key, SiteId& destination,
                 std::string_view& rest);

}  // namespace keys
}  // namespace gannet::storage
