// How fast a page is read: scanner, gumbo and the whole parser, on the pages of
// the PostgreSQL manual (or, where it is not installed, of the fake web).
#include <benchmark/benchmark.h>

#include <cstdio>
#include <string>
#include <vector>

#include "jobs/parse/charset.h"
#include "jobs/parse/html_gumbo.h"
#include "jobs/parse/html_scanner.h"
#include "jobs/parse/page_parser.h"
#include "tests/fake_web/html_page.h"
#include "tests/fake_web/web.h"
#include "tests/jobs/parse/manuals.h"

namespace gannet::jobs {
namespace {

std::vector<std::string> FakePages() {
  std::vector<std::string> pages;
  fake_web::WebOptions options;
  options.pages = 1000;
  const auto web = fake_web::Web::Create(options).value();
  const fake_web::HtmlPages html(web.get());
  for (uint32_t host = 0; host < web->hosts().count(); ++host) {
    for (uint32_t id = 0; id < web->hosts().Pages(host); ++id) {
      html.Append({.host = host, .id = id}, 0, fake_web::HrefStyle::kAsServed,
                  &pages.emplace_back());
    }
  }
  return pages;
}

const std::vector<std::string>& Pages() {
  static const auto& pages = *new std::vector<std::string>([] {
    std::vector<std::string> all;
    for (const auto& file : PostgresManual()) all.push_back(ReadWhole(file));
    if (all.empty()) {
      std::fprintf(stderr, "no postgresql-doc-15: pages of the fake web\n");
      all = FakePages();
    }
    return all;
  }());
  return pages;
}

// Calls `read` for page after page.
template <typename Read>
void RunOver(benchmark::State& state, const std::vector<std::string>& pages,
             Read read) {
  size_t next = 0, bytes = 0;
  for (auto _ : state) {
    const std::string& page = pages[next];
    next = next + 1 == pages.size() ? 0 : next + 1;
    bytes += page.size();
    read(page);
  }
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
  state.SetItemsProcessed(state.iterations());
}

void BM_Scanner(benchmark::State& state) {
  HtmlScanner scanner("gannet");
  HtmlFacts facts;
  int64_t unsure = 0;
  RunOver(state, Pages(), [&](const std::string& page) {
    unsure += !scanner.Read(page, facts);
  });
  state.counters["not_sure"] = static_cast<double>(unsure);
}
BENCHMARK(BM_Scanner);

void BM_Gumbo(benchmark::State& state) {
  HtmlGumbo gumbo("gannet");
  HtmlFacts facts;
  RunOver(state, Pages(),
          [&](const std::string& page) { gumbo.Read(page, facts); });
}
BENCHMARK(BM_Gumbo);

void BM_Charset(benchmark::State& state) {
  CharsetDecoder decoder;
  RunOver(state, Pages(), [&](const std::string& page) {
    benchmark::DoNotOptimize(decoder.Decode(page, ""));
  });
}
BENCHMARK(BM_Charset);

void ParseAll(benchmark::State& state, const std::vector<std::string>& pages) {
  const storage::Canonicaliser canonicaliser;
  const auto filter =
      storage::UrlFilter::Create(storage::UrlFilterRules()).value();
  ParseSettings settings;
  settings.agent = "gannet";
  PageParser parser(settings, &canonicaliser, filter.get());
  const auto url =
      storage::Url::Parse("http://docs.example.org/15/page.html").value();
  int64_t links = 0;
  RunOver(state, pages, [&](const std::string& page) {
    links += static_cast<int64_t>(
        parser
            .Parse(url,
                   "Content-Type: text/html; charset=utf-8\r\n"
                   "Content-Length: 1\r\nServer: x\r\n",
                   page)
            .outlinks.size());
  });
  state.counters["outlinks"] =
      static_cast<double>(links) / static_cast<double>(state.iterations());
}

void BM_PageParserOnManual(benchmark::State& state) {
  ParseAll(state, Pages());
}
BENCHMARK(BM_PageParserOnManual);

void BM_PageParserOnFakeWeb(benchmark::State& state) {
  static const auto& pages = *new std::vector<std::string>(FakePages());
  ParseAll(state, pages);
}
BENCHMARK(BM_PageParserOnFakeWeb);

}  // namespace
}  // namespace gannet::jobs

BENCHMARK_MAIN();
