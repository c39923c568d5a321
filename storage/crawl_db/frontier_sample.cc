// A picture of the frontier at a bounded cost, for people.
//
// A small frontier is read whole. Of a large one, each step of the score is
// sampled at random places (a page's key begins with a hash of its domain, so
// any place is as good as another), and a step counts as much as RocksDB thinks
// it takes on the disk, scaled so that all of them together are the number of
// pages, which is known exactly.
#include <algorithm>
#include <numeric>
#include <random>

#include "storage/crawl_db/frontier.h"
#include "storage/crawl_db/score.h"
#include "storage/crawl_db/store.h"

namespace gannet::storage {
namespace {

constexpr int kRowsAtAPlace = 8;

struct Step {
  uint8_t step = 0;
  double weight = 0;
  std::vector<std::string> pages;
};

// All pages of the frontier, those of resting hosts too; nothing if they are
// more than `most`.
std::optional<std::vector<std::string>> AllPages(Cursor& it, size_t most) {
  std::vector<std::string> pages;
  for (it.Seek({}); it.Valid(); it.Next()) {
    if (pages.size() == most) return std::nullopt;
    uint8_t step = 0;
    std::string_view page;
    std::string resting;
    if (keys::ParseActiveFrontier(it.key(), step, page)) {
      pages.emplace_back(page);
    } else if (keys::ParseRestingFrontier(it.key(), step, resting)) {
      pages.push_back(std::move(resting));
    }
  }
  return pages;
}

// The steps that have pages, with none of them taken yet.
std::vector<Step> StepsOf(Cursor& it) {
  std::vector<Step> steps;
  for (int step = 255; step >= 0; --step) {
    it.Seek(keys::ActiveFrontier(static_cast<uint8_t>(step), {}));
    uint8_t found = 0;
    std::string_view page;
    if (!it.Valid() || !keys::ParseActiveFrontier(it.key(), found, page)) break;
    steps.push_back({found, 0, {}});
    step = found;
  }
  return steps;
}

void Weigh(Store& store, std::vector<Step>& steps) {
  for (Step& step : steps) {
    const uint64_t bytes = store.engine().ApproximateBytes(
        Column::kFrontier, PrefixRange(keys::ActiveFrontier(step.step, {})));
    step.weight = static_cast<double>(bytes) + 1;  // Never zero.
  }
}

void Sample(Cursor& it, size_t most, Step& step) {
  std::mt19937 random(step.step);
  for (size_t places = 0; places * kRowsAtAPlace < most; ++places) {
    const char somewhere[] = {static_cast<char>(random()),
                              static_cast<char>(random())};
    it.Seek(keys::ActiveFrontier(step.step, {somewhere, sizeof(somewhere)}));
    for (int i = 0; i < kRowsAtAPlace && it.Valid(); ++i, it.Next()) {
      uint8_t found = 0;
      std::string_view page;
      if (!keys::ParseActiveFrontier(it.key(), found, page) ||
          found != step.step) {
        break;
      }
      step.pages.emplace_back(page);
    }
  }
  if (step.pages.empty()) {  // All places were behind its last page.
    it.Seek(keys::ActiveFrontier(step.step, {}));
    uint8_t found = 0;
    std::string_view page;
    if (it.Valid() && keys::ParseActiveFrontier(it.key(), found, page) &&
        found == step.step) {
      step.pages.emplace_back(page);
    }
  }
  std::sort(step.pages.begin(), step.pages.end());
  step.pages.erase(std::unique(step.pages.begin(), step.pages.end()),
                   step.pages.end());
}

}  // namespace

absl::StatusOr<std::vector<FrontierSample>> Frontier::SampleFrontier(
    size_t most) {
  const auto frontier_pages =
      static_cast<double>(store_.totals().frontier_pages);
  const auto it = store_.Scan(Column::kFrontier, "");
  std::vector<Step> steps;
  if (frontier_pages <= static_cast<double>(most)) {
    if (auto all = AllPages(*it, most)) {
      std::sort(all->begin(), all->end());
      steps.push_back({0, 1, *std::move(all)});
    }
  }
  if (steps.empty()) {
    steps = StepsOf(*it);
    Weigh(store_, steps);
    for (Step& step : steps) Sample(*it, most / steps.size(), step);
  }
  if (!it->status().ok()) return it->status();
  double weights = 0;
  for (const Step& step : steps) {
    if (!step.pages.empty()) weights += step.weight;
  }
  std::vector<FrontierSample> samples;
  for (const Step& step : steps) {
    const std::vector<std::string_view> keys(step.pages.begin(),
                                             step.pages.end());
    const auto records = store_.GetPages(keys);
    if (!records.ok()) return records.status();
    for (const std::optional<proto::PageRecord>& record : *records) {
      if (!record.has_value()) continue;  // Forgotten meanwhile.
      samples.push_back({Score(*record), record->depth(),
                         frontier_pages * step.weight / weights /
                             static_cast<double>(step.pages.size())});
    }
  }
  return samples;
}

}  // namespace gannet::storage
