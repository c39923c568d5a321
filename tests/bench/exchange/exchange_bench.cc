// URLs per second from one site's outbox into another's crawl DB, in two
// processes over loopback: pump, codec, gRPC, receiver, both synced. It is
// compared with putting the same URLs into a crawl DB of this process, in
// batches of the same size; five times in turn, each into empty DBs. Exit code
// 1 if the median of the ratios is below 0.6. Also prints the bytes per URL on
// the wire.
//
//   exchange_bench [--urls N]
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "federation/exchange/batch_receiver.h"
#include "federation/exchange/greeting.h"
#include "federation/exchange/pump.h"
#include "federation/map/map_changes.h"
#include "federation/ownership/ownership.h"
#include "federation/peers/peer_client.h"
#include "federation/peers/peer_server.h"
#include "tests/bench/exchange/recorded_crawl.h"
#include "tests/federation/peers/put_only_verbs.h"
#include "tests/temporary_folder.h"

namespace gannet::bench {
namespace {

using federation::MapHolder;
using federation::MapView;
using storage::CrawlDb;
using storage::FoundUrl;

constexpr storage::SiteId kReceiver{2};
constexpr int kRuns = 5;
constexpr double kLeastRatio = 0.6;
const size_t kBatch = federation::PumpSettings().urls_of_batch;
size_t most_urls = 300'000;

federation::Applicant Site(const char* name, uint64_t incarnation,
                           uint32_t capacity) {
  federation::Applicant site;
  site.name = name;
  site.incarnation = incarnation;
  site.address = "127.0.0.1:1";
  site.capacity = capacity;
  return site;
}

// The receiver owns nearly everything: the more URLs it gets, the steadier the
// figure.
federation::Map TwoSites() {
  const federation::Map first =
      FoundFederation(Site("sender", 1, 1), 7, {}, true).value();
  const federation::Map both =
      Join(federation::Invite(first, "receiver").value(),
           Site("receiver", 2, 20))
          .value();
  return federation::FinishHandOff(both).value();
}

std::unique_ptr<CrawlDb> OpenDb(const std::string& folder, const char* name,
                                uint64_t incarnation) {
  storage::CrawlDbSettings settings;
  settings.folder = folder;
  auto db = CrawlDb::Open(settings).value();
  proto::SiteIdentity identity;
  identity.set_name(name);
  identity.set_incarnation(incarnation);
  if (!db->records().SetIdentity(identity).ok()) std::abort();
  return db;
}

// A site that only receives batches.
class Receiver : public federation::PutOnlyVerbs {
 public:
  Receiver(CrawlDb& db, const MapHolder& maps)
      : db_(db),
        maps_(maps),
        // As many as a site has by default.
        receiver_({.most_host_pages = 1'000'000}, db, maps, canonicaliser_,
                  *filter_, storage::SystemClock()) {}

  absl::StatusOr<federation::PutPair> OpenPut(const federation::Caller&,
                                              const peers::Greeting& greeting,
                                              peers::PutReply& reply) override {
    const auto view = maps_.view();
    auto peer = federation::CheckGreeting(*view, greeting);
    if (!peer.ok()) return peer.status();
    *reply.mutable_greeting() = federation::MakeGreeting(*view, 2).value();
    reply.set_last(db_.incoming().received_pair(*peer)->last());
    return federation::PutPair{*peer, 2};
  }
  federation::OpenedBatch OpenBatch(const federation::PutPair& pair,
                                    const peers::Batch& batch) override {
    return receiver_.Open(pair.from, batch);
  }
  absl::Status StoreBatch(const federation::PutPair& pair,
                          const peers::Batch& batch,
                          federation::OpenedBatch opened,
                          peers::PutReply& reply) override {
    auto receipt = receiver_.Store(pair.from, batch, std::move(opened),
                                   pair.to_incarnation);
    if (!receipt.ok()) return receipt.status();
    reply.set_last(receipt->last);
    return absl::OkStatus();
  }

