// How fast pages are made, without any network: what serving adds to the
// kernel's own work. The README says how to measure the server as a whole.
#include <benchmark/benchmark.h>

#include "tests/fake_web/mix.h"
#include "tests/fake_web/responder.h"

namespace gannet::fake_web {
namespace {

struct Bench {
  explicit Bench(bool gzip = false) {
    WebOptions options;
    options.gzip = gzip;
    web = Web::Create(options).value();
    responder = std::make_unique<Responder>(web.get(), &clock);
    for (uint64_t i = 0; i < 4096; ++i) {
      const auto page =
          Below(Mix(i), static_cast<uint32_t>(web->hosts().pages()));
      const uint32_t host = web->hosts().HostOfPage(page);
      Ref ref{.host = host,
              .id = static_cast<uint32_t>(page - web->hosts().FirstPage(host))};
      std::string target;
      web->AppendTarget(ref, &target);
      requests.push_back("GET " + target + " HTTP/1.1\r\nHost: " +
                         std::string(web->hosts().Name(host)) +
                         "\r\nAccept-Encoding: gzip\r\n\r\n");
      refs.push_back(ref);
    }
  }
  WebClock clock;
  std::unique_ptr<Web> web;
  std::unique_ptr<Responder> responder;
  std::vector<std::string> requests;
  std::vector<Ref> refs;
};

// Measures the way from a request's bytes to its answer's bytes.
void Answer(benchmark::State& state, bool gzip) {
  Bench bench(gzip);
  Reply reply;
  Request request;
  size_t i = 0, consumed = 0;
  int64_t bytes = 0;
  for (auto _ : state) {
    ParseRequest(bench.requests[i++ % 4096], &request, &consumed);
    bench.responder->Respond(request, 0x7f000001, &reply);
    bytes += static_cast<int64_t>(reply.bytes.size());
    benchmark::DoNotOptimize(reply.bytes.data());
  }
  state.SetBytesProcessed(bytes);
  state.SetItemsProcessed(state.iterations());
}
void BM_AnswerRequest(benchmark::State& state) { Answer(state, false); }
void BM_AnswerRequestGzip(benchmark::State& state) { Answer(state, true); }
BENCHMARK(BM_AnswerRequest);
BENCHMARK(BM_AnswerRequestGzip);

// Only the links' page numbers, which is what the ground truth needs.
void BM_LinksOfPage(benchmark::State& state) {
  Bench bench;
  Links links;
  size_t i = 0;
  for (auto _ : state) {
    links.clear();
    bench.web->AppendLinks(bench.refs[i++ % 4096], &links);
    benchmark::DoNotOptimize(links.data());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_LinksOfPage);

}  // namespace
}  // namespace gannet::fake_web

BENCHMARK_MAIN();
