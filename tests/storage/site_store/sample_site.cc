#include "tests/storage/site_store/sample_site.h"

#include <fmt/format.h>

#include <cstdlib>

#include "storage/url/surt.h"
#include "storage/url/url.h"

namespace gannet::storage {
namespace {

void Must(const absl::Status& status) {
  if (status.ok()) return;
  fmt::print(stderr, "{}\n", status.ToString());
  abort();
}

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

// Injects the seeds and opens a round with all pages that are ready, up to its
// fetch phase.
void OpenSampleRound(CrawlDb& db, const std::vector<PageKey>& seeds) {
  Must(db.incoming().Inject(seeds, kNow).status());
  if (db.round().journal().phase() == proto::NO_ROUND)
    Must(db.round().Open(kNow));
  if (db.round().journal().phase() == proto::GENERATE) {
    if (!db.round().journal().root_has_paid()) {
      Must(db.frontier().Claim(*db.frontier().Top(100, 100)).status());
    }
    Must(db.round().PayRoot());
    Must(db.round().SetPhase(proto::FETCH));
  }
}

// Archives the page and says how its fetch ended.
Completion FetchSample(SiteStore& store, const PageKey& page) {
  const std::string url = *UrlFromSurt(SurtOf(page.bytes));
  const std::string body = fmt::format("<html>{}</html>", url);
  NewRecord response;
  response.url = url;
  response.date = kNow;
  response.head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
  response.payload = body;
  const auto positions = store.archive().Append({response});
  Must(positions.status());
  Completion done;
  done.page = page;
  done.outcome.set_state(proto::FETCHED);
  proto::ArchivePosition* at = done.outcome.mutable_archive();
  at->set_file(static_cast<uint32_t>(positions->front().file));
  at->set_offset(positions->front().offset);
  at->set_length(positions->front().length);
  done.keeps_history = true;
  return done;
}

}  // namespace

std::string SampleUrl(int i) {
  return fmt::format("http://h{}.example/page-{}", i % 3, i);
}

PageKey SamplePage(int i) { return PageKeyOf(*Url::Parse(SampleUrl(i))); }

void CrawlSample(SiteStore& store, int pages) {
  std::vector<PageKey> seeds;
  for (int i = 0; i < pages; ++i) seeds.push_back(SamplePage(i));
  OpenSampleRound(store.crawl_db(), seeds);
  std::vector<Completion> completions;
  for (int i = 0; i + 1 < pages; ++i) {
    Completion& done =
        completions.emplace_back(FetchSample(store, SamplePage(i)));
    done.outlinks = {SamplePage(pages + i)};
    if (i % 2 == 0) done.ready = kNow + absl::Hours(24);
  }
  Must(store.Complete(completions, {}).status());
}

void CrawlSampleRound(SiteStore& store, int first, int pages,
                      const std::function<void()>& committed) {
  CrawlDb& db = store.crawl_db();
  std::vector<PageKey> seeds;
  for (int i = 0; i < pages; ++i) seeds.push_back(SamplePage(first + i));
  if (db.round().journal().phase() <= proto::FETCH) OpenSampleRound(db, seeds);
  const std::vector<PageKey> open = *db.round().FetchList(PageKey{}, 1000);
  for (const PageKey& page : open) {
    Must(store.Complete({FetchSample(store, page)}, {}).status());
    committed();
  }
  if (db.round().journal().phase() == proto::FETCH)
    Must(db.round().SetPhase(proto::UPDATE));
  Must(db.round().Close("{}"));
}

}  // namespace gannet::storage
