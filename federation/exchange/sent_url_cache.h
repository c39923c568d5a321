// SentUrlCache remembers the URLs lately sent to other sites, so that a link
// found on a thousand pages crosses the ocean once (UniCrawl, IV-B: 92 % of
// what would have been sent was found in some 3 MB).
//
// It may forget, which costs one more send. It holds fingerprints instead of
// URLs, four bytes each (fingerprint_table.h), so it may also say "sent" of a
// URL that was not: with a chance of at most 1.5e-8 per URL, one in 67 million.
// Such a URL still gets through later, because fingerprints are salted, and
// salts are renewed: Renew() replaces the salt of one sixteenth of all URLs, in
// turn, so that after sixteen calls every URL has been asked about with another
// salt. (One salt for all, renewed at once, would forget everything each time,
// and every URL would be sent again on that day.) Called once a day, a URL is
// falsely kept back for sixteen days at most. Salts come from the caller, who
// draws them at random and keeps them secret: an attacker who wants one link to
// hide another would have to guess them. (XXH3 is fast, not cryptographic; the
// prize is one URL that this site sends some days later.)
//
// A URL enters only by Remember(), which is called when the write that put it
// into the outbox is committed; and a snapshot is stored no earlier than that
// write. A snapshot that is older than the DB is harmless, but for one thing:
// after Clear() the next snapshot must be stored before what caused it counts
// as done, else a restart would bring back the cleared site's URLs.
//
// Memory: `bytes`, and some 16 more for each site that was ever cleared.
// Not thread-safe, but for counts(), and not even two Contains(): update asks
// from one thread, and may some millions of times a second.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "federation/exchange/fingerprint_table.h"
#include "storage/crawl_db/keys.h"

namespace gannet::federation {

class SentUrlCache {
 public:
  static constexpr size_t kSalts = 16;

  // Empty. `salt` is a random number; all first salts are made from it.
  SentUrlCache(size_t bytes, uint64_t salt);

  // Whether the page was lately sent to that site. A page sent to one site is
  // not known as sent to another.
  bool Contains(storage::SiteId destination, const storage::PageKey& page);
  // REQUIRES: the page is in the outbox for that site, committed.
  void Remember(storage::SiteId destination, const storage::PageKey& page);

  // Since it was made: how often Contains() was asked, and said yes.
  struct Counts {
    uint64_t lookups = 0, hits = 0;
  };
  Counts counts() const { return {lookups_, hits_}; }

  // Forgets all that was sent to the site, at once: it lost what it had. What
  // it leaves behind in memory is overwritten in time.
  void Clear(storage::SiteId destination);
  // The next sixteenth of all URLs gets this salt, and is forgotten.
  void Renew(uint64_t salt);

  // The cache as bytes, to be kept in the crawl DB.
  std::string Snapshot() const;
  // Restores the snapshot. If that cannot be done (damaged, of another version,
  // or of a cache with another number of bytes), the cache is empty afterwards,
  // as good as new, and the status says why: kDataLoss or kFailedPrecondition.
  // Never a reason to stop.
  absl::Status Restore(std::string_view snapshot);

 private:
  void Empty();
  uint64_t HashOf(storage::SiteId destination,
                  const storage::PageKey& page) const;

  FingerprintTable table_;
  std::atomic<uint64_t> lookups_ = 0, hits_ = 0;
  uint64_t first_salt_;
  std::array<uint64_t, kSalts> salts_;
  uint32_t next_salt_ = 0;
  // How often a site was cleared, if ever: part of the hash, so that what was
  // remembered before is not found any more.
  std::map<storage::SiteId, uint32_t> cleared_;
};

}  // namespace gannet::federation
