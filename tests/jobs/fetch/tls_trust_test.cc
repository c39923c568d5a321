// Whom https connections believe, and the sessions that they share: a client
// with libcurl as the crawler has it, against a web with a CA of its own.
#include "jobs/fetch/tls_trust.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/time/clock.h"
#include "jobs/fetch/single_fetch.h"
#include "jobs/fetch/tls_session_cache.h"
#include "tests/fake_web/certificate_maker.h"
#include "tests/fake_web/server.h"
#include "tests/temporary_folder.h"

namespace gannet::jobs {
namespace {

using testing::HasSubstr;

struct ContextDeleter {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using Context = std::unique_ptr<SSL_CTX, ContextDeleter>;

class TlsSessionCacheTest : public testing::Test {
 protected:
  SslSession Session() {
    SslSession session(SSL_SESSION_new());
    SSL_SESSION_set_protocol_version(session.get(), TLS1_2_VERSION);
    SSL_SESSION_set_cipher(
        session.get(),
        sk_SSL_CIPHER_value(SSL_CTX_get_ciphers(context_.get()), 0));
    return session;
  }

  Context context_{SSL_CTX_new(TLS_client_method())};
};

TEST_F(TlsSessionCacheTest, ASessionIsFoundByItsServerUntilItExpires) {
  TlsSessionCache cache(1 << 20);
  const SslSession session = Session();
  EXPECT_EQ(cache.Find("a.example"), nullptr);
  cache.Put("a.example", session.get());
  EXPECT_NE(cache.Find("a.example"), nullptr);
  EXPECT_EQ(cache.Find("b.example"), nullptr);
  SSL_SESSION_set_time(session.get(), 1000);
  cache.Put("a.example", session.get());
  EXPECT_EQ(cache.Find("a.example"), nullptr);
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST_F(TlsSessionCacheTest, AFullCacheForgetsTheOldestServers) {
  TlsSessionCache cache(10'000);
  const SslSession session = Session();
  for (int i = 0; i < 1000; ++i) {
    cache.Put(fmt::format("host{}.example", i), session.get());
    ASSERT_LE(cache.bytes(), 10'000u);
  }
  EXPECT_EQ(cache.Find("host0.example"), nullptr);
  EXPECT_NE(cache.Find("host999.example"), nullptr);
  cache.Clear();
  EXPECT_EQ(cache.Find("host999.example"), nullptr);
  EXPECT_EQ(cache.bytes(), 0u);
}

class TlsTrustTest : public testing::Test {
 protected:
  TlsTrustTest() {
    fake_web::WebOptions options;
    options.hosts = 4;
    options.pages = 20;
    options.https_share = 1;
    web_ = fake_web::Web::Create(options).value();
    server_ =
        fake_web::Server::Start(web_.get(), &clock_, {.tls_port = 0}).value();
    url_ = storage::Url::Parse(web_->Url(web_->Seeds()[0])).value();
  }

  void WriteCaOf(uint64_t seed) {
    std::ofstream(file_) << fake_web::CertificateMaker(seed).CaPem();
  }

  std::unique_ptr<SingleFetch> Fetch() {
    FetchSettings settings;
    settings.download.user_agent = "gannet/test";
    settings.download.ca_file = file_;
    settings.connect_to =
        ConnectTo::Parse(fmt::format("127.0.0.1:{},{}", server_->port(),
                                     server_->tls_port()))
            .value();
    return SingleFetch::Create(settings).value();
  }

  // Asks for something at `url_`, and looks at the first byte of the answer.
  // `before` that. False if the server is not trusted.
  bool Connect(
      const fake_web::Server& server,
      const std::function<void()>& before = [] {}) {
    const Context context(SSL_CTX_new(TLS_client_method()));
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    if (trust_ == nullptr) trust_ = TlsTrust::For(file_);
    trust_->SetUp(context.get(), server.tls_port(), now_);
    const std::unique_ptr<BIO, decltype(&BIO_free_all)> owner(
        BIO_new_ssl_connect(context.get()), &BIO_free_all);
    BIO* const bio = owner.get();
    SSL* connection = nullptr;
    BIO_get_ssl(bio, &connection);
    SSL_set_tlsext_host_name(connection, std::string(url_.host()).c_str());
    BIO_set_conn_hostname(
        bio, fmt::format("127.0.0.1:{}", server.tls_port()).c_str());
    if (BIO_do_handshake(bio) != 1) return false;
    before();
    const std::string request =
        fmt::format("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", url_.host());
    EXPECT_GT(BIO_write(bio, request.data(), static_cast<int>(request.size())),
              0);
    char byte;
    EXPECT_EQ(BIO_read(bio, &byte, 1), 1);
    return true;
  }

  TemporaryFolder folder_;
  const std::string file_ = folder_.path() + "/ca.pem";
  TlsTrust* trust_ = nullptr;  // As Connect() got it: once.
  absl::Time now_ = absl::UnixEpoch();
  fake_web::WebClock clock_;
  std::unique_ptr<fake_web::Web> web_;
  std::unique_ptr<fake_web::Server> server_;
  storage::Url url_;
};

TEST_F(TlsTrustTest, AFileThatChangesIsReadAgainWithoutARestart) {
  WriteCaOf(/*seed=*/99);
  EXPECT_EQ(Fetch()->Get(url_).failure, Failure::kTlsUnknownIssuer);
  WriteCaOf(/*seed=*/1);
  EXPECT_EQ(Fetch()->Get(url_).failure, Failure::kNone);
  // Who is no longer trusted is not let in by an old session either.
  WriteCaOf(/*seed=*/99);
  EXPECT_EQ(Fetch()->Get(url_).failure, Failure::kTlsUnknownIssuer);
}

TEST_F(TlsTrustTest, AFileThatChangesIsSeenWithinASecond) {
  WriteCaOf(/*seed=*/1);
  EXPECT_TRUE(Connect(*server_));
  WriteCaOf(/*seed=*/99);
  now_ += absl::Milliseconds(999);
  EXPECT_TRUE(Connect(*server_));
  now_ += absl::Milliseconds(1);
  EXPECT_FALSE(Connect(*server_));
}

TEST_F(TlsTrustTest, WhileItIsInUseAFileThatBreaksChangesNothing) {
  WriteCaOf(/*seed=*/1);
  EXPECT_TRUE(Connect(*server_));
  std::ofstream(file_) << "half of a certif";
  now_ += absl::Hours(1);
  EXPECT_TRUE(Connect(*server_));
  // Whoever asks is told.
  const absl::Status now = TlsTrust::For(file_)->Check();
  EXPECT_EQ(now.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(now.message()), HasSubstr("fetch.ca_file"));
  const absl::Status still = TlsTrust::For(file_)->CheckStillThere();
  EXPECT_EQ(still.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(still.message()), HasSubstr(file_));
  WriteCaOf(/*seed=*/1);
  EXPECT_TRUE(TlsTrust::For(file_)->CheckStillThere().ok());
}

TEST_F(TlsTrustTest, AFileThatWasNeverThereHasNotGone) {
  EXPECT_FALSE(TlsTrust::For(file_)->Check().ok());
  EXPECT_TRUE(TlsTrust::For(file_)->CheckStillThere().ok());
}

// libcurl would parse it, or the system's, for each connection: 27 ms of CPU.
TEST_F(TlsTrustTest, TheFileIsReadOnceForAllConnectionsAndTheSystemsNever) {
  WriteCaOf(/*seed=*/1);
  const int notify = inotify_init1(IN_NONBLOCK);
  const int own = inotify_add_watch(notify, file_.c_str(), IN_OPEN);
  int of_system = -1;
  CURL* easy = curl_easy_init();
  const char* system = nullptr;
  if (curl_easy_getinfo(easy, CURLINFO_CAINFO, &system) == CURLE_OK &&
      system != nullptr) {
    of_system = inotify_add_watch(notify, system, IN_OPEN);
  }
  curl_easy_cleanup(easy);
  std::map<int, int> opened;
  for (int i = 0; i < 2; ++i) {
    const std::unique_ptr<SingleFetch> fetch = Fetch();
    for (uint32_t host = 0; host < 4; ++host) {
      const auto url = storage::Url::Parse(web_->Url({.host = host})).value();
      EXPECT_EQ(fetch->Get(url).failure, Failure::kNone);
      // Looked at each time: equal events in a row become one.
      alignas(inotify_event) char events[4096];
      const ssize_t size = read(notify, events, sizeof events);
      for (ssize_t at = 0; at < size;) {
        const auto* event = reinterpret_cast<const inotify_event*>(events + at);
        ++opened[event->wd];
        at += static_cast<ssize_t>(sizeof *event + event->len);
      }
    }
  }
  close(notify);
  EXPECT_EQ(opened[own], 1);
  EXPECT_EQ(opened[of_system], 0);
}

// TLS 1.3: a session comes after the handshake, with the first bytes.
TEST_F(TlsTrustTest, ASessionOfWhoWasTrustedBeforeIsNotKept) {
  WriteCaOf(/*seed=*/1);
  TlsTrust* const trust = TlsTrust::For(file_);
  // With the same certificates it is kept.
  for (const uint64_t seed : {1, 99}) {
    Connect(*server_, [&] {
      if (seed != 1) WriteCaOf(seed);
      ASSERT_TRUE(trust->Check().ok());
    });
    EXPECT_EQ(trust->session_bytes() > 0, seed == 1);
  }
}

// They may be of different servers, with certificates of their own.
TEST_F(TlsTrustTest, EachPortOfAHostHasASessionOfItsOwn) {
  WriteCaOf(/*seed=*/1);
  TlsTrust* const trust = TlsTrust::For(file_);
  Connect(*server_);
  const size_t one = trust->session_bytes();
  ASSERT_GT(one, 0u);
  Connect(*server_);
  EXPECT_LT(trust->session_bytes(), one + one / 2);
  const auto other =
      fake_web::Server::Start(web_.get(), &clock_, {.tls_port = 0}).value();
  Connect(*other);
  EXPECT_GT(trust->session_bytes(), one + one / 2);
}

TEST_F(TlsTrustTest, AllWhoNameAFileShareWhatWasReadAndTheSessions) {
  WriteCaOf(/*seed=*/1);
  EXPECT_EQ(Fetch()->Get(url_).failure, Failure::kNone);
  TlsTrust* const trust = TlsTrust::For(file_);
  EXPECT_EQ(trust, TlsTrust::For(file_));
  EXPECT_GT(trust->session_bytes(), 0u);
}

}  // namespace
}  // namespace gannet::jobs
