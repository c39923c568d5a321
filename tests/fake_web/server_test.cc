// What goes over the wire: correct HTTP, and each nasty kind as described.
#include "tests/fake_web/server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <zlib.h>

#include <thread>

#include "tests/fake_web/mix.h"
#include "tests/fake_web/raw_client.h"
#include "tests/fake_web/truth.h"

namespace gannet::fake_web {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// The size of the content; 0 if it is not one whole gzip member.
size_t UnpackedSize(std::string_view bytes) {
  z_stream stream = {};
  inflateInit2(&stream, 15 + 16);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::vector<Bytef> out(1 << 20);
  int code = Z_OK;
  while (code == Z_OK) {
    stream.next_out = out.data();
    stream.avail_out = static_cast<uInt>(out.size());
    code = inflate(&stream, Z_NO_FLUSH);
  }
  const size_t size = stream.total_out;
  inflateEnd(&stream);
  return code == Z_STREAM_END ? size : 0;
}

class ServerTest : public testing::Test {
 protected:
  void Start(std::string_view nasty = "none", int threads = 1) {
    options_.hosts = 60;
    options_.pages = 3000;
    options_.nasty = ParseNasty(nasty).value();
    web_ = Web::Create(options_).value();
    server_ = Server::Start(web_.get(), &clock_,
                            {.threads = threads, .keep_log = true})
                  .value();
  }
  // The n-th URL of a kind.
  Ref Find(Nasty kind, uint32_t n = 0) const {
    for (uint32_t host = 0; host < web_->hosts().count(); ++host) {
      for (uint32_t id = 0; id < web_->Extras(host); ++id) {
        if (web_->ExtraKind(host, id) == kind && n-- == 0) {
          return {.host = host, .id = id, .kind = kind};
        }
      }
    }
    ADD_FAILURE() << "no " << Name(kind);
    return {};
  }
  std::string Target(const Ref& ref) const {
    std::string target;
    web_->AppendTarget(ref, &target);
    return target;
  }
  std::string Host(const Ref& ref) const {
    return std::string(web_->hosts().Name(ref.host));
  }
  WireResponse Get(const Ref& ref, std::string_view headers = "") {
    RawClient client(server_->port());
    client.silence = absl::Seconds(2);
    return client.Get(Host(ref), Target(ref), headers);
  }
  uint32_t HostWith(Nasty robots) const {
    for (uint32_t host = 1; host < web_->hosts().count(); ++host) {
      if (web_->RobotsKind(host) == robots) return host;
    }
    ADD_FAILURE() << "no host with " << Name(robots);
    return 0;
  }

  WebOptions options_;
  WebClock clock_;
  std::unique_ptr<Web> web_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerTest, OneConnectionServesManyRequestsAndHosts) {
  Start();
  RawClient client(server_->port());
  for (uint32_t host = 0; host < 20; ++host) {
    const WireResponse response = client.Get(web_->hosts().Name(host), "/");
    ASSERT_EQ(response.status, 200);
    EXPECT_THAT(response.body,
                HasSubstr(std::string(web_->hosts().Name(host))));
  }
  ASSERT_TRUE(server_->Stop().ok());
  EXPECT_EQ(server_->served().connections, 1u);
  EXPECT_EQ(server_->served().requests, 20u);
}

TEST_F(ServerTest, PipelinedRequestsAreAnsweredInOrder) {
  Start();
  RawClient client(server_->port());
  std::string requests;
  for (uint32_t host = 0; host < 30; ++host) {
    requests += fmt::format("GET / HTTP/1.1\r\nHost: {}\r\n\r\n",
                            web_->hosts().Name(host));
  }
  ASSERT_TRUE(client.Send(requests));
  for (uint32_t host = 0; host < 30; ++host) {
    EXPECT_THAT(client.Read().body,
                HasSubstr(std::string(web_->hosts().Name(host))));
  }
}

TEST_F(ServerTest, AbsoluteFormPortsCapitalsAndHeadAreUnderstood) {
  Start();
  const std::string host(web_->hosts().Name(3));
  const std::string plain = Fetch(server_->port(), host, "/").body;
  EXPECT_EQ(Fetch(server_->port(), host + ":8080", "/").body, plain);
  std::string loud = host;
  for (char& c : loud) c = static_cast<char>(toupper(c));
  EXPECT_EQ(Fetch(server_->port(), loud, "/").body, plain);
  EXPECT_EQ(Fetch(server_->port(), "elsewhere", "http://" + host + "/").body,
            plain);
  RawClient client(server_->port());
  client.Send(fmt::format("HEAD / HTTP/1.1\r\nHost: {}\r\n\r\n", host));
  const WireResponse head = client.Read(/*head_only=*/true);
  EXPECT_EQ(head.Header("content-length"), std::to_string(plain.size()));
  EXPECT_EQ(client.Get(host, "/").body, plain);  // The HEAD had no body.
}

TEST_F(ServerTest, ThreadsMakeNoDifferenceToTheBytes) {
  Start("all", 1);
  std::vector<Ref> refs;
  Truth truth(web_.get(), {});
  for (const TruePage& page : truth.Reachable()) {
    if (page.ref.kind == Nasty::kNone && page.ref.id % 10 == 0) {
      refs.push_back(page.ref);
    }
  }
  std::vector<std::string> before;
  for (const Ref& ref : refs) before.push_back(Get(ref).raw);
  Start("all", 4);
  std::vector<std::string> after(refs.size());
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = t; i < refs.size(); i += 4) after[i] = Get(refs[i]).raw;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(before, after);
}

