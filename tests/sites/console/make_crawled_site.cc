// make_crawled_site DIR: a site after two rounds and in its third, with
// something of everything that the commands show:
//
//   http://a.example/       fetched, a title with escape codes, two outlinks
//   http://a.example/next   fetched in round 2, into a second archive file;
//                           noindex, and has a rel=canonical
//   http://b.example/       fetched, chunked body
//   http://b.example/two    never fetched, in the open round
//   http://gone.example/x   gone
//
// b.example rests and has a robots.txt that asks for more than its delay.
#include <fmt/format.h>

#include <cstdlib>

#include "storage/archive/digest.h"
#include "storage/archive/outlinks.h"
#include "storage/site_store/site_store.h"

namespace gannet::storage {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);
const absl::Time kFarAway = absl::FromUnixSeconds(4'000'000'000);

void Must(const absl::Status& status) {
  if (status.ok()) return;
  fmt::print(stderr, "{}\n", status.ToString());
  abort();
}

PageKey KeyOf(std::string_view url) { return PageKeyOf(*Url::Parse(url)); }

Completion Fetch(SiteStore& store, const std::string& url, absl::Time when,
                 std::string_view fields, std::string_view body,
                 const std::vector<std::string>& links,
                 std::string_view more_metadata = "") {
  const std::string head = fmt::format(
      "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{}\r\n", fields);
  const std::string outlinks =
      std::string(more_metadata) + OutlinksBlock(links);
  NewRecord response;
  response.url = url;
  response.date = when;
  response.head = head;
  response.payload = body;
  NewRecord metadata;
  metadata.type = RecordType::kMetadata;
  metadata.url = url;
  metadata.date = when;
  metadata.head = outlinks;
  metadata.concurrent_to = 0;
  const auto positions = store.archive().Append({response, metadata});
  Must(positions.status());
  Completion done;
  done.page = KeyOf(url);
  done.outcome.set_state(proto::FETCHED);
  done.outcome.set_http_status(200);
  done.outcome.set_visited_ms(absl::ToUnixMillis(when));
  done.outcome.set_payload_digest(Sha1Digest(body));
  proto::ArchivePosition* at = done.outcome.mutable_archive();
  at->set_file(static_cast<uint32_t>(positions->front().file));
  at->set_offset(positions->front().offset);
  at->set_length(positions->front().length);
  done.ready = kFarAway;
  done.keeps_history = true;
  for (const std::string& link : links) done.outlinks.push_back(KeyOf(link));
  return done;
}

Completion Gone(std::string_view url) {
  Completion done;
  done.page = KeyOf(url);
  done.outcome.set_state(proto::GONE);
  done.outcome.set_http_status(404);
  done.outcome.set_visited_ms(absl::ToUnixMillis(kNow));
  done.outcome.set_finished_reason("404");
  return done;
}

void OpenRound(CrawlDb& db) {
  Must(db.round().Open(kNow));
  Must(db.frontier().Claim(*db.frontier().Top(100, 100)).status());
  Must(db.round().PayRoot());
  Must(db.round().SetPhase(proto::FETCH));
}

void CloseRound(CrawlDb& db, std::string_view report) {
  Must(db.round().SetPhase(proto::UPDATE));
  Settlement settlement;
  Must(db.round().ForEachOutlinks([&](std::string_view, const auto& segment) {
    for (const std::string& target : segment.targets()) {
      settlement.local.push_back(
          {PageKey{target}, segment.cash_each(), segment.depth()});
      settlement.cursor = std::max(settlement.cursor, target);
    }
  }));
  if (!settlement.local.empty())
    Must(db.round().Settle(settlement, {kNow}).status());
  Must(db.round().Close(report));
}

void Make(const std::string& folder) {
  SiteStoreSettings settings;
  settings.folder = folder;
  settings.create = true;
  auto opened = SiteStore::Open(settings, SystemClock());
  Must(opened.status());
  SiteStore& store = **opened;
  CrawlDb& db = store.crawl_db();

  Must(db.incoming()
           .Inject({KeyOf("http://a.example/"), KeyOf("http://b.example/"),
                    KeyOf("http://gone.example/x")},
                   kNow)
           .status());
  OpenRound(db);
  Must(store
           .Complete({Fetch(store, "http://a.example/", kNow, "",
                            "<html><TITLE>Home \x1b[2J\n page</title></html>",
                            {"http://a.example/next", "http://b.example/two"}),
                      Fetch(store, "http://b.example/", kNow,
                            "Transfer-Encoding: chunked\r\n",
                            "5\r\nhello\r\n0\r\n\r\n", {}),
                      Gone("http://gone.example/x")},
                     {})
           .status());
  CloseRound(db,
             R"({"round": 1, "started": "2023-11-14T22:13:20Z", "seconds": 75.5,
             "fetched": 2, "unchanged": 0, "moved": 0, "gone": 1, "failed": 0,
             "blocked": 0, "released": 0, "known": 5, "frontier": 2,
             "deferred": 0, "bytes": 1234567,
             "phase_seconds": {"fetch": 75}, "dropped": {}})");

  store.archive().EndFile();
  OpenRound(db);
  Completion next = Fetch(store, "http://a.example/next", kNow + absl::Hours(1),
                          "", "<p>next</p>", {"http://a.example/"},
                          "title: Next\r\ncanonical: http://a.example/n\r\n");
  next.outcome.set_noindex(true);
  Must(store.Complete({next}, {}).status());
  Must(db.frontier().Release({KeyOf("http://b.example/two")}));
  CloseRound(db, "{}");  // A report as an older version might have left it.

  OpenRound(db);
  HostUpdate host;
  host.host.bytes = std::string(HostPartOf(KeyOf("http://b.example/").bytes));
  host.record.set_failures(4);
  host.record.set_delay_ms(2500);
  host.record.set_rest_until_ms(absl::ToUnixMillis(kFarAway));
  proto::RobotsRules* robots = host.record.add_robots();
  robots->set_origin("http://b.example:80");
  robots->set_http_status(200);
  robots->set_text("User-agent: *\nCrawl-delay: 20\n");
  robots->set_expires_ms(absl::ToUnixMillis(kFarAway));
  Must(db.records().PutHost(host));
}

}  // namespace
}  // namespace gannet::storage

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  gannet::storage::Make(argv[1]);
}
