// Bytes for each URL that travels between sites, with its cash (aim: 20), and
// what packing and unpacking cost, by the size of the batch. The URLs are
// those that sites find for each other in a recorded crawl, in the order in
// which they are sent. For comparison, "pb" is the outbox as protobuf writes
// it, and "pb+zstd" the same compressed.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "federation/exchange/batch_codec.h"
#include "federation/exchange/zstd_frame.h"
#include "tests/bench/exchange/recorded_crawl.h"

namespace gannet::bench {
namespace {

using federation::BatchCompression;
using storage::FoundUrl;

// Enough for an accuracy of a tenth of a byte.
constexpr size_t kMostUrls = 40'000;

double CpuSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_utime.tv_sec + usage.ru_utime.tv_usec * 1e-6;
}

// The URLs that each pair of sites sends, in the order of rounds.
std::map<std::pair<int, int>, std::vector<FoundUrl>> AllSent(
    const RecordedCrawl& crawl, const CrawlShape& shape) {
  std::map<std::pair<int, int>, std::vector<FoundUrl>> sent;
  std::vector<absl::flat_hash_set<uint32_t>> known(shape.sites);
  crawl.Run(
      shape, [&](int, int from, const std::vector<RecordedCrawl::Sent>& found) {
        std::vector<bool> goes;
        for (const RecordedCrawl::Sent& url : found) {
          goes.push_back(known[from].insert(url.page).second);
          if (!goes.back()) continue;
          sent[{from, url.to}].push_back(
              {crawl.key(url.page), url.cash, url.depth, /*redirects=*/0});
        }
        return goes;
      });
  return sent;
}

std::vector<std::vector<FoundUrl>> Batches(
    const std::map<std::pair<int, int>, std::vector<FoundUrl>>& sent,
    size_t size) {
  std::vector<std::vector<FoundUrl>> batches;
  size_t urls = 0;
  for (const auto& [pair, found] : sent) {
    for (size_t i = 0; i < found.size() && urls < kMostUrls; i += size) {
      const size_t count = std::min(size, found.size() - i);
      if (count < size / 2) continue;  // The rest would be a smaller batch.
      batches.emplace_back(found.begin() + i, found.begin() + i + count);
      std::sort(
          batches.back().begin(), batches.back().end(),
          [](const FoundUrl& a, const FoundUrl& b) { return a.page < b.page; });
      urls += count;
    }
  }
  return batches;
}

std::string AsProtobuf(const std::vector<FoundUrl>& urls) {
  proto::OutboxBatch batch;
  for (const FoundUrl& url : urls) {
    proto::FoundUrl& out = *batch.add_urls();
    out.set_page(url.page.bytes);
    out.set_cash(url.cash);
    out.set_depth(url.depth);
    out.set_redirects(url.redirects);
  }
  return batch.SerializeAsString();
}

void Report(const RecordedCrawl& crawl, const CrawlShape& shape) {
  const auto sent = AllSent(crawl, shape);
  std::printf("\n%d sites%s, bytes a URL:\n%6s %7s %6s %6s %8s | %6s",
              shape.sites, shape.scattered ? ", pages scattered" : "", "batch",
              "URLs", "key", "pb", "pb+zstd", "plain");
  const std::vector<int> levels = {1, 3, 6, 9, 19};
  for (const int level : levels) std::printf("  zstd %2d", level);
  std::printf(" | us CPU a URL: plain");
  for (const int level : levels) std::printf("  zstd %2d", level);
  std::printf("  unpack\n");

  for (const size_t size : {100, 1'000, 10'000}) {
    const auto batches = Batches(sent, size);
    double urls = 0, key = 0, pb = 0, pb_zstd = 0;
    for (const std::vector<FoundUrl>& batch : batches) {
      urls += batch.size();
      for (const FoundUrl& url : batch) key += url.page.bytes.size();
      const std::string bytes = AsProtobuf(batch);
      pb += bytes.size();
      pb_zstd += federation::CompressZstd(bytes, 6).size();
    }
    if (urls == 0) continue;
    std::printf("%6zu %7.0f %6.1f %6.1f %8.1f |", size, urls, key / urls,
                pb / urls, pb_zstd / urls);
    std::vector<BatchCompression> ways = {{.zstd = false}};
    for (const int level : levels) ways.push_back({true, level});
    std::vector<double> seconds;
    for (const BatchCompression& way : ways) {
      double bytes = 0;
      const double start = CpuSeconds();
      for (const std::vector<FoundUrl>& batch : batches) {
        bytes += federation::EncodeBatch(batch, way).value().size();
      }
      seconds.push_back(CpuSeconds() - start);
      std::printf(way.zstd ? " %8.1f" : " %6.1f", bytes / urls);
    }
    std::printf(" |               ");
    for (const double s : seconds) std::printf(" %8.2f", 1e6 * s / urls);
    std::vector<std::string> packed;
    for (const std::vector<FoundUrl>& batch : batches) {
      packed.push_back(federation::EncodeBatch(batch).value());
    }
    const double start = CpuSeconds();
    double unpacked = 0;
    for (const std::string& bytes : packed) {
      unpacked += federation::DecodeBatch(bytes, {}).value().size();
    }
    std::printf(" %7.2f%s\n", 1e6 * (CpuSeconds() - start) / urls,
                unpacked == urls ? "" : " (and wrong)");
  }
}

}  // namespace
}  // namespace gannet::bench

int main() {
  return gannet::bench::OnTheRecordedWeb([](const auto& crawl) {
    gannet::bench::Report(crawl, {.sites = 3, .rounds = 50});
    gannet::bench::Report(crawl, {.sites = 3, .rounds = 50, .scattered = true});
  });
}
