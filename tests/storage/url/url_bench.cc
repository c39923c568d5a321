// What a link costs: parse and canonical form, then key and domain as well. The
// links are of the kinds, lengths and proportions seen on pages (median 70
// bytes for absolute ones); each run goes through all of them in turn, so that
// the branch predictor cannot learn a single URL.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "storage/url/canonical.h"
#include "storage/url/domain.h"
#include "storage/url/filter.h"
#include "storage/url/surt.h"

namespace gannet::storage {
namespace {

constexpr size_t kLinks = 20000;

std::string Word(std::mt19937& random) {
  static constexpr std::string_view kLetters = "etaoinshrdlucmfwypvbgkqjxz";
  std::string word;
  for (auto n = 3 + random() % 9; n > 0; --n) {
    word += kLetters[random() % 20];
  }
  return word;
}

std::string Path(std::mt19937& random) {
  std::string path = "/";
  for (auto n = 1 + random() % 4; n > 0; --n) path += Word(random) + "/";
  path += Word(random) + "-" + Word(random) + "-" + Word(random);
  if (random() % 2 == 0) path += ".html";
  if (random() % 12 == 0) path += "%20" + Word(random);
  if (random() % 40 == 0) path += "é";
  if (random() % 4 == 0) path += "?id=" + std::to_string(random());
  if (random() % 12 == 0) path += "?page=2&utm_source=" + Word(random);
  if (random() % 10 == 0) path += "#" + Word(random);
  return path;
}

std::vector<std::string> Links(bool only_absolute) {
  std::mt19937 random(1);
  std::vector<std::string> hosts;
  for (int i = 0; i < 100; ++i) {
    const char* const kSuffixes[] = {".com", ".org", ".co.uk", ".de", ".io"};
    hosts.push_back("www." + Word(random) + Word(random) +
                    kSuffixes[random() % 5]);
  }
  std::vector<std::string> links;
  while (links.size() < kLinks) {
    const auto kind = only_absolute ? 0 : random() % 10;
    if (kind < 5) {
      links.push_back("https://" + hosts[random() % hosts.size()] +
                      Path(random));
    } else if (kind < 8) {
      links.push_back(Path(random));
    } else if (kind < 9) {
      links.push_back("../" + Word(random) + "/" + Word(random) + ".html");
    } else {
      links.push_back(Word(random) + ".html#" + Word(random));
    }
  }
  return links;
}

void Report(benchmark::State& state, const std::vector<std::string>& links) {
  std::vector<size_t> lengths;
  for (const std::string& link : links) lengths.push_back(link.size());
  std::nth_element(lengths.begin(), lengths.begin() + lengths.size() / 2,
                   lengths.end());
  state.counters["median_bytes"] =
      static_cast<double>(lengths[lengths.size() / 2]);
  state.SetItemsProcessed(state.iterations());
}

const Url& Base() {
  static const Url base =
      Url::Parse("https://www.example.org/section/topic/page.html?x=1").value();
  return base;
}

void BM_Parse(benchmark::State& state) {
  const std::vector<std::string> links = Links(state.range(0) != 0);
  Url url;
  size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(Url::Parse(links[i], &Base(), url));
    if (++i == links.size()) i = 0;
  }
  Report(state, links);
}
BENCHMARK(BM_Parse)->ArgName("absolute")->Arg(0)->Arg(1);

void BM_Canonicalise(benchmark::State& state) {
  const std::vector<std::string> links = Links(state.range(0) != 0);
  const Canonicaliser canonicaliser;
  Url url;
  size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        canonicaliser.Canonicalise(links[i], &Base(), url));
    if (++i == links.size()) i = 0;
  }
  Report(state, links);
}
BENCHMARK(BM_Canonicalise)->ArgName("absolute")->Arg(0)->Arg(1);

void BM_CanonicaliseKeyAndDomain(benchmark::State& state) {
  const std::vector<std::string> links = Links(state.range(0) != 0);
  const Canonicaliser canonicaliser;
  Url url;
  std::string key;
  size_t i = 0;
  for (auto _ : state) {
    canonicaliser.Canonicalise(links[i], &Base(), url);
    key.clear();
    AppendSurtKey(url, key);
    benchmark::DoNotOptimize(key.data());
    benchmark::DoNotOptimize(DomainBucket(RegistrableDomain(url.host())));
    if (++i == links.size()) i = 0;
  }
  Report(state, links);
}
BENCHMARK(BM_CanonicaliseKeyAndDomain)->ArgName("absolute")->Arg(0)->Arg(1);

void BM_Filter(benchmark::State& state) {
  UrlFilterRules rules;
  for (int i = 0; i < 100000; ++i) {
    rules.deny.domains.push_back("d" + std::to_string(i) + ".example");
  }
  rules.deny.regexes = {R"(\.(jpe?g|png|gif|zip)$)", "/calendar/", "/cgi-bin/"};
  const auto filter = UrlFilter::Create(rules).value();
  const Canonicaliser canonicaliser;
  std::vector<Url> urls(1000);
  const std::vector<std::string> links = Links(true);
  for (size_t i = 0; i < urls.size(); ++i) {
    canonicaliser.Canonicalise(links[i], nullptr, urls[i]);
  }
  size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(filter->Judge(urls[i]));
    if (++i == urls.size()) i = 0;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Filter);

// Hosts that the cache no longer has, since they repeat after 5,000 others.
void BM_DomainOfNewHosts(benchmark::State& state) {
  std::vector<std::string> hosts;
  for (int i = 0; i < 5000; ++i) {
    hosts.push_back("www.d" + std::to_string(i) + ".co.uk");
  }
  size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(RegistrableDomain(hosts[i]));
    if (++i == hosts.size()) i = 0;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_DomainOfNewHosts);

void BM_DomainOfKnownHost(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(RegistrableDomain("www.example.co.uk"));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_DomainOfKnownHost);

}  // namespace
}  // namespace gannet::storage

BENCHMARK_MAIN();