TEST_F(ServerTest, GarbageIsAnsweredOrDroppedAndNeverFatal) {
  Start();
  for (uint64_t round = 0; round < 300; ++round) {
    RawClient client(server_->port());
    client.silence = absl::Milliseconds(1);
    std::string bytes;
    const uint64_t length = Mix(round) % 300;
    for (uint64_t i = 0; i < length; ++i) {
      const uint64_t h = Mix(round, i);
      // Half of them look like HTTP at first.
      static constexpr std::string_view kPieces[] = {
          "GET ", "/",        " HTTP/1.1\r\n", "Host: ", "\r\n",
          ":",    "\r\n\r\n", "http://",       "%",      "?",
          " ",    "a"};
      if (round % 2 == 0) {
        bytes += kPieces[h % std::size(kPieces)];
      } else {
        bytes.push_back(static_cast<char>(h));
      }
    }
    client.Send(bytes);
    client.ReadAll();
  }
  const std::string host(web_->hosts().Name(0));
  for (const std::string_view bad :
       {"GET / HTTP/3.0\r\n\r\n", "\x01\x02\x03\r\n\r\n",
        "GET nothing HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nNo colon\r\n\r\n"}) {
    RawClient client(server_->port());
    client.Send(bad);
    EXPECT_THAT(client.ReadAll(), StartsWith("HTTP/1.1 400 ")) << bad;
  }
  RawClient client(server_->port());
  client.Send("GET /" + std::string(70'000, 'x'));
  EXPECT_THAT(client.ReadAll(), StartsWith("HTTP/1.1 431 "));
  EXPECT_EQ(Fetch(server_->port(), host, "/").status, 200);
}

TEST_F(ServerTest, EveryLoopbackAddressAnswersAndIsLogged) {
  Start();
  for (const std::string address : {"127.0.0.1", "127.1.2.3", "127.255.0.9"}) {
    RawClient client(server_->port(), address, "127.0.0.77");
    ASSERT_TRUE(client.connected()) << address;
    EXPECT_EQ(client.Get(web_->hosts().Name(0), "/").status, 200);
  }
  ASSERT_TRUE(server_->Stop().ok());
  std::vector<std::string> addresses;
  for (const LogEntry& entry : server_->Log()) {
    addresses.push_back(FormatAddress(entry.address));
    EXPECT_EQ(FormatAddress(entry.asker), "127.0.0.77");
    EXPECT_GE(entry.end_ns, entry.arrival_ns);
  }
  EXPECT_THAT(addresses,
              testing::ElementsAre("127.0.0.1", "127.1.2.3", "127.255.0.9"));
}

// An IPv4 address of this machine that is not loopback, or empty.
std::string OtherAddress() {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return "";
  std::string found;
  for (const ifaddrs* i = all; i != nullptr; i = i->ifa_next) {
    if (i->ifa_addr == nullptr || i->ifa_addr->sa_family != AF_INET) continue;
    char text[INET_ADDRSTRLEN];
    inet_ntop(AF_INET, &reinterpret_cast<sockaddr_in*>(i->ifa_addr)->sin_addr,
              text, sizeof(text));
    if (!std::string_view(text).starts_with("127.")) found = text;
  }
  freeifaddrs(all);
  return found;
}

TEST_F(ServerTest, AnAddressThatIsNotLoopbackIsNotServed) {
  Start();
  const std::string address = OtherAddress();
  if (address.empty()) GTEST_SKIP() << "this machine has only loopback";
  RawClient client(server_->port(), address);
  if (!client.connected()) return;  // The kernel refused it: even better.
  client.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.ReadAll(), "");
}

TEST_F(ServerTest, AnUnchangedPageIs304AndAChangedOneIsNew) {
  Start("changes");
  clock_.Set(WebClock::DefaultOrigin());
  const Ref ref{.host = 4, .id = 0};
  const WireResponse first = Get(ref);
  const std::string etag =
      fmt::format("If-None-Match: {}\r\n", first.Header("etag"));
  EXPECT_EQ(Get(ref, etag).status, 304);
  EXPECT_EQ(Get(ref, fmt::format("If-Modified-Since: {}\r\n",
                                 first.Header("last-modified")))
                .status,
            304);
  EXPECT_EQ(Get(ref).raw, first.raw);
  clock_.Set(WebClock::DefaultOrigin() + 2 * web_->ChangeInterval(ref));
  const WireResponse second = Get(ref, etag);
  EXPECT_EQ(second.status, 200);
  EXPECT_NE(second.body, first.body);
  EXPECT_NE(second.Header("last-modified"), first.Header("last-modified"));
}

TEST_F(ServerTest, GzipIsSentOnlyToThoseWhoAcceptIt) {
  options_.gzip = true;
  Start();
  const Ref ref{.host = 2};
  const WireResponse plain = Get(ref);
  EXPECT_EQ(plain.Header("content-encoding"), "");
  const WireResponse packed = Get(ref, "Accept-Encoding: br, gzip;q=0.5\r\n");
  EXPECT_EQ(packed.Header("content-encoding"), "gzip");
  EXPECT_LT(packed.body.size() * 2, plain.body.size());
  EXPECT_THAT(packed.body, StartsWith("\x1f\x8b"));
  EXPECT_EQ(Get(ref, "Accept-Encoding: gzip;q=0\r\n").body, plain.body);
}

TEST_F(ServerTest, LatencyDelaysTheAnswerByHostAndAsker) {
  options_.latency = absl::Milliseconds(100);
  Start();
  const absl::Time start = absl::Now();
  EXPECT_EQ(Get({.host = 1}).status, 200);
  EXPECT_GE(absl::Now() - start, web_->Latency(1, 0x7f000001));
}

TEST_F(ServerTest, PeopleSeeAPageThatExplainsAndCrawlersAreKeptOut) {
  Start();
  const std::string me = fmt::format("127.0.0.1:{}", server_->port());
  const WireResponse page = Fetch(server_->port(), me, "/");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body,
              HasSubstr(fmt::format("--connect-to 127.0.0.0/8:{} --delay",
                                    server_->port())));
  const std::string preview = fmt::format("/_web/{}/", web_->hosts().Name(0));
  const WireResponse shown = Fetch(server_->port(), me, preview);
  EXPECT_EQ(shown.status, 200);
  EXPECT_THAT(shown.body, Not(HasSubstr("href=\"http")));
  EXPECT_THAT(shown.body, HasSubstr("href=\"/_web/"));
  EXPECT_EQ(Fetch(server_->port(), me, "/other").status, 404);
  EXPECT_THAT(Fetch(server_->port(), me, "/robots.txt").body,
              HasSubstr("Disallow: /\n"));
}

