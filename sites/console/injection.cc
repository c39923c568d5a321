#include "sites/console/injection.h"

#include <fmt/format.h>

#include "absl/time/clock.h"
#include "sites/console/seed_reader.h"
#include "sites/console/terminal_text.h"

namespace gannet::sites {
namespace {

// A synced write costs some milliseconds, a seed some 100 bytes.
constexpr size_t kBatch = 10'000;
// A file of another kind would fill the screen.
constexpr int64_t kMostNamed = 20;

}  // namespace

absl::Status Injection::Take(storage::PageKey seed) {
  batch_.push_back(std::move(seed));
  return batch_.size() < kBatch ? absl::OkStatus() : Write();
}

void Injection::TakeBad(const std::string& where, const std::string& why) {
  if (++bad_ <= kMostNamed) {
    fmt::print(stderr, "{}: {}\n", ForTerminal(where), ForTerminal(why));
  }
}

absl::Status Injection::Write() {
  absl::StatusOr<storage::PutCounts> counts = db_.Inject(batch_, absl::Now());
  if (!counts.ok()) return counts.status();
  batch_.clear();
  counts_.added += counts->added;
  counts_.known += counts->known;
  counts_.blocked += counts->blocked;
  return absl::OkStatus();
}

absl::Status Injection::ReadAll(const SiteConfig& config,
                                const std::vector<std::string>& sources) {
  auto reader = SeedReader::Create(
      config, [&](storage::PageKey seed) { return Take(std::move(seed)); },
      [&](const std::string& where, const std::string& why) {
        TakeBad(where, why);
      });
  if (!reader.ok()) return reader.status();
  for (const std::string& source : sources) {
    if (absl::Status s = (*reader)->Read(source); !s.ok()) return s;
  }
  if (bad_ > kMostNamed) {
    fmt::print(stderr, "... and {} more that are bad\n", bad_ - kMostNamed);
  }
  return Write();
}

}  // namespace gannet::sites
