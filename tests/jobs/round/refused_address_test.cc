// The address check: a listener on every address of this machine must see no
// connection.
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "absl/time/clock.h"
#include "jobs/round/round.h"
#include "storage/site_store/site_store.h"
#include "tests/jobs/fetch/fake_dns.h"
#include "tests/temporary_folder.h"

namespace gannet::jobs {
namespace {

// Accepts connections on all IPv4 and IPv6 addresses, and never answers.
class Listener {
 public:
  Listener() : fd_(socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0)) {
    const int off = 0;
    setsockopt(fd_, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    sockaddr_in6 any = {};
    any.sin6_family = AF_INET6;
    any.sin6_addr = in6addr_any;
    socklen_t size = sizeof any;
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&any), size), 0);
    EXPECT_EQ(listen(fd_, 64), 0);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&any), &size);
    port_ = ntohs(any.sin6_port);
  }
  ~Listener() { close(fd_); }
  int port() const { return port_; }
  // How many connected since the last call.
  int Connections() {
    int count = 0;
    for (int fd; (fd = accept(fd_, nullptr, nullptr)) >= 0; ++count) close(fd);
    return count;
  }

 private:
  const int fd_;
  int port_ = 0;
};

// Serves on one address: every page redirects to the target that the number in
// its path selects; robots.txt does not exist, or redirects as well.
class MovingServer {
 public:
  MovingServer(const std::string& address, std::vector<std::string> targets,
               std::string robots_target)
      : fd_(socket(AF_INET, SOCK_STREAM, 0)),
        targets_(std::move(targets)),
        robots_target_(std::move(robots_target)) {
    sockaddr_in at = {};
    at.sin_family = AF_INET;
    inet_pton(AF_INET, address.c_str(), &at.sin_addr);
    socklen_t size = sizeof at;
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&at), size), 0);
    EXPECT_EQ(listen(fd_, 64), 0);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
    thread_ = std::thread([this] { Run(); });
  }
  ~MovingServer() {
    stop_ = true;
    thread_.join();
    close(fd_);
  }
  int port() const { return port_; }
  int requests() const { return requests_; }

 private:
  void Run() {
    while (!stop_) {
      pollfd waiting = {fd_, POLLIN, 0};
      if (poll(&waiting, 1, 20) <= 0) continue;
      const int client = accept(fd_, nullptr, nullptr);
      char request[4096];
      const ssize_t n = recv(client, request, sizeof request - 1, 0);
      request[n > 0 ? n : 0] = 0;
      ++requests_;
      int number = -1;
      std::string to;
      if (sscanf(request, "GET /%d ", &number) == 1) {
        to = targets_.at(static_cast<size_t>(number));
      } else {
        to = robots_target_;
      }
      const std::string reply =
          to.empty() ? "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n"
                       "Connection: close\r\n\r\n"
                     : fmt::format(
                           "HTTP/1.1 302 Found\r\nLocation: {}\r\n"
                           "Content-Length: 0\r\nConnection: close\r\n\r\n",
                           to);
      (void)!send(client, reply.data(), reply.size(), MSG_NOSIGNAL);
      close(client);
    }
  }

  const int fd_;
  const std::vector<std::string> targets_;
  const std::string robots_target_;
  int port_ = 0;
  std::atomic<bool> stop_ = false;
  std::atomic<int> requests_ = 0;
  std::thread thread_;
};

class RefusedAddressTest : public testing::Test {
 protected:
  RefusedAddressTest() {
    storage::SiteStoreSettings store;
    store.folder = folder_.path();
    store.create = true;
    store_ = storage::SiteStore::Open(store, storage::SystemClock()).value();
    filter_ = storage::UrlFilter::Create({}, canonicaliser_).value();
    FetchSettings& fetch = settings_.fetch.fetch;
    fetch.delay = absl::Milliseconds(1);
    fetch.download.user_agent = "gannet/test (+mailto:test@localhost)";
    fetch.download.timeout = absl::Seconds(2);
    fetch.download.connect_timeout = absl::Seconds(1);
    fetch.download.first_byte_timeout = absl::Milliseconds(300);
    fetch.resolver.tries = 1;
    fetch.resolver.timeout = absl::Seconds(1);
    settings_.fetch.page.canonicaliser = &canonicaliser_;
    settings_.fetch.page.filter = filter_.get();
    settings_.fetch.page.max_retries = 0;
  }

  void Inject(const std::string& url) {
    storage::Url parsed;
    ASSERT_EQ(canonicaliser_.Canonicalise(url, nullptr, parsed),
              storage::UrlOutcome::kOk)
        << url;
    ASSERT_TRUE(store_->crawl_db()
                    .incoming()
                    .Inject({storage::PageKeyOf(parsed)}, absl::Now())
                    .ok());
  }

  // Runs rounds until nothing is left.
  void Crawl() {
    std::atomic<bool> stop = false;
    const absl::Status status =
        Rounds(settings_, store_.get(), storage::SystemClock())
            .RunMany(std::nullopt, absl::ZeroDuration(), stop);
    ASSERT_TRUE(status.ok()) << status;
  }

