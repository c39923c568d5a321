// What generate and update cost as the crawl DB grows: rounds of 20,000 pages
// through jobs::Generate and jobs::Update, with a fetch that is simulated by
// CrawlDb::Complete (22 links a page, half of them known; growing_web.h).
//
//   growth_bench [--sizes 100000,1000000,10000000]
//   growth_bench --fill DIR --sizes 5000000     only makes a crawl DB, in DIR
//
// Ten rounds of churn without new pages, then three that are measured; medians
// count. The largest size may take, by wall clock, 1.5 times as long as the
// smallest for generate and twice as long for update. CPU time is printed too,
// which tells a busy machine from a slow program; it has no limit, because it
// does not show waiting for the disk. Without --sizes the largest is ten
// million in a long run (tests/run.sh --long --bench), else one million.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <sstream>

#include "jobs/generate/generate.h"
#include "jobs/update/update.h"
#include "tests/bench/growth/growing_web.h"
#include "tests/temporary_folder.h"
#include "tests/test_run.h"

namespace gannet::bench {
namespace {

using storage::CrawlDb;

constexpr size_t kWidth = 20'000;
constexpr int kChurn = 10;
constexpr int kMeasured = 3;
constexpr int kLinks = 22;
constexpr size_t kBatch = 10'000;
constexpr double kMostGenerate = 1.5;
constexpr double kMostUpdate = 2;

void Must(const absl::Status& status) {
  if (status.ok()) return;
  fmt::print(stderr, "{}\n", status.ToString());
  exit(1);
}

template <typename T>
T Must(absl::StatusOr<T> value) {
  Must(value.status());
  return *std::move(value);
}

// CPU time of all threads, compactions included: the better figure if other
// programs use the cores.
double CpuSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Cost {
  double seconds = 0;
  double cpu_seconds = 0;
};

Cost CostOf(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  const double cpu_start = CpuSeconds();
  work();
  return {
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count(),
      CpuSeconds() - cpu_start};
}

Cost Median(const std::vector<Cost>& costs) {
  std::vector<double> seconds, cpu_seconds;
  for (const Cost& cost : costs) {
    seconds.push_back(cost.seconds);
    cpu_seconds.push_back(cost.cpu_seconds);
  }
  std::sort(seconds.begin(), seconds.end());
  std::sort(cpu_seconds.begin(), cpu_seconds.end());
  return {seconds[seconds.size() / 2], cpu_seconds[cpu_seconds.size() / 2]};
}

// The size of all files of a folder, or of its tables only: write-ahead logs
// are kept for `verify`, and do not count as what a URL costs.
int64_t DiskBytes(const std::string& folder, bool tables_only) {
  int64_t bytes = 0;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(folder)) {
    if (!file.is_regular_file()) continue;
    if (tables_only && file.path().extension() != ".sst") continue;
    bytes += static_cast<int64_t>(file.file_size());
  }
  return bytes;
}

void Fill(CrawlDb& db, GrowingWeb& web, absl::Time now) {
  std::vector<storage::FoundUrl> batch;
  for (int64_t i = 0; i < web.pages(); ++i) {
    batch.push_back(web.FoundPage(i));
    if (batch.size() == kBatch || i + 1 == web.pages()) {
      Must(db.incoming().PutIfAbsent(batch, {now}));
      batch.clear();
    }
  }
}

struct Figures {
  int64_t pages = 0;
  Cost generate;
  Cost update;
  double bytes_per_page = 0;
};

class Bench {
 public:
  Bench(const std::string& folder, int64_t pages)
      : folder_(folder), web_(pages) {
    db_ = Must(CrawlDb::Open({.folder = folder}));
    generate_.width = kWidth;
    generate_.per_host = 200;
  }

  Figures Run() {
    Fill(*db_, web_, now_);
    Figures figures;
    figures.pages = web_.pages();
    for (int i = 0; i < kChurn; ++i) Round(kLinks, 0);
    generates_.clear();
    updates_.clear();
    for (int i = 0; i < kMeasured; ++i) Round(kLinks / 2, kLinks / 2);
    figures.generate = Median(generates_);
    figures.update = Median(updates_);
    figures.bytes_per_page =
        static_cast<double>(DiskBytes(folder_, /*tables_only=*/true)) /
        static_cast<double>(db_->totals().KnownPages());
    return figures;
  }

