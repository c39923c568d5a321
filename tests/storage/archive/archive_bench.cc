// What writing costs on top of compressing: 14 KB pages, each as request,
// response and metadata, through Archive (Append, and a Sync every 1,000
// pages), and the very same bytes through bare libdeflate. Both take turns in
// one process, so that the ratio means something on a shared machine; it is
// printed as the last line. The other benchmarks measure the parts.
#include <benchmark/benchmark.h>
#include <libdeflate.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "storage/archive/archive.h"
#include "storage/archive/digest.h"
#include "storage/archive/warc_reader.h"
#include "tests/storage/archive/sample_pages.h"
#include "tests/temporary_folder.h"

namespace gannet::storage {
namespace {

constexpr int kPages = 500;
constexpr int kLevel = 1;

struct Sample {
  std::vector<SamplePage> pages;
  std::vector<std::vector<NewRecord>> groups;
  std::vector<std::string> raw;  // Each record as it is compressed.
  int64_t raw_bytes = 0;
};

std::unique_ptr<Archive> NewArchive(const TemporaryFolder& folder,
                                    bool block_digests) {
  static int archives = 0;
  ArchiveSettings settings;
  settings.level = kLevel;
  settings.block_digests = block_digests;
  settings.file_size = 64 << 20;
  const std::string name = std::to_string(++archives);
  return Archive::Open(std::filesystem::path(folder.path()) / name, settings,
                       {}, SystemClock())
      .value();
}

const Sample& Pages() {
  static const Sample sample = [] {
    Sample made;
    const absl::Time date = absl::FromUnixSeconds(1769903999);
    for (uint32_t i = 0; i < kPages; ++i) {
      made.pages.push_back(MakeSamplePage(i));
    }
    for (const SamplePage& page : made.pages) {
      made.groups.push_back(RecordsOf(page, date));
    }
    TemporaryFolder folder;
    auto archive = NewArchive(folder, true);
    for (const auto& group : made.groups) {
      const std::vector<Position> positions = archive->Append(group).value();
      for (const Position& p : positions) {
        const ArchivedRecord record = archive->Read(p).value();
        std::string raw = "WARC/1.1\r\n";
        for (const auto& [name, value] : record.header.fields) {
          AppendField(raw, name, value);
        }
        raw.append("\r\n").append(record.block).append("\r\n\r\n");
        made.raw_bytes += static_cast<int64_t>(raw.size());
        made.raw.push_back(std::move(raw));
      }
    }
    return made;
  }();
  return sample;
}

// CPU time of this thread, because the machine is shared.
double CpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         1e-9 * static_cast<double>(now.tv_nsec);
}

size_t CompressAll(libdeflate_compressor* compressor, std::string& out) {
  size_t bytes = 0;
  for (const std::string& raw : Pages().raw) {
    const size_t bound = libdeflate_gzip_compress_bound(compressor, raw.size());
    if (out.size() < bound) out.resize(bound);
    bytes += libdeflate_gzip_compress(compressor, raw.data(), raw.size(),
                                      out.data(), out.size());
  }
  return bytes;
}

void WriteAll(Archive& archive,
              const std::vector<std::vector<NewRecord>>& groups) {
  for (const auto& group : groups) {
    if (!archive.Append(group).ok()) std::abort();
  }
}

void BM_BareCompression(benchmark::State& state) {
  libdeflate_compressor* compressor = libdeflate_alloc_compressor(kLevel);
  std::string out;
  Pages();
  for (auto _ : state) benchmark::DoNotOptimize(CompressAll(compressor, out));
  state.SetItemsProcessed(state.iterations() * kPages);
  state.SetBytesProcessed(state.iterations() * Pages().raw_bytes);
  libdeflate_free_compressor(compressor);
}
BENCHMARK(BM_BareCompression)->Unit(benchmark::kMillisecond);

// Argument: with block digests?
void BM_Archive(benchmark::State& state) {
  Pages();
  TemporaryFolder folder;
  auto archive = NewArchive(folder, state.range(0) != 0);
  for (auto _ : state) WriteAll(*archive, Pages().groups);
  state.SetItemsProcessed(state.iterations() * kPages);
  state.SetBytesProcessed(state.iterations() * Pages().raw_bytes);
}
BENCHMARK(BM_Archive)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void BM_PayloadDigest(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(Sha1Digest(Pages().pages[0].body));
  }
}
BENCHMARK(BM_PayloadDigest);

void BM_ReadRecord(benchmark::State& state) {
  TemporaryFolder folder;
  auto archive = NewArchive(folder, true);
  const Position position =
      archive->Append(Pages().groups[0]).value()[kSampleResponse];
  for (auto _ : state) benchmark::DoNotOptimize(archive->Read(position));
}
BENCHMARK(BM_ReadRecord);

void BM_ReadOutlinks(benchmark::State& state) {
  TemporaryFolder folder;
  auto archive = NewArchive(folder, true);
  const Position position =
      archive->Append(Pages().groups[0]).value()[kSampleResponse];
  for (auto _ : state) {
    benchmark::DoNotOptimize(archive->ReadOutlinks(position));
  }
}
BENCHMARK(BM_ReadOutlinks);

// Both in turns, and the best time of each, because other programs on the
// machine only add time. `digest_given`: the payload's digest is passed in, as
// the fetcher does, which needed it to see whether the page has changed.
void PrintRatio(bool digest_given, bool block_digests) {
  std::vector<std::vector<NewRecord>> groups = Pages().groups;
  std::vector<std::string> digests;
  if (digest_given) {
    digests.reserve(groups.size());
    for (auto& group : groups) {
      NewRecord& response = group[kSampleResponse];
      digests.push_back(Sha1Digest(response.payload));
      response.payload_digest = digests.back();
    }
  }
  libdeflate_compressor* compressor = libdeflate_alloc_compressor(kLevel);
  std::string out;
  TemporaryFolder folder;
  auto archive = NewArchive(folder, block_digests);
  double bare = 1e9, written = 1e9;
  for (int turn = 0; turn < 30; ++turn) {
    double start = CpuSeconds();
    benchmark::DoNotOptimize(CompressAll(compressor, out));
    bare = std::min(bare, CpuSeconds() - start);
    start = CpuSeconds();
    WriteAll(*archive, groups);
    written = std::min(written, CpuSeconds() - start);
    if (turn % 2 == 1 && !archive->Committed(archive->Sync().value()).ok()) {
      std::abort();
    }
  }
  libdeflate_free_compressor(compressor);
  std::printf(
      "archive ÷ bare compression: %.2f (payload digest %s, block digests %s; "
      "%.0f and %.0f pages per CPU second)\n",
      bare / written, digest_given ? "given" : "computed",
      block_digests ? "on" : "off", kPages / written, kPages / bare);
}

}  // namespace
}  // namespace gannet::storage

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  gannet::storage::PrintRatio(/*digest_given=*/true, /*block_digests=*/false);
  gannet::storage::PrintRatio(/*digest_given=*/true, /*block_digests=*/true);
  gannet::storage::PrintRatio(/*digest_given=*/false, /*block_digests=*/true);
  return 0;
}