TEST_F(ServerTest, RobotsFilesComeAsTheirKindsSay) {
  options_.slow = absl::Milliseconds(100);
  Start("robots");
  auto robots = [&](Nasty kind) {
    return Fetch(server_->port(), web_->hosts().Name(HostWith(kind)),
                 "/robots.txt");
  };
  EXPECT_EQ(robots(Nasty::kRobotsMissing).status, 404);
  EXPECT_EQ(robots(Nasty::kRobotsForbidden).status, 403);
  EXPECT_EQ(robots(Nasty::kRobotsError).status, 500);
  EXPECT_GT(robots(Nasty::kRobotsHuge).body.size(), 500u * 1024);
  EXPECT_THAT(robots(Nasty::kRobotsBom).body, StartsWith("\xEF\xBB\xBF"));
  EXPECT_EQ(robots(Nasty::kRobotsEmpty).body, "");
  EXPECT_THAT(robots(Nasty::kRobotsCrawlDelay).body, HasSubstr("Crawl-delay"));
  const absl::Time start = absl::Now();
  EXPECT_THAT(robots(Nasty::kRobotsSlow).body, HasSubstr("Disallow"));
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(90));
  const WireResponse moved = robots(Nasty::kRobotsRedirect);
  EXPECT_EQ(moved.status, 302);
  EXPECT_EQ(moved.Header("location"), "/robots-1.txt");
}