 private:
  void Round(int known, int fresh) {
    now_ += absl::Minutes(10);
    if (!Must(jobs::HasWork(*db_, generate_, now_))) {
      fmt::print(stderr, "no work left\n");
      exit(1);
    }
    Must(db_->round().Open(now_));
    generates_.push_back(
        CostOf([&] { Must(jobs::Generate(*db_, generate_)); }));
    if (db_->totals().round_pages != kWidth) {
      fmt::print(stderr, "only {} pages\n", db_->totals().round_pages);
    }
    Must(db_->round().SetPhase(proto::FETCH));
    Fetch(known, fresh);
    Must(db_->round().SetPhase(proto::UPDATE));
    const std::atomic<bool> stop = false;
    jobs::UpdateView view;
    updates_.push_back(
        CostOf([&] { Must(jobs::Update(*db_, update_, now_, stop, view)); }));
    fmt::print(stderr,
               "  {} known, {} targets: generate {:.3f} s (CPU {:.3f}), update "
               "{:.3f} s (CPU {:.3f})\n",
               db_->totals().KnownPages(), view.targets.load(),
               generates_.back().seconds, generates_.back().cpu_seconds,
               updates_.back().seconds, updates_.back().cpu_seconds);
    Must(db_->round().Close("{}"));
  }

  void Fetch(int known, int fresh) {
    storage::PageKey after;
    for (;;) {
      const std::vector<storage::PageKey> pages =
          Must(db_->round().FetchList(after, 512));
      if (pages.empty()) return;
      after = pages.back();
      std::vector<storage::Completion> completions;
      for (const storage::PageKey& page : pages) {
        storage::Completion& completion = completions.emplace_back();
        completion.page = page;
        completion.outcome.set_state(proto::FETCHED);
        completion.outcome.set_visited_ms(absl::ToUnixMillis(now_));
        completion.outcome.set_payload_digest(std::string(37, 'd'));
        completion.outcome.set_etag("\"5f3e-60b1a2c3d4e5f\"");
        completion.ready = now_ + absl::Minutes(5 + random_() % 30);
        completion.keeps_history = true;
        completion.outlinks = web_.Outlinks(page, known, fresh);
      }
      Must(db_->round().Complete(completions, {}, {}));
    }
  }

  const std::string folder_;
  GrowingWeb web_;
  std::unique_ptr<CrawlDb> db_;
  jobs::GenerateSettings generate_;
  jobs::UpdateSettings update_;
  std::mt19937_64 random_{1};
  absl::Time now_ = absl::FromUnixSeconds(1'700'000'000);
  std::vector<Cost> generates_, updates_;
};

int Main(int argc, char** argv) {
  std::vector<int64_t> sizes = {100'000, 1'000'000};
  if (IsLongRun()) sizes.push_back(10'000'000);
  std::string fill;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    if (flag == "--fill") {
      fill = argv[i + 1];
    } else if (flag == "--sizes") {
      sizes.clear();
      std::stringstream list(argv[i + 1]);
      for (std::string size; std::getline(list, size, ',');) {
        sizes.push_back(std::stoll(size));
      }
    } else {
      fmt::print(stderr, "unknown flag {}\n", flag);
      return 2;
    }
  }
  if (!fill.empty()) {
    GrowingWeb web(sizes.back());
    auto db = Must(CrawlDb::Open({.folder = fill}));
    Fill(*db, web, absl::FromUnixSeconds(1'700'000'000));
    return 0;
  }

  std::vector<Figures> all;
  fmt::print("{:>12} {:>14} {:>8} {:>12} {:>8} {:>16}\n", "pages",
             "generate ms", "CPU", "update ms", "CPU", "bytes per page");
  for (const int64_t size : sizes) {
    TemporaryFolder folder;
    const Figures f = Bench(folder.path() + "/db", size).Run();
    fmt::print("{:>12} {:>14.0f} {:>8.0f} {:>12.0f} {:>8.0f} {:>16.0f}\n",
               f.pages, f.generate.seconds * 1e3, f.generate.cpu_seconds * 1e3,
               f.update.seconds * 1e3, f.update.cpu_seconds * 1e3,
               f.bytes_per_page);
    fflush(stdout);
    all.push_back(f);
  }
  const Figures& small = all.front();
  const Figures& large = all.back();
  const auto ratio = [](const Cost& a, const Cost& b) {
    return Cost{a.seconds / b.seconds, a.cpu_seconds / b.cpu_seconds};
  };
  const Cost generate = ratio(large.generate, small.generate);
  const Cost update = ratio(large.update, small.update);
  const bool ok =
      generate.seconds <= kMostGenerate && update.seconds <= kMostUpdate;
  fmt::print(
      "{} to {} pages: generate {:.2f}, by CPU {:.2f} (at most {}); update "
      "{:.2f}, by CPU {:.2f} (at most {})\n",
      small.pages, large.pages, generate.seconds, generate.cpu_seconds,
      kMostGenerate, update.seconds, update.cpu_seconds, kMostUpdate);
  fmt::print(
      "{{\"generate\": {:.3f}, \"generate_cpu\": {:.3f}, \"update\": {:.3f}, "
      "\"update_cpu\": {:.3f}, \"ok\": {}}}\n",
      generate.seconds, generate.cpu_seconds, update.seconds,
      update.cpu_seconds, ok);
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace gannet::bench

int main(int argc, char** argv) { return gannet::bench::Main(argc, argv); }
