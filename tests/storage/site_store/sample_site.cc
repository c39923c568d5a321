#include "tests/storage/site_store/sample_site.h"

#include <fmt/format.h>

#include <cstdlib>

#include "storage/url/url.h"

namespace gannet::storage {
namespace {

void Must(const absl::Status& status) {
  if (status.ok()) return;
  fmt::print(stderr, "{}\n", status.ToString());
  abort();
}

}  // namespace

std::string SampleUrl(int i) {
  return fmt::format("http://h{}.example/page-{}", i % 3, i);
}

PageKey SamplePage(int i) { return PageKeyOf(*Url::Parse(SampleUrl(i))); }

void CrawlSample(SiteStore& store, int pages) {
  const absl::Time now = absl::FromUnixSeconds(1'700'000'000);
  CrawlDb& db = store.crawl_db();
  std::vector<PageKey> seeds;
  for (int i = 0; i < pages; ++i) seeds.push_back(SamplePage(i));
  Must(db.Inject(seeds, now).status());
  Must(db.OpenRound(now));
  Must(db.Claim(*db.Top(pages, pages)).status());
  Must(db.PayRoot());
  Must(db.SetPhase(proto::FETCH));
  std::vector<Completion> completions;
  for (int i = 0; i + 1 < pages; ++i) {
    const std::string url = SampleUrl(i);
    const std::string body = fmt::format("<html>page {}</html>", i);
    NewRecord response;
    response.url = url;
    response.date = now;
    response.head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
    response.payload = body;
    const auto positions = store.archive().Append({response});
    Must(positions.status());
    Completion& done = completions.emplace_back();
    done.page = SamplePage(i);
    done.outcome.set_state(proto::FETCHED);
    proto::ArchivePosition* at = done.outcome.mutable_archive();
    at->set_file(static_cast<uint32_t>(positions->front().file));
    at->set_offset(positions->front().offset);
    at->set_length(positions->front().length);
    done.outlinks = {SamplePage(pages + i)};
    done.keeps_history = true;
    if (i % 2 == 0) done.ready = now + absl::Hours(24);
  }
  Must(store.Complete(completions, {}).status());
}

}  // namespace gannet::storage