TEST_F(ServerTest, ErrorsComeAsAnnouncedAndRecoverAfterTheirTries) {
  options_.retry_after_seconds = 3;
  Start("errors");
  EXPECT_EQ(Get(Find(Nasty::kNotFound)).status, 404);
  EXPECT_EQ(Get(Find(Nasty::kGone)).status, 410);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Get(Find(Nasty::kError)).status, 500);
  for (const auto& [kind, status] :
       std::map<Nasty, int>{{Nasty::kErrorRecovers, 500},
                            {Nasty::kBusy503, 503},
                            {Nasty::kBusy429, 429}}) {
    const Ref ref = Find(kind);
    for (uint32_t i = 0; i < web_->RefusedTries(ref); ++i) {
      const WireResponse refused = Get(ref);
      EXPECT_EQ(refused.status, status);
      if (kind == Nasty::kErrorRecovers) continue;
      const int seconds = atoi(refused.Header("retry-after").c_str());
      EXPECT_GE(seconds, 1);
      EXPECT_LE(seconds, 3);
    }
    EXPECT_EQ(Get(ref).status, 200) << Name(kind);
    EXPECT_EQ(Get(ref).status, 200) << Name(kind);
  }
}

TEST_F(ServerTest, RedirectsLeadToTheirTargetsAndLoopsToThemselves) {
  Start("redirects");
  for (uint32_t n = 0; n < 20; ++n) {
    const Ref ref = Find(Nasty::kRedirect, n);
    const WireResponse response = Get(ref);
    EXPECT_THAT(response.status, testing::AnyOf(301, 302, 303, 307, 308));
    std::string location = response.Header("location");
    if (location[0] == '/') location = "http://" + Host(ref) + location;
    EXPECT_EQ(location, web_->Url(*web_->Redirect(ref)));
  }
  Ref chain = Find(Nasty::kRedirectChain);
  int hops = 0;
  while (Get(chain).status != 200) {
    chain = *web_->Redirect(chain);
    ASSERT_LE(++hops, 5);
  }
  EXPECT_GE(hops, 2);
  const Ref loop = Find(Nasty::kRedirectLoop);
  Ref at = loop;
  do {
    at = *web_->Redirect(at);
    EXPECT_EQ(Get(at).status / 100, 3);
  } while (!(at == loop));
}