  proto::PageRecord Record(const std::string& url) {
    storage::Url parsed;
    canonicaliser_.Canonicalise(url, nullptr, parsed);
    return store_->crawl_db()
        .records()
        .GetPage(storage::PageKeyOf(parsed))
        .value_or(proto::PageRecord());
  }

  void ExpectRefused(const std::string& url, const std::string& why) {
    const proto::PageRecord record = Record(url);
    EXPECT_EQ(record.state(), proto::FAILED) << url;
    EXPECT_EQ(record.place(), proto::FINISHED) << url;
    EXPECT_EQ(
        record.finished_reason(),
        "address_refused: the address may not be connected to (" + why + ")")
        << url;
  }

  TemporaryFolder folder_;
  storage::Canonicaliser canonicaliser_;
  std::unique_ptr<storage::UrlFilter> filter_;
  std::unique_ptr<storage::SiteStore> store_;
  RoundSettings settings_;
  Listener listener_;
};

// FakeDns in a thread of its own, for as long as this lives.
class RunningDns {
 public:
  RunningDns()
      : loop_(EventLoop::Create(storage::SystemClock()).value()),
        dns_(loop_.get()) {}
  ~RunningDns() { Stop(); }
  FakeDns& dns() { return dns_; }
  void Start() {
    stop_ = false;
    thread_ = std::thread([this] {
      while (!stop_) loop_->Run(absl::Milliseconds(20));
    });
  }
  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::unique_ptr<EventLoop> loop_;
  FakeDns dns_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

TEST_F(RefusedAddressTest, NoWayOfWritingLoopbackIsConnectedTo) {
  const int port = listener_.port();
  const std::pair<const char*, const char*> kHosts[] = {
      {"127.0.0.1", "127.0.0.1 is loopback"},
      {"127.3.2.1", "127.3.2.1 is loopback"},
      {"2130706434", "127.0.0.2 is loopback"},
      {"0x7f000003", "127.0.0.3 is loopback"},
      {"0177.0.0.4", "127.0.0.4 is loopback"},
      {"127.5", "127.0.0.5 is loopback"},
      {"[::1]", "::1 is loopback"},
      {"[::ffff:127.0.0.1]", "127.0.0.1 is loopback"},
      {"localhost", "127.0.0.1 is loopback"},
      {"0.0.0.0", "0.0.0.0 is unspecified"},
  };
  for (const auto& [host, why] : kHosts) {
    Inject(fmt::format("http://{}:{}/", host, port));
  }
  Crawl();
  for (const auto& [host, why] : kHosts) {
    ExpectRefused(fmt::format("http://{}:{}/", host, port), why);
  }
  EXPECT_EQ(listener_.Connections(), 0);
}

TEST_F(RefusedAddressTest, WithPrivateAddressesAllowedTheSameListenerIsAsked) {
  settings_.fetch.fetch.allow_private = true;
  Inject(fmt::format("http://127.0.0.1:{}/", listener_.port()));
  Crawl();
  EXPECT_GT(listener_.Connections(), 0);
  EXPECT_EQ(Record(fmt::format("http://127.0.0.1:{}/", listener_.port()))
                .finished_reason(),
            "first_byte: no answer came in time");
}

TEST_F(RefusedAddressTest, NoNameLeadsIntoAPrivateRange) {
  struct Case {
    const char* address;
    const char* what;
  };
  const Case kCases[] = {
      {"127.0.0.1", "loopback"},
      {"10.1.2.3", "private"},
      {"172.16.0.1", "private"},
      {"192.168.1.1", "private"},
      {"169.254.1.1", "link-local"},
      {"169.254.169.254", "cloud metadata"},
      {"100.64.0.1", "carrier-grade NAT"},
      {"224.0.0.1", "multicast"},
      {"255.255.255.255", "broadcast"},
      {"::1", "loopback"},
      {"::ffff:10.0.0.1", "private"},
      {"fe80::1", "link-local"},
      {"fd00::1", "unique local"},
      {"ff02::1", "multicast"},
      {"64:ff9b::7f00:1", "NAT64 of a private address"},
      {"2002:7f00:1::", "6to4 of a private address"},
  };
  RunningDns dns;
  settings_.fetch.fetch.resolver.servers = {dns.dns().server()};
  int number = 0;
  for (const Case& c : kCases) {
    const std::string host = fmt::format("h{}.gannet-test.example", number++);
    const uint16_t type =
        std::string(c.address).find(':') == std::string::npos ? 1 : 28;
    dns.dns().Say(host, {{host, type, 300, c.address}});
    Inject(fmt::format("http://{}:{}/", host, listener_.port()));
  }
  dns.Start();
  Crawl();
  number = 0;
  for (const Case& c : kCases) {
    const std::string url = fmt::format("http://h{}.gannet-test.example:{}/",
                                        number++, listener_.port());
    const proto::PageRecord record = Record(url);
    EXPECT_EQ(record.state(), proto::FAILED) << c.address;
    EXPECT_TRUE(record.finished_reason().starts_with("address_refused: ") &&
                record.finished_reason().ends_with(std::string(c.what) + ")"))
        << c.address << ": " << record.finished_reason();
  }
  EXPECT_EQ(listener_.Connections(), 0);
}

TEST_F(RefusedAddressTest, ARedirectDoesNotLeadWhereALinkMayNot) {
  const int port = listener_.port();
  const std::vector<std::string> targets = {
      fmt::format("http://127.0.0.1:{}/a", port),
      fmt::format("http://[::1]:{}/b", port),
      fmt::format("http://[::ffff:127.0.0.1]:{}/c", port),
      fmt::format("http://localhost:{}/d", port),
      fmt::format("http://127.77.0.2:{}/e", port)};
  settings_.fetch.fetch.allowed_addresses = {
      AddressRange::Parse("127.77.0.1/32").value()};
  MovingServer server("127.77.0.1", targets, /*robots_target=*/"");
  for (size_t i = 0; i < targets.size(); ++i) {
    Inject(fmt::format("http://127.77.0.1:{}/{}", server.port(), i));
  }
  Crawl();
  EXPECT_GT(server.requests(), static_cast<int>(targets.size()));
  for (size_t i = 0; i < targets.size(); ++i) {
    EXPECT_EQ(Record(fmt::format("http://127.77.0.1:{}/{}", server.port(), i))
                  .state(),
              proto::MOVED);
    const proto::PageRecord record = Record(targets[i]);
    EXPECT_EQ(record.state(), proto::FAILED) << targets[i];
    EXPECT_TRUE(record.finished_reason().starts_with("address_refused: "))
        << record.finished_reason();
  }
  EXPECT_EQ(listener_.Connections(), 0);
}

TEST_F(RefusedAddressTest, ARobotsTxtThatLeadsToARefusedAddressClosesTheHost) {
  settings_.fetch.fetch.allowed_addresses = {
      AddressRange::Parse("127.77.0.1/32").value()};
  MovingServer server(
      "127.77.0.1", {"http://x.example/"},
      fmt::format("http://127.0.0.1:{}/robots.txt", listener_.port()));
  const std::string url = fmt::format("http://127.77.0.1:{}/0", server.port());
  Inject(url);
  Crawl();
  EXPECT_EQ(server.requests(), 1);  // robots.txt, and no page.
  EXPECT_EQ(Record(url).state(), proto::BLOCKED);
  EXPECT_EQ(Record(url).finished_reason(), "robots.txt cannot be reached");
  EXPECT_EQ(listener_.Connections(), 0);
}

TEST_F(RefusedAddressTest, ARobotsTxtThatLeadsToABlockedHostClosesTheHost) {
  settings_.fetch.fetch.allowed_addresses = {
      AddressRange::Parse("127.77.0.0/24").value()};
  MovingServer blocked("127.77.0.9", {}, /*robots_target=*/"");
  MovingServer server(
      "127.77.0.1", {"http://x.example/"},
      fmt::format("http://127.77.0.9:{}/robots.txt", blocked.port()));
  ASSERT_TRUE(store_->crawl_db().blocks().Block("127.77.0.9").ok());
  const std::string url = fmt::format("http://127.77.0.1:{}/0", server.port());
  Inject(url);
  Crawl();
  EXPECT_EQ(blocked.requests(), 0);
  EXPECT_EQ(server.requests(), 1);  // robots.txt, and no page.
  EXPECT_EQ(Record(url).state(), proto::BLOCKED);
  EXPECT_EQ(Record(url).finished_reason(), "robots.txt cannot be reached");
}

TEST_F(RefusedAddressTest, ANameThatMovesToLoopbackBetweenRoundsIsRefused) {
  settings_.fetch.fetch.allowed_addresses = {
      AddressRange::Parse("127.77.0.1/32").value()};
  MovingServer server("127.77.0.1", {"", ""}, "");
  RunningDns dns;
  settings_.fetch.fetch.resolver.servers = {dns.dns().server()};
  const std::string host = "rebinding.gannet-test.example";
  dns.dns().Say(host, {{host, 1, 0, "127.77.0.1"}});
  dns.Start();
  const std::string first = fmt::format("http://{}:{}/0", host, server.port());
  Inject(first);
  Crawl();
  EXPECT_EQ(Record(first).state(), proto::GONE);
  dns.Stop();
  dns.dns().Say(host, {{host, 1, 0, "127.0.0.1"}});
  dns.Start();
  const std::string second =
      fmt::format("http://{}:{}/1", host, listener_.port());
  Inject(second);
  Crawl();
  ExpectRefused(second, "127.0.0.1 is loopback");
  EXPECT_EQ(listener_.Connections(), 0);
}

}  // namespace
}  // namespace gannet::jobs
