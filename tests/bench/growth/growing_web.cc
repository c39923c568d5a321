#include "tests/bench/growth/growing_web.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace gannet::bench {
namespace {

// Pages of the manual that tests/bench/crawl serves, so that these URLs can
// really be fetched there (nginx ignores the query).
constexpr std::string_view kNames[] = {
    "index.html",      "sql-select.html",  "datatype.html", "functions.html",
    "sql-insert.html", "tutorial.html",    "indexes.html",  "mvcc.html",
    "plpgsql.html",    "sql-commands.html"};

// SplitMix64's finaliser.
uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace

GrowingWeb::GrowingWeb(int64_t pages)
    : pages_(pages), random_(static_cast<uint64_t>(pages)) {
  const int64_t hosts = std::max<int64_t>(1, pages / 100);
  // Zipf's law, exponent 0.8: the largest of 1,000 hosts has 6 % of the pages.
  std::vector<double> weights;
  double sum = 0;
  for (int64_t i = 1; i <= hosts; ++i) {
    sum += std::pow(static_cast<double>(i), -0.8);
    weights.push_back(sum);
  }
  first_.push_back(0);
  for (const double weight : weights) {
    first_.push_back(
        static_cast<int64_t>(weight / sum * static_cast<double>(pages)));
  }
  first_.back() = pages;
}

int64_t GrowingWeb::HostOf(int64_t i) const {
  return std::upper_bound(first_.begin(), first_.end(), i) - first_.begin() - 1;
}

storage::PageKey GrowingWeb::Key(int64_t host, std::string_view path) const {
  return storage::MakePageKey(
      fmt::format("site{}.example", host),
      fmt::format("example,site{},www,)http/{}", host, path));
}

storage::PageKey GrowingWeb::Page(int64_t i) const {
  const uint64_t mixed = Mix(static_cast<uint64_t>(i));
  return Key(HostOf(i), fmt::format("{}?article={:06x}&page={}",
                                    kNames[mixed % std::size(kNames)],
                                    (mixed >> 8) & 0xffffff, i));
}

storage::FoundUrl GrowingWeb::FoundPage(int64_t i) {
  const int64_t cash = int64_t{1} << (10 + random_() % 22) |
                       static_cast<int64_t>(random_() & 0x3ff);
  return {Page(i), cash, 1, 0};
}

int64_t GrowingWeb::DrawOf(int64_t host) {
  const double u = Uniform();
  return first_[static_cast<size_t>(host)] +
         static_cast<int64_t>(u * u * u * static_cast<double>(HostSize(host)));
}

int64_t GrowingWeb::HostNamed(std::string_view surt) const {
  constexpr std::string_view kBefore = "example,site";
  int64_t host = 0;
  std::from_chars(surt.data() + kBefore.size(), surt.data() + surt.size(),
                  host);
  return host;
}

std::vector<storage::PageKey> GrowingWeb::Outlinks(const storage::PageKey& page,
                                                   int known, int fresh) {
  const int64_t home = HostNamed(storage::SurtOf(page.bytes));
  std::vector<storage::PageKey> links;
  for (int i = 0; i < known; ++i) {
    // Other hosts are chosen by their size.
    const int64_t host = i % 11 < 8
                             ? home
                             : HostOf(static_cast<int64_t>(
                                   random_() % static_cast<uint64_t>(pages_)));
    if (HostSize(host) > 0) links.push_back(Page(DrawOf(host)));
  }
  for (int i = 0; i < fresh; ++i) {
    const bool stays = i % 11 < 8;
    const int64_t host = stays
                             ? home
                             : HostOf(static_cast<int64_t>(
                                   random_() % static_cast<uint64_t>(pages_)));
    // Several pages of a host find the same new pages of it.
    const uint64_t number =
        stays ? next_fresh_ / 64 * 64 + random_() % 64 : next_fresh_;
    ++next_fresh_;
    links.push_back(
        Key(host, fmt::format("new/{:x}.html", Mix(number) & 0xffffffffff)));
  }
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  std::erase(links, page);
  return links;
}

}  // namespace gannet::bench
