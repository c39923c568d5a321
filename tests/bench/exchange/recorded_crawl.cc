#include "tests/bench/exchange/recorded_crawl.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <utility>

#include "absl/memory/memory.h"
#include "federation/placement/hash_placement.h"
#include "tests/test_data.h"

namespace gannet::bench {
namespace {

// What one site knows and has fetched.
struct Site {
  std::vector<int64_t> cash;
  std::vector<uint32_t> depth;
  std::vector<bool> fetched;
  std::vector<uint32_t> frontier;  // Known, not fetched.
  std::vector<uint32_t> visited;   // Fetched, oldest visit first.
  size_t next_again = 0;
  std::vector<bool> known;
  int64_t root = 0;

  void Put(uint32_t page, int64_t more, uint32_t at_depth) {
    if (fetched[page]) {
      root += more;
      return;
    }
    cash[page] += more;
    if (known[page]) return;
    known[page] = true;
    depth[page] = at_depth;
    frontier.push_back(page);
  }

  // Takes the best `width` pages out of the frontier; the share `again` are
  // instead pages that were fetched before, if there are any.
  std::vector<uint32_t> Generate(size_t width, double again) {
    std::vector<uint32_t> pages;
    if (!visited.empty()) {
      for (size_t n = static_cast<size_t>(again * width); n > 0; --n) {
        pages.push_back(visited[next_again++ % visited.size()]);
      }
    }
    const size_t take = std::min(width - pages.size(), frontier.size());
    std::nth_element(frontier.begin(), frontier.begin() + take, frontier.end(),
                     [&](uint32_t a, uint32_t b) {
                       return std::pair(-cash[a], a) < std::pair(-cash[b], b);
                     });
    pages.insert(pages.end(), frontier.begin(), frontier.begin() + take);
    frontier.erase(frontier.begin(), frontier.begin() + take);
    if (!pages.empty()) {
      const int64_t share = root / static_cast<int64_t>(pages.size());
      for (const uint32_t page : pages) cash[page] += share;
      root -= share * static_cast<int64_t>(pages.size());
    }
    return pages;
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<RecordedCrawl>> RecordedCrawl::Read(
    const std::string& graph, uint32_t hosts) {
  fake_web::WebOptions options;
  options.hosts = hosts;
  options.graph = graph;
  auto web = fake_web::Web::Create(options);
  if (!web.ok()) return web.status();
  return absl::WrapUnique(new RecordedCrawl(*std::move(web)));
}

RecordedCrawl::RecordedCrawl(std::unique_ptr<fake_web::Web> web)
    : web_(std::move(web)) {
  const fake_web::Hosts& hosts = web_->hosts();
  const uint32_t pages = web_->graph()->pages();
  keys_.reserve(pages);
  for (uint32_t host = 0; host < hosts.count(); ++host) {
    for (uint32_t id = 0; id < hosts.Pages(host); ++id) {
      keys_.push_back(storage::PageKeyOf(
          storage::Url::Parse(web_->Url({.host = host, .id = id})).value()));
    }
  }
  std::vector<uint32_t> by_key(pages);
  std::iota(by_key.begin(), by_key.end(), 0);
  std::sort(by_key.begin(), by_key.end(),
            [&](uint32_t a, uint32_t b) { return keys_[a] < keys_[b]; });
  order_.resize(pages);
  for (uint32_t i = 0; i < pages; ++i) order_[by_key[i]] = i;
  for (const fake_web::Ref& seed : web_->Seeds()) {
    seeds_.push_back(static_cast<uint32_t>(hosts.FirstPage(seed.host)) +
                     seed.id);
  }
}

void RecordedCrawl::Run(const CrawlShape& shape,
                        const Exchange& exchange) const {
  std::vector<federation::SiteCapacity> places;
  for (int i = 0; i < shape.sites; ++i) {
    places.push_back({storage::SiteId{static_cast<uint32_t>(i)}, 1});
  }
  const auto placement =
      federation::HashPlacement::Create({.seed = 1}, places).value();
  std::vector<int> owner(pages());
  for (uint32_t page = 0; page < pages(); ++page) {
    owner[page] = static_cast<int>(placement->owner(
        shape.scattered ? federation::Channel{keys_[page].bytes}
                        : *federation::ChannelOf(
                              keys_[page], federation::ChannelUnit::kDomain)));
  }

  std::vector<Site> sites(shape.sites);
  for (Site& site : sites) {
    site.cash.resize(pages());
    site.depth.resize(pages());
    site.fetched.resize(pages());
    site.known.resize(pages());
  }
  for (const uint32_t seed : seeds_) {
    sites[owner[seed]].Put(seed, storage::kSeedCash, 0);
  }
  const auto width = static_cast<size_t>(
      pages() / (1 - shape.recrawl) / shape.rounds / shape.sites + 1);

  std::vector<int64_t> cash(pages());
  std::vector<uint32_t> links(pages()), depth(pages());
  for (int round = 0; round < shape.rounds; ++round) {
    std::vector<std::vector<Sent>> sent(shape.sites);
    for (int from = 0; from < shape.sites; ++from) {
      Site& site = sites[from];
      std::vector<uint32_t> targets;
      for (const uint32_t page : site.Generate(width, shape.recrawl)) {
        if (!site.fetched[page]) site.visited.push_back(page);
        site.fetched[page] = true;
        const absl::Span<const uint32_t> out = web_->graph()->Links(page);
        const int64_t all = std::exchange(site.cash[page], 0);
        if (out.empty()) site.root += all;
        for (const uint32_t to : out) {
          if (links[to]++ == 0) {
            targets.push_back(to);
            depth[to] = site.depth[page] + 1;
          }
          cash[to] += all / static_cast<int64_t>(out.size());
        }
      }
      std::sort(targets.begin(), targets.end(),
                [&](uint32_t a, uint32_t b) { return order_[a] < order_[b]; });
      for (const uint32_t to : targets) {
        const Sent found{from, owner[to], to, links[to], cash[to], depth[to]};
        links[to] = 0;
        cash[to] = 0;
        if (found.to == from) {
          site.Put(to, found.cash, found.depth);
        } else {
          sent[from].push_back(found);
        }
      }
    }
    // All sites generate before any URL arrives, so their order does not
    // matter.
    for (int from = 0; from < shape.sites; ++from) {
      const std::vector<bool> goes = exchange(round, from, sent[from]);
      for (size_t i = 0; i < goes.size(); ++i) {
        const Sent& found = sent[from][i];
        if (goes[i]) sites[found.to].Put(found.page, found.cash, found.depth);
      }
    }
  }
}

int OnTheRecordedWeb(const std::function<void(const RecordedCrawl&)>& report) {
  const std::string graph = TestDataPath("graph/cnr-2000-edges.txt.zst");
  if (!std::filesystem::exists(graph)) {
    std::printf("skipped: no %s: set GANNET_TEST_DATA\n", graph.c_str());
    return 77;
  }
  const auto crawl = RecordedCrawl::Read(graph, /*hosts=*/700);
  if (!crawl.ok()) {
    std::fprintf(stderr, "%s\n", crawl.status().ToString().c_str());
    return 1;
  }
  report(**crawl);
  return 0;
}

}  // namespace gannet::bench
