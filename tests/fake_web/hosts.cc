#include "tests/fake_web/hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "tests/fake_web/mix.h"
#include "tests/fake_web/words.h"

namespace gannet::fake_web {
namespace {

constexpr double kZipfExponent = 0.9;

// How eight successive hosts are grouped into domains: for each host, the first
// host of its domain. Half of the blocks have no shared domain, because on the
// real web most domains have one host.
constexpr std::array<std::array<uint8_t, 8>, 8> kGroupings = {{
    {0, 1, 2, 3, 4, 5, 6, 7},
    {0, 1, 2, 3, 4, 5, 6, 7},
    {0, 1, 2, 3, 4, 5, 6, 7},
    {0, 0, 2, 3, 4, 5, 6, 7},
    {0, 1, 2, 2, 4, 5, 5, 7},
    {0, 0, 0, 3, 4, 5, 6, 7},
    {0, 1, 2, 2, 2, 2, 6, 7},
    {0, 0, 0, 0, 0, 0, 0, 0},
}};

constexpr std::array<std::string_view, 8> kSubdomains = {
    "www.", "blog.", "shop.", "docs.", "news.", "forum.", "en.", "mobile."};

}  // namespace

Hosts::Hosts(const WebOptions& options) : seed_(Mix(options.seed, 0x4057)) {
  MakeSizes(options);
  MakeNames(options);
}

uint32_t Hosts::Domain(uint32_t host) const {
  const uint32_t block = host / 8;
  return block * 8 + kGroupings[Mix(seed_, block) % 8][host % 8];
}

void Hosts::MakeNames(const WebOptions& options) {
  const uint32_t hosts = count();
  name_starts_.reserve(hosts + 1);
  for (uint32_t host = 0; host < hosts; ++host) {
    name_starts_.push_back(names_.size());
    const uint32_t domain = Domain(host);
    const uint64_t hash = Mix(seed_, domain, 1);
    const uint32_t position = PositionInDomain(host);
    // A domain's first host is www or the bare domain.
    if (position > 0 || hash % 4 != 0) names_ += kSubdomains[position];
    fmt::format_to(std::back_inserter(names_), "{}{}{}{}.{}", Word(hash >> 8),
                   hash % 3 == 0 ? "-" : "", Word(hash >> 16), domain,
                   options.suffixes[(hash >> 24) % options.suffixes.size()]);
  }
  name_starts_.push_back(names_.size());
  by_name_.reserve(hosts);
  for (uint32_t host = 0; host < hosts; ++host) by_name_[Name(host)] = host;
}

void Hosts::MakeSizes(const WebOptions& options) {
  const uint32_t hosts = options.hosts;
  const double cap = options.largest_host > 0
                         ? static_cast<double>(options.largest_host)
                         : static_cast<double>(options.pages);
  auto size_at = [cap](double scale, uint32_t rank) {
    return static_cast<uint32_t>(std::clamp(
        std::floor(scale * std::pow(rank + 1.0, -kZipfExponent)), 1.0, cap));
  };
  auto total = [&](double scale) {
    uint64_t sum = 0;
    for (uint32_t rank = 0; rank < hosts; ++rank) sum += size_at(scale, rank);
    return sum;
  };
  // Searches the largest scale at which the sizes do not exceed the pages; the
  // few pages that are left go to the first hosts that may still grow.
  double low = 0;
  double high = 1;
  while (total(high) < options.pages && high < 1e18) high *= 2;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (total(middle) <= options.pages ? low : high) = middle;
  }
  std::vector<uint32_t> by_size(hosts);
  uint64_t sum = 0;
  for (uint32_t rank = 0; rank < hosts; ++rank) {
    by_size[rank] = size_at(low, rank);
    sum += by_size[rank];
  }
  while (sum < options.pages) {
    for (uint32_t rank = 0; rank < hosts && sum < options.pages; ++rank) {
      if (by_size[rank] >= cap) continue;
      ++by_size[rank];
      ++sum;
    }
  }
  // Shuffles, so that a host's number says nothing about its size.
  by_rank_.resize(hosts);
  std::iota(by_rank_.begin(), by_rank_.end(), 0);
  std::sort(by_rank_.begin(), by_rank_.end(), [this](uint32_t a, uint32_t b) {
    return Mix(seed_, a, 2) < Mix(seed_, b, 2);
  });
  sizes_.resize(hosts);
  for (uint32_t rank = 0; rank < hosts; ++rank) {
    sizes_[by_rank_[rank]] = by_size[rank];
  }
  first_pages_.reserve(hosts + 1);
  uint64_t first = 0;
  for (uint32_t size : sizes_) {
    first_pages_.push_back(first);
    first += size;
  }
  first_pages_.push_back(first);
}

uint32_t Hosts::Find(std::string_view name) const {
  // Ports follow the last colon; no name of ours holds one.
  name = name.substr(0, name.rfind(':'));
  if (!name.empty() && name.back() == '.') name.remove_suffix(1);
  auto found = by_name_.find(name);
  if (found == by_name_.end()) {
    std::string lower(name);
    for (char& c : lower) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 'a' - 'A');
    }
    found = by_name_.find(lower);
  }
  return found == by_name_.end() ? kNoHost : found->second;
}

uint32_t Hosts::HostOfPage(uint64_t page) const {
  return static_cast<uint32_t>(
      std::upper_bound(first_pages_.begin(), first_pages_.end(), page) -
      first_pages_.begin() - 1);
}

}  // namespace gannet::fake_web
