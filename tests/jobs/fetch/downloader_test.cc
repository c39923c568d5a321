// Answers and proxies that the fake web has not got.
#include "jobs/fetch/downloader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>

#include "jobs/fetch/single_fetch.h"
#include "jobs/fetch/tls_trust.h"
#include "tests/fake_web/server.h"
#include "tests/jobs/fetch/scripted_server.h"
#include "tests/temporary_folder.h"

namespace gannet::jobs {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

storage::Url UrlOf(const std::string& text) {
  return storage::Url::Parse(text).value();
}

std::unique_ptr<SingleFetch> FetchFrom(uint16_t port) {
  FetchSettings settings;
  settings.download.user_agent = "gannet/test";
  settings.connect_to =
      ConnectTo::Parse(fmt::format("127.0.0.1:{},{}", port, port)).value();
  return SingleFetch::Create(settings).value();
}

std::unique_ptr<SingleFetch> FetchBy(const std::string& proxy) {
  FetchSettings settings;
  settings.download.user_agent = "gannet/test";
  settings.download.proxy = proxy;
  return SingleFetch::Create(settings).value();
}

// libcurl takes no line of more than 100 KiB, and calls that "out of memory".
// It must not be taken for ours: the page would be asked for again and again.
TEST(DownloaderTest, AHeaderLineThatLibcurlRefusesIsTooLarge) {
  ScriptedServer server([](const std::string&) {
    return Page("x", "X: " + std::string(110 << 10, 'y') + "\r\n");
  });
  const auto fetch = FetchFrom(server.port());
  EXPECT_EQ(fetch->Get(UrlOf("http://a.example/")).failure,
            Failure::kHeadersTooLarge);
  EXPECT_EQ(fetch->GetRobots(UrlOf("http://a.example/")).failure,
            Failure::kHeadersTooLarge);
}

// The same of a trailer, after the body.
TEST(DownloaderTest, ATrailerThatLibcurlRefusesIsNoShortageOfOurs) {
  ScriptedServer server([](const std::string&) {
    return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n"
           "0\r\nX: " +
           std::string(110 << 10, 'y') + "\r\n\r\n";
  });
  const Response response =
      FetchFrom(server.port())->Get(UrlOf("http://a.example/"));
  EXPECT_NE(response.failure, Failure::kNone);
  EXPECT_FALSE(IsLocal(response.failure)) << FailureName(response.failure);
}

// Nobody answers, but this machine did its part.
TEST(DownloaderTest, AResponseSaysWhetherThereWasANewSocket) {
  ScriptedServer server(nullptr);
  const Response closed =
      FetchFrom(server.port())->Get(UrlOf("http://a.example/"));
  EXPECT_EQ(closed.failure, Failure::kReset);
  EXPECT_TRUE(closed.had_socket);
  ScriptedServer answers([](const std::string&) { return Page("x"); });
  const auto fetch = FetchFrom(answers.port());
  EXPECT_TRUE(fetch->Get(UrlOf("http://a.example/")).had_socket);
  EXPECT_FALSE(fetch->Get(UrlOf("http://a.example/")).had_socket);
}

class ManyAtOnceTest : public testing::Test {
 protected:
  void Start(size_t connections, size_t idle) {
    DownloadSettings settings;
    settings.connections = connections;
    settings.max_idle_connections = idle;
    downloader_ =
        Downloader::Create(
            settings, loop_.get(), [](const Address&) { return true; },
            [this](uint64_t, Response response) {
              EXPECT_EQ(response.failure, Failure::kNone);
            })
            .value();
  }

  void Ask(uint32_t host) {
    Request request;
    request.url = fmt::format("http://h{}.example/", host);
    request.target = "/";
    request.host = host;
    request.address = Address::Parse("127.0.0.1").value();
    request.port = server_.port();
    downloader_->Start(0, std::move(request));
    while (downloader_->active() > 0) {
      loop_->Run(std::min(
          downloader_->NextTimeout() - storage::SystemClock().SteadyNow(),
          absl::Duration(absl::Milliseconds(20))));
      downloader_->OnTime();
    }
  }

