// What the crawl DB's verbs cost as it grows: PutIfAbsent of batches, half of
// them known, and Top at width 20,000 after 20 rounds of churn.
//
//   crawl_db_bench [--sizes 100000,1000000,10000000]
//
// The web has some 100 pages per host whatever its size (so that ten times the
// pages have ten times the hosts), hosts of power-law size, and cash spread
// over many steps. Churn: each round wakes what is due, takes the top 20,000,
// completes them with ten outlinks each to random known pages, and settles
// those. Times are medians (for Top, the least); the ratios at the end are what
// matters.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <sstream>

#include "storage/crawl_db/crawl_db.h"
#include "tests/temporary_folder.h"

namespace gannet::storage {
namespace {

constexpr size_t kWidth = 20'000;
constexpr size_t kPerHost = 200;
constexpr int kRounds = 20;
constexpr size_t kBatch = 10'000;

template <typename T>
T Must(absl::StatusOr<T> value) {
  if (!value.ok()) {
    fmt::print(stderr, "{}\n", value.status().ToString());
    exit(1);
  }
  return *std::move(value);
}

void Must(const absl::Status& status) {
  if (status.ok()) return;
  fmt::print(stderr, "{}\n", status.ToString());
  exit(1);
}

double Seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// SplitMix64's finaliser: cheap, unlike seeding a generator for each page.
uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

class Web {
 public:
  explicit Web(int64_t pages) : hosts_(std::max<int64_t>(1, pages / 100)) {}

  // Page `i` has the same host every time; host sizes follow a power law.
  PageKey Page(int64_t i) const {
    const uint64_t mixed = Mix(static_cast<uint64_t>(i));
    const double u = static_cast<double>(mixed >> 11) * 0x1p-53;
    const auto host = static_cast<int64_t>(u * u * static_cast<double>(hosts_));
    const std::string domain = fmt::format("site{}.example", host / 2);
    return MakePageKey(
        domain, fmt::format("example,site{},{},)https/articles/{}/{:x}-of-{}",
                            host / 2, host % 2 ? "www" : "blog", 2000 + i % 25,
                            Mix(mixed) & 0xffffff, i));
  }

 private:
  int64_t hosts_;
};

int64_t DrawCash(std::mt19937_64& random) {
  return int64_t{1} << (10 + random() % 22) | (random() & 0x3ff);
}

struct Figures {
  int64_t pages = 0;
  double put_per_second = 0;
  double top_seconds = 0;
  double claim_seconds = 0;
  double settle_seconds = 0;
};

class Bench {
 public:
  Bench(const std::string& folder, int64_t pages)
      : web_(pages), pages_(pages), random_(pages) {
    db_ = Must(CrawlDb::Open({.folder = folder}));
  }

  Figures Run() {
    Figures figures{.pages = pages_};
    Fill();
    figures.put_per_second = PutHalfKnown();
    std::vector<double> claims, settles;
    for (int i = 0; i < kRounds; ++i) Round(claims, settles);
    std::vector<double> tops;
    Must(db_->frontier().WakeDue(now_ + absl::Hours(1), 3 * kWidth, kPerHost));
    for (int i = 0; i < 25; ++i) {
      tops.push_back(Seconds([&] {
        const Selection selection = Must(db_->frontier().Top(kWidth, kPerHost));
        if (selection.pages.size() != kWidth) {
          fmt::print(stderr, "Top found only {} pages\n",
                     selection.pages.size());
          exit(1);
        }
      }));
    }
    // The least, because other programs, and compactions after the rounds
    // before, easily double ten milliseconds, but nothing makes them fewer.
    figures.top_seconds = *std::min_element(tops.begin(), tops.end());
    figures.claim_seconds = Median(claims);
    figures.settle_seconds = Median(settles);
    return figures;
  }

 private:
  void Fill() {
    std::vector<FoundUrl> batch;
    for (int64_t i = 0; i < pages_; ++i) {
      batch.push_back({web_.Page(i), DrawCash(random_), 1, 0});
      if (batch.size() == kBatch || i + 1 == pages_) {
        Must(db_->incoming().PutIfAbsent(batch, {now_}));
        batch.clear();
      }
    }
  }

  // URLs per second. The new ones are so few that the DB's size hardly changes.
  double PutHalfKnown() {
    std::vector<double> rates;
    int64_t next = pages_;
    for (int i = 0; i < 11; ++i) {
      std::vector<FoundUrl> batch;
      for (size_t j = 0; j < kBatch / 2; ++j) {
        batch.push_back({web_.Page(random_() % pages_), 1000, 1, 0});
        batch.push_back({web_.Page(next++), 1000, 1, 0});
      }
      rates.push_back(kBatch / Seconds([&] {
                        Must(db_->incoming().PutIfAbsent(batch, {now_}));
                      }));
    }
    return Median(rates);
  }