 private:
  CrawlDb& db_;
  const MapHolder& maps_;
  const storage::Canonicaliser canonicaliser_;
  const std::unique_ptr<storage::UrlFilter> filter_ =
      storage::UrlFilter::Create({}).value();
  federation::BatchReceiver receiver_;
};

// Runs in another process: writes its port to `say`, then receives until it is
// killed.
[[noreturn]] void Receive(int say) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const TemporaryFolder folder;
  const auto db = OpenDb(folder.path(), "receiver", 2);
  MapHolder maps(
      "receiver", [](const auto&) { return absl::OkStatus(); },
      storage::SystemClock());
  if (!maps.Offer(TwoSites()).ok()) std::abort();
  Receiver receiver(*db, maps);
  federation::PeerServerSettings settings;
  settings.address = "127.0.0.1:0";
  auto server =
      federation::PeerServer::Start(settings, receiver, storage::SystemClock())
          .value();
  const int port = server->port();
  if (write(say, &port, sizeof(port)) != sizeof(port)) std::abort();
  for (;;) pause();
}

struct Process {
  pid_t pid = 0;
  int port = 0;
};

// REQUIRES: this process has no threads yet.
Process StartReceiver() {
  int says[2];
  if (pipe(says) != 0) std::abort();
  Process other;
  other.pid = fork();
  if (other.pid == 0) Receive(says[1]);
  if (read(says[0], &other.port, sizeof(other.port)) != sizeof(other.port)) {
    std::abort();
  }
  close(says[0]);
  close(says[1]);
  return other;
}

void End(const Process& other) {
  kill(other.pid, SIGKILL);
  waitpid(other.pid, nullptr, 0);
}

// The receiver's URLs in the order of their keys, as in an outbox.
std::vector<FoundUrl> UrlsOfReceiver(const RecordedCrawl& crawl) {
  const auto view = MapView::Create(TwoSites(), "receiver").value();
  std::vector<FoundUrl> urls;
  for (uint32_t page = 0; page < crawl.pages() && urls.size() < most_urls;
       ++page) {
    if (federation::Ownership(*view).IsMine(crawl.key(page).bytes)) {
      // Without cash, because the ledger would have to account for it;
      // batch_codec_bench has the bytes with cash.
      urls.push_back({crawl.key(page), /*cash=*/0, 2, 0});
    }
  }
  std::sort(urls.begin(), urls.end(), [](const FoundUrl& a, const FoundUrl& b) {
    return a.page < b.page;
  });
  return urls;
}

// Calls `put` with batch after batch; returns the seconds.
template <typename Put>
double Batched(const std::vector<FoundUrl>& urls, const Put& put) {
  const absl::Time began = absl::Now();
  for (size_t i = 0; i < urls.size(); i += kBatch) {
    put(absl::MakeConstSpan(urls).subspan(i, kBatch));
  }
  return absl::ToDoubleSeconds(absl::Now() - began);
}

// The exchange's URLs per second, divided by those of PutIfAbsent.
double Compare(const std::vector<FoundUrl>& urls, int port) {
  const TemporaryFolder here, local;
  const auto db = OpenDb(here.path(), "sender", 1);
  std::vector<std::pair<storage::SiteId, FoundUrl>> out;
  for (const FoundUrl& url : urls) out.emplace_back(kReceiver, url);
  for (size_t i = 0; i < out.size(); i += kBatch) {
    if (!db->waiting()
             .SendAgain(absl::MakeConstSpan(out).subspan(i, kBatch))
             .ok()) {
      std::abort();
    }
  }

  MapHolder maps(
      "sender", [](const auto&) { return absl::OkStatus(); },
      storage::SystemClock());
  if (!maps.Offer(TwoSites()).ok()) std::abort();
  federation::Pump pump({}, *db, maps, kReceiver);
  federation::PeerClient client(
      federation::ConnectInsecurely("127.0.0.1:" + std::to_string(port), ""),
      "receiver");
  std::atomic<bool> stop = false;
  const absl::Time began = absl::Now();
  std::thread pumping([&] {
    const auto stream = client.OpenPut();
    const absl::Status status = pump.Run(*stream, stop);
    if (!stop && !status.ok())
      std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  });
  while (pump.counts().urls < urls.size()) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  const double exchange = absl::ToDoubleSeconds(absl::Now() - began);
  stop = true;
  pumping.join();

  const auto other = OpenDb(local.path(), "local", 3);
  const double put = Batched(urls, [&](absl::Span<const FoundUrl> batch) {
    if (!other->incoming().PutIfAbsent(batch, {absl::Now()}).ok()) std::abort();
  });
  const auto count = static_cast<double>(urls.size());
  std::printf("  between two processes %8.0f URLs/s, %.1f bytes each\n",
              count / exchange,
              static_cast<double>(pump.counts().bytes.urls) / count);
  std::printf("  PutIfAbsent here      %8.0f URLs/s\n", count / put);
  return put / exchange;
}

}  // namespace

int Main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--urls") == 0) {
    most_urls = std::strtoul(argv[2], nullptr, 10);
  }
  std::vector<Process> receivers;
  for (int i = 0; i < kRuns; ++i) receivers.push_back(StartReceiver());
  std::vector<double> ratios;
  const int code = OnTheRecordedWeb([&](const RecordedCrawl& crawl) {
    const std::vector<FoundUrl> urls = UrlsOfReceiver(crawl);
    std::printf("%zu URLs, batches of %zu\n", urls.size(), kBatch);
    for (const Process& receiver : receivers) {
      ratios.push_back(Compare(urls, receiver.port));
    }
  });
  for (const Process& receiver : receivers) End(receiver);
  if (code != 0) return code;
  std::sort(ratios.begin(), ratios.end());
  const double median = ratios[kRuns / 2];
  std::printf("  ratio %.2f, from %.2f to %.2f; at least %.1f is wanted\n",
              median, ratios.front(), ratios.back(), kLeastRatio);
  return median < kLeastRatio ? 1 : 0;
}

}  // namespace gannet::bench

int main(int argc, char** argv) { return gannet::bench::Main(argc, argv); }