  ScriptedServer server_{[](const std::string&) { return Page("x"); }};
  std::unique_ptr<EventLoop> loop_ =
      EventLoop::Create(storage::SystemClock()).value();
  std::unique_ptr<Downloader> downloader_;
};

// libcurl counts those in use and those kept together. 64 multi handles.
TEST_F(ManyAtOnceTest, ConnectionsInUseTakeNoPlacesOfThoseThatAreKept) {
  Start(/*connections=*/128, /*idle=*/64);
  for (int round = 0; round < 3; ++round) {
    for (const uint32_t host : {0u, 64u, 128u}) Ask(host);
  }
  EXPECT_EQ(server_.connections(), 3);
}

TEST_F(ManyAtOnceTest, NoMoreConnectionsAreKeptThanAllowed) {
  Start(/*connections=*/1, /*idle=*/64);
  for (int round = 0; round < 2; ++round) {
    for (const uint32_t host : {0u, 64u, 128u}) Ask(host);
  }
  EXPECT_EQ(server_.connections(), 6);
}

TEST(ProxyTest, ATunnelThatTheProxyRefusesIsAFailureToConnect) {
  ScriptedServer proxy([](const std::string&) {
    return "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n";
  });
  const Response response =
      FetchBy(fmt::format("http://127.0.0.1:{}", proxy.port()))
          ->Get(UrlOf("https://a.example/"));
  EXPECT_EQ(response.failure, Failure::kConnect);
  EXPECT_THAT(response.detail, HasSubstr("403"));
  // What the proxy said is no word of the host.
  EXPECT_THAT(response.head, IsEmpty());
  ASSERT_EQ(proxy.heads().size(), 1u);
  EXPECT_THAT(proxy.heads()[0], StartsWith("CONNECT a.example:443 "));
}

TEST(ProxyTest, AProxyThatBreaksTheTunnelIsAFailureToConnect) {
  ScriptedServer proxy([](const std::string&) { return ""; });
  const Response response =
      FetchBy(fmt::format("http://127.0.0.1:{}", proxy.port()))
          ->Get(UrlOf("https://a.example/"));
  EXPECT_EQ(response.failure, Failure::kConnect);
}

TEST(ProxyTest, AProxyWithoutAnAddressSaysNothingOfTheHostsName) {
  const Response response =
      FetchBy("http://proxy.invalid:3128")->Get(UrlOf("http://a.example/"));
  EXPECT_EQ(response.failure, Failure::kConnect);
  EXPECT_THAT(response.detail, HasSubstr("proxy.invalid"));
}

TEST(ProxyTest, ASocksProxyThatRefusesIsAFailureToConnect) {
  ScriptedServer proxy(nullptr);
  const Response response =
      FetchBy(fmt::format("socks5h://127.0.0.1:{}", proxy.port()))
          ->Get(UrlOf("http://a.example/"));
  EXPECT_EQ(response.failure, Failure::kConnect);
}

class TunnelTest : public testing::Test {
 protected:
  TunnelTest() {
    fake_web::WebOptions options;
    options.hosts = 4;
    options.pages = 20;
    options.https_share = 1;
    web_ = fake_web::Web::Create(options).value();
    server_ =
        fake_web::Server::Start(web_.get(), &clock_, {.tls_port = 0}).value();
    url_ = UrlOf(web_->Url(web_->Seeds()[0]));
    std::ofstream(file_) << server_->CaPem();
  }

  std::unique_ptr<SingleFetch> FetchBy(const std::string& proxy) {
    FetchSettings settings;
    settings.download.user_agent = "gannet/test";
    settings.download.proxy = proxy;
    settings.download.ca_file = file_;
    return SingleFetch::Create(settings).value();
  }

  // How many certificates may vouch for servers.
  int Trusted() {
    SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
    TlsTrust::For(file_)->SetUp(context, 443, absl::UnixEpoch());
    const int count = sk_X509_OBJECT_num(
        X509_STORE_get0_objects(SSL_CTX_get_cert_store(context)));
    SSL_CTX_free(context);
    return count;
  }

  TemporaryFolder folder_;
  const std::string file_ = folder_.path() + "/ca.pem";
  fake_web::WebClock clock_;
  std::unique_ptr<fake_web::Web> web_;
  std::unique_ptr<fake_web::Server> server_;
  storage::Url url_;
};

TEST_F(TunnelTest, WhatAHostIsAskedAndSaysIsWithoutTheProxysPart) {
  ScriptedServer proxy(
      [](const std::string&) { return "HTTP/1.1 200 Tunnel\r\n\r\n"; },
      server_->tls_port());
  const Response response =
      FetchBy(fmt::format("http://127.0.0.1:{}", proxy.port()))->Get(url_);
  EXPECT_EQ(response.failure, Failure::kNone) << response.detail;
  EXPECT_EQ(proxy.heads().size(), 1u);
  EXPECT_THAT(response.request_head, StartsWith("GET / "));
  EXPECT_THAT(response.head, StartsWith("HTTP/1.1 200 OK\r\n"));
}

// libcurl has a file of the system's certificates for proxies, too, and would
// add it to the store of the connection, which is that of all.
TEST_F(TunnelTest, AProxyThatSpeaksTlsWidensNobodysTrust) {
  ASSERT_EQ(Trusted(), 1);
  // Whatever becomes of it: the certificates are loaded as it answers.
  (void)FetchBy(fmt::format("https://127.0.0.1:{}", server_->tls_port()))
      ->Get(url_);
  EXPECT_EQ(Trusted(), 1);
}

}  // namespace
}  // namespace gannet::jobs