TEST_F(ServerTest, HostileAnswersDoWhatTheySay) {
  options_.slow = absl::Milliseconds(200);
  Start("hostile");
  EXPECT_EQ(Get(Find(Nasty::kStall)).end, WireEnd::kTimedOut);
  EXPECT_EQ(Get(Find(Nasty::kShortLength)).end, WireEnd::kCutShort);
  EXPECT_EQ(Get(Find(Nasty::kHugeHeaders)).end, WireEnd::kTooLong);
  for (uint32_t n = 0; n < 4; ++n) {
    EXPECT_EQ(Get(Find(Nasty::kEndless, n)).end, WireEnd::kTooLong);
    EXPECT_EQ(Get(Find(Nasty::kReset, n)).end, WireEnd::kReset);
    EXPECT_EQ(Get(Find(Nasty::kGarbageStatus, n)).end, WireEnd::kNotHttp);
  }
  const absl::Time start = absl::Now();
  const WireResponse slow = Get(Find(Nasty::kSlow));
  EXPECT_EQ(slow.end, WireEnd::kWhole);
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(180));

  const Ref overfull = Find(Nasty::kLongLength);
  EXPECT_EQ(Get(overfull).end, WireEnd::kWhole);
  RawClient client(server_->port());
  client.Send(fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n",
                          Target(overfull), Host(overfull)));
  EXPECT_THAT(client.ReadAll(), HasSubstr("</html>\nHTTP/1.1 200 OK"));

  const WireResponse bomb = Get(Find(Nasty::kGzipBomb));
  EXPECT_EQ(bomb.Header("content-encoding"), "gzip");
  EXPECT_LT(bomb.body.size(), 400'000u);
  EXPECT_GT(UnpackedSize(bomb.body), size_t{256} << 20);

  ASSERT_TRUE(server_->Stop().ok());
  for (const LogEntry& entry : server_->Log()) {
    // The kernel may have taken all headers before the asker left: no abort.
    if (entry.kind == Nasty::kHugeHeaders) continue;
    const bool left =
        entry.kind == Nasty::kStall || entry.kind == Nasty::kEndless;
    EXPECT_EQ(entry.end, left                          ? LogEnd::kAborted
                         : entry.kind == Nasty::kReset ? LogEnd::kReset
                                                       : LogEnd::kWhole)
        << Name(entry.kind);
  }
}

TEST_F(ServerTest, TrapsGoOnAndEndWhereTheyAreTold) {
  options_.trap_size = 7;
  Start("traps");
  for (const Nasty kind : {Nasty::kCalendar, Nasty::kSession}) {
    Ref ref = Find(kind);
    for (int step = 0; step < 7; ++step) {
      ref.step = static_cast<uint16_t>(step);
      Ref next = ref;
      next.step = static_cast<uint16_t>(step + 1);
      const WireResponse page = Get(ref);
      ASSERT_EQ(page.status, 200) << Target(ref);
      EXPECT_EQ(page.body.find(Target(next)) != std::string::npos, step < 6);
    }
  }
  for (const Nasty kind : {Nasty::kGrowingPath, Nasty::kGrowingQuery}) {
    Ref ref = Find(kind);
    ref.step = 150;
    EXPECT_EQ(Get(ref).status, 200) << Target(ref);
  }
}

TEST_F(ServerTest, PagesHoldWhatTheirKindsSay) {
  Start("pages");
  Ref mirror = Find(Nasty::kMirror), other = mirror;
  other.step = 1;
  EXPECT_NE(Target(mirror), Target(other));
  EXPECT_EQ(Get(mirror).body, Get(other).body);
  EXPECT_THAT(Get(Find(Nasty::kScriptTitle)).body,
              HasSubstr("<title><script>alert"));
  EXPECT_THAT(Get(Find(Nasty::kCanonical)).body,
              HasSubstr("<link rel=\"canonical\""));
  EXPECT_THAT(Get(Find(Nasty::kMetaNofollow)).body, HasSubstr("NoFollow"));
  EXPECT_EQ(Get(Find(Nasty::kHeaderNofollow)).headers.count("x-robots-tag"),
            2u);
  std::set<std::string> types, charsets;
  for (uint32_t n = 0; n < 20; ++n) {
    types.insert(Get(Find(Nasty::kNonHtml, n)).Header("content-type"));
    charsets.insert(Get(Find(Nasty::kCharset, n)).Header("content-type"));
  }
  EXPECT_EQ(types.size(), 5u);
  EXPECT_EQ(charsets.size(), 3u);
}

}  // namespace
}  // namespace gannet::fake_web
