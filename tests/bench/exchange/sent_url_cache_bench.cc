// How many of the URLs that a site finds for others the sent-URL cache keeps
// back, by the cache's size, over 50 rounds of a recorded web (aim: 92 % in
// 3 MB, as UniCrawl measured); and how fast it answers.
//
// There are two rates, because "hit" can mean two things. Per *link*: of all
// links to pages of other sites, how many need not be sent, including those
// that a round finds several times. Per *look-up*: update sums a round's links
// first and asks once for each URL, so the easy hits never reach the cache.
// `endless` is what a cache that never forgets would reach: it misses only URLs
// that were never sent before.
#include <sys/resource.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "federation/exchange/sent_url_cache.h"
#include "tests/bench/exchange/recorded_crawl.h"

namespace gannet::bench {
namespace {

using Sent = RecordedCrawl::Sent;

double CpuSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_utime.tv_sec + usage.ru_utime.tv_usec * 1e-6;
}

struct Counts {
  int64_t links = 0;
  int64_t lookups = 0;
  int64_t hits = 0;
  double cpu_seconds = 0;

  double PerLink() const {
    return 1 - static_cast<double>(lookups - hits) / links;
  }
  double PerLookup() const { return static_cast<double>(hits) / lookups; }
};

// What each site finds in each round.
struct Trace {
  int sites = 0;
  std::vector<std::vector<Sent>> batches;
};

Trace Record(const RecordedCrawl& crawl, const CrawlShape& shape,
             Counts& endless) {
  Trace trace{.sites = shape.sites, .batches = {}};
  std::vector<absl::flat_hash_set<uint32_t>> known(shape.sites);
  crawl.Run(shape, [&](int, int from, const std::vector<Sent>& found) {
    trace.batches.push_back(found);
    std::vector<bool> goes;
    for (const Sent& url : found) {
      endless.links += url.links;
      ++endless.lookups;
      goes.push_back(known[from].insert(url.page).second);
      endless.hits += !goes.back();
    }
    return goes;
  });
  return trace;
}

Counts Replay(const RecordedCrawl& crawl, const Trace& trace, size_t bytes,
              int renewals) {
  std::vector<std::unique_ptr<federation::SentUrlCache>> caches;
  for (int i = 0; i < trace.sites; ++i) {
    caches.push_back(std::make_unique<federation::SentUrlCache>(bytes, i));
  }
  Counts counts;
  uint64_t salt = 1000;
  const size_t renew_every =
      renewals == 0 ? 0 : trace.batches.size() / renewals;
  const double start = CpuSeconds();
  for (size_t i = 0; i < trace.batches.size(); ++i) {
    if (renew_every > 0 && i % renew_every == renew_every - 1) {
      for (auto& cache : caches) cache->Renew(++salt);
    }
    std::vector<const Sent*> misses;
    for (const Sent& url : trace.batches[i]) {
      counts.links += url.links;
      ++counts.lookups;
      const storage::SiteId to{static_cast<uint32_t>(url.to)};
      if (caches[url.from]->Contains(to, crawl.key(url.page))) {
        ++counts.hits;
      } else {
        misses.push_back(&url);
      }
    }
    // Remembered only after the whole batch, as after its commit.
    for (const Sent* url : misses) {
      caches[url->from]->Remember(
          storage::SiteId{static_cast<uint32_t>(url->to)},
          crawl.key(url->page));
    }
  }
  counts.cpu_seconds = CpuSeconds() - start;
  return counts;
}

void Report(const RecordedCrawl& crawl, const CrawlShape& shape) {
  Counts endless;
  const Trace trace = Record(crawl, shape, endless);
  std::printf(
      "\n%d sites, %d rounds, %.0f %% of the fetches are recrawls%s: %.2f M "
      "links to other sites, %.2f M look-ups, %lld URLs sent by a cache "
      "without end\n",
      shape.sites, shape.rounds, 100 * shape.recrawl,
      shape.scattered ? ", pages scattered" : "", endless.links / 1e6,
      endless.lookups / 1e6,
      static_cast<long long>(endless.lookups - endless.hits));
  std::printf("%10s %12s %14s %16s\n", "cache", "hits/links", "hits/look-ups",
              "look-ups/s CPU");
  for (const size_t kib : {16, 64, 128, 256, 512, 1024, 3072}) {
    const Counts counts = Replay(crawl, trace, kib << 10, 0);
    std::printf("%6zu KiB %10.1f %% %12.1f %% %14.1f M\n", kib,
                100 * counts.PerLink(), 100 * counts.PerLookup(),
                counts.lookups / counts.cpu_seconds / 1e6);
  }
  const Counts renewed = Replay(crawl, trace, 3 << 20, 16);
  std::printf("%10s %10.1f %% %12.1f %%   (3 MiB, every salt renewed once)\n",
              "renewed", 100 * renewed.PerLink(), 100 * renewed.PerLookup());
  std::printf("%10s %10.1f %% %12.1f %%\n", "endless", 100 * endless.PerLink(),
              100 * endless.PerLookup());
}

// Look-ups alone, of pages that are in the cache and, in the first pass, are
// not.
void ReportSpeed(const RecordedCrawl& crawl) {
  federation::SentUrlCache cache(3 << 20, 1);
  const storage::SiteId to{1};
  int64_t found = 0;
  for (const bool there : {false, true}) {
    constexpr int kPasses = 10;
    const double start = CpuSeconds();
    for (int pass = 0; pass < kPasses; ++pass) {
      for (uint32_t page = 0; page < crawl.pages(); ++page) {
        found += cache.Contains(to, crawl.key(page));
      }
    }
    const double seconds = CpuSeconds() - start;
    std::printf("look-ups of pages %s: %.1f M/s CPU\n",
                there ? "sent" : "not sent",
                kPasses * crawl.pages() / seconds / 1e6);
    for (uint32_t page = 0; page < crawl.pages(); ++page) {
      cache.Remember(to, crawl.key(page));
    }
  }
  const double start = CpuSeconds();
  const std::string snapshot = cache.Snapshot();
  const bool ok = cache.Restore(snapshot).ok();
  std::printf("snapshot of %zu bytes made and restored (%s): %.0f ms CPU\n",
              snapshot.size(), ok ? "ok" : "failed",
              1e3 * (CpuSeconds() - start));
  std::printf("%lld found\n", static_cast<long long>(found));
}

}  // namespace
}  // namespace gannet::bench

int main() {
  using namespace gannet::bench;  // NOLINT
  return OnTheRecordedWeb([](const RecordedCrawl& crawl) {
    std::printf("%u pages, %.2f M links\n", crawl.pages(), crawl.links() / 1e6);
    ReportSpeed(crawl);
    Report(crawl, {.sites = 3, .rounds = 50});
    Report(crawl, {.sites = 3, .rounds = 50, .recrawl = 0.5});
    Report(crawl, {.sites = 20, .rounds = 50});
    // UniCrawl's width: 400 pages per round for all sites together.
    Report(crawl, {.sites = 3, .rounds = 800});
    Report(crawl, {.sites = 3, .rounds = 50, .scattered = true});
    Report(crawl,
           {.sites = 3, .rounds = 50, .recrawl = 0.5, .scattered = true});
  });
}