  void Round(std::vector<double>& claims, std::vector<double>& settles) {
    now_ += absl::Minutes(10);
    Must(db_->frontier().WakeDue(now_, kWidth, kPerHost));
    Must(db_->round().Open(now_));
    const Selection selection = Must(db_->frontier().Top(kWidth, kPerHost));
    claims.push_back(Seconds([&] { Must(db_->frontier().Claim(selection)); }));
    Must(db_->round().PayRoot());
    Must(db_->round().SetPhase(proto::FETCH));
    std::vector<Completion> completions;
    for (size_t i = 0; i < selection.pages.size(); ++i) {
      Completion& completion = completions.emplace_back();
      completion.page = selection.pages[i].page;
      completion.outcome.set_state(proto::FETCHED);
      completion.outcome.set_visited_ms(absl::ToUnixMillis(now_));
      completion.outcome.set_payload_digest(std::string(20, 'd'));
      completion.ready = now_ + absl::Minutes(1 + random_() % 30);
      completion.keeps_history = true;
      for (int j = 0; j < 10; ++j) {
        completion.outlinks.push_back(web_.Page(random_() % pages_));
      }
      std::sort(completion.outlinks.begin(), completion.outlinks.end());
      completion.outlinks.erase(
          std::unique(completion.outlinks.begin(), completion.outlinks.end()),
          completion.outlinks.end());
      if (completions.size() == 1000 || i + 1 == selection.pages.size()) {
        Must(db_->round().Complete(completions, {}, {}));
        completions.clear();
      }
    }
    Must(db_->round().SetPhase(proto::UPDATE));
    settles.push_back(Seconds([&] { Update(); }));
    Must(db_->round().Close("{}"));
  }

  void Update() {
    std::map<std::string, int64_t> sums;
    Must(db_->round().ForEachOutlinks(
        [&](std::string_view, const proto::OutlinkSegment& segment) {
          for (const std::string& target : segment.targets()) {
            sums[target] += segment.cash_each();
          }
        }));
    Settlement settlement;
    for (auto it = sums.begin(); it != sums.end();) {
      settlement.cursor = it->first;
      settlement.local.push_back({PageKey{it->first}, it->second, 2, 0});
      if (++it == sums.end() || settlement.local.size() == kBatch) {
        Must(db_->round().Settle(settlement, {now_, now_ + absl::Hours(1)}));
        settlement = {};
      }
    }
  }

  Web web_;
  int64_t pages_;
  std::mt19937_64 random_;
  absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
  std::unique_ptr<CrawlDb> db_;
};

int Main(int argc, char** argv) {
  std::vector<int64_t> sizes = {100'000, 1'000'000, 10'000'000};
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) != "--sizes") continue;
    sizes.clear();
    std::stringstream list(argv[i + 1]);
    for (std::string size; std::getline(list, size, ',');) {
      sizes.push_back(std::stoll(size));
    }
  }
  std::vector<Figures> all;
  fmt::print("{:>12} {:>16} {:>12} {:>12} {:>12}\n", "pages", "PutIfAbsent/s",
             "Top ms", "Claim ms", "update ms");
  for (const int64_t size : sizes) {
    TemporaryFolder folder;
    const Figures f = Bench(folder.path() + "/db", size).Run();
    fmt::print("{:>12} {:>16.0f} {:>12.1f} {:>12.1f} {:>12.1f}\n", f.pages,
               f.put_per_second, f.top_seconds * 1e3, f.claim_seconds * 1e3,
               f.settle_seconds * 1e3);
    fflush(stdout);
    all.push_back(f);
  }
  const Figures& small = all.front();
  const Figures& large = all.back();
  fmt::print(
      "ratio {} : {}   Top {:.2f} (at most 1.5)   Claim {:.2f}   "
      "update {:.2f}\n",
      large.pages, small.pages, large.top_seconds / small.top_seconds,
      large.claim_seconds / small.claim_seconds,
      large.settle_seconds / small.settle_seconds);
  return large.top_seconds <= 1.5 * small.top_seconds ? 0 : 1;
}

}  // namespace
}  // namespace gannet::storage

int main(int argc, char** argv) { return gannet::storage::Main(argc, argv); }
