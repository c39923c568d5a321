// What goes over the TLS port, and over the plain port of https hosts.
#include "tests/fake_web/tls_server.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/x509_vfy.h>

#include "tests/fake_web/raw_client.h"
#include "tests/fake_web/server.h"

namespace gannet::fake_web {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using End = Handshake::End;

class TlsServerTest : public testing::Test {
 protected:
  void Start(std::string_view nasty, double https_share, uint32_t hosts = 60) {
    options_.hosts = hosts;
    options_.pages = 50 * uint64_t{hosts};
    options_.nasty = ParseNasty(nasty).value();
    options_.https_share = https_share;
    web_ = Web::Create(options_).value();
    server_ =
        Server::Start(web_.get(), &clock_, {.tls_port = 0, .keep_log = true})
            .value();
    trust_ = std::make_unique<TlsTrust>(
        CertificateMaker(web_->options().seed).CaPem());
  }
  std::string Host(uint32_t host) const {
    return std::string(web_->hosts().Name(host));
  }
  std::string Target(const Ref& ref) const {
    std::string target;
    web_->AppendTarget(ref, &target);
    return target;
  }
  uint32_t HostOf(bool https) const {
    uint32_t host = 1;
    while (web_->IsHttps(host) != https) ++host;
    return host;
  }
  uint32_t HostWith(Nasty tls) const {
    for (uint32_t host = 1; host < web_->hosts().count(); ++host) {
      if (web_->TlsKind(host) == tls) return host;
    }
    ADD_FAILURE() << "no host with " << Name(tls);
    return 0;
  }
  // The n-th page of a kind.
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
  WireResponse GetTls(const std::string& host, const std::string& target) {
    RawClient client(server_->tls_port());
    client.silence = absl::Seconds(2);
    const Handshake handshake = client.StartTls(*trust_, host);
    EXPECT_EQ(handshake.end, End::kDone) << host << ": " << handshake.error;
    return client.Get(host, target);
  }
  Handshake Shake(uint32_t host) {
    RawClient client(server_->tls_port());
    client.silence = absl::Seconds(2);
    return client.StartTls(*trust_, Host(host));
  }

  WebOptions options_;
  WebClock clock_;
  std::unique_ptr<Web> web_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<TlsTrust> trust_;
};

TEST_F(TlsServerTest, AWebWithHttpsHostsNeedsATlsPort) {
  options_.https_share = 0.5;
  const auto web = Web::Create(options_).value();
  const auto server = Server::Start(web.get(), &clock_, {});
  EXPECT_TRUE(absl::IsInvalidArgument(server.status()));
  EXPECT_THAT(std::string(server.status().message()), HasSubstr("--tls-port"));
}

TEST_F(TlsServerTest, OneConnectionServesManyRequestsAndIsLoggedAsHttps) {
  Start("none", 1);
  RawClient client(server_->tls_port(), "127.4.5.6");
  ASSERT_EQ(client.StartTls(*trust_, Host(3)).end, End::kDone);
  for (uint32_t id = 0; id < 20; ++id) {
    const WireResponse response =
        client.Get(Host(3), Target({.host = 3, .id = id}));
    ASSERT_EQ(response.status, 200);
    ASSERT_EQ(response.end, WireEnd::kWhole);
    EXPECT_THAT(response.body, HasSubstr("</html>"));
  }
  ASSERT_TRUE(server_->Stop().ok());
  EXPECT_EQ(server_->served().connections, 1u);
  const std::vector<LogEntry> log = server_->Log();
  ASSERT_EQ(log.size(), 20u);
  EXPECT_TRUE(log[0].tls);
  EXPECT_EQ(FormatAddress(log[0].address), "127.4.5.6");
}

TEST_F(TlsServerTest, TheServersCaIsTheSeeds) {
  Start("none", 1);
  const TlsTrust trust(server_->CaPem());
  RawClient client(server_->tls_port());
  EXPECT_EQ(client.StartTls(trust, Host(0)).end, End::kDone);
  const TlsTrust stranger(CertificateMaker(99).CaPem());
  RawClient other(server_->tls_port());
  EXPECT_EQ(other.StartTls(stranger, Host(0)).end, End::kNotTrusted);
}

TEST_F(TlsServerTest, Tls12And13AreSpokenAndHttp11IsTheOnlyProtocol) {
  Start("none", 1);
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    SSL_CTX_set_min_proto_version(trust_->context(), version);
    SSL_CTX_set_max_proto_version(trust_->context(), version);
    constexpr unsigned char kOffer[] = "\x02h2\x08http/1.1";
    SSL_CTX_set_alpn_protos(trust_->context(), kOffer, sizeof(kOffer) - 1);
    RawClient client(server_->tls_port());
    ASSERT_EQ(client.StartTls(*trust_, Host(1)).end, End::kDone);
    EXPECT_EQ(SSL_version(client.tls()), version);
    const unsigned char* chosen = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(client.tls(), &chosen, &size);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(chosen), size),
              "http/1.1");
    EXPECT_EQ(client.Get(Host(1), "/").status, 200);
  }
}

TEST_F(TlsServerTest, TwoThousandHostsShowTheirOwnCertificates) {
  Start("none", 1, 2000);
  for (uint32_t host = 0; host < 2000; ++host) {
    const Handshake handshake = Shake(host);
    ASSERT_EQ(handshake.end, End::kDone)
        << Host(host) << ": " << handshake.error;
  }
}

TEST_F(TlsServerTest, ThePlainPortOfAnHttpsHostRedirectsEveryUrl) {
  Start("none", 0.5);
  const std::string host = Host(HostOf(/*https=*/true));
  for (const std::string target : {"/", "/robots.txt", "/no?such=page"}) {
    const WireResponse moved = Fetch(server_->port(), host, target);
    EXPECT_EQ(moved.status, 301);
    EXPECT_EQ(moved.Header("location"), "https://" + host + target);
  }
  EXPECT_EQ(GetTls(host, "/").status, 200);
  EXPECT_THAT(GetTls(host, "/robots.txt").body, HasSubstr("Disallow"));
  const std::string plain = Host(HostOf(/*https=*/false));
  EXPECT_EQ(Fetch(server_->port(), plain, "/").status, 200);
  EXPECT_EQ(GetTls(plain, "/").status, 404);
}

TEST_F(TlsServerTest, NastyCertificatesAreRefusedForTheReasonThatTheyName) {
  Start("tls", 1);
  auto error = [&](Nasty kind) {
    const Handshake handshake = Shake(HostWith(kind));
    EXPECT_EQ(handshake.end, End::kNotTrusted) << Name(kind);
    return handshake.verify_error;
  };
  EXPECT_EQ(error(Nasty::kTlsExpired), X509_V_ERR_CERT_HAS_EXPIRED);
  EXPECT_EQ(error(Nasty::kTlsSelfSigned),
            X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT);
  EXPECT_EQ(error(Nasty::kTlsWrongName), X509_V_ERR_HOSTNAME_MISMATCH);
  EXPECT_EQ(error(Nasty::kTlsUnknownIssuer),
            X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY);
  ASSERT_TRUE(server_->Stop().ok());
  EXPECT_EQ(server_->served().requests, 0u);
  EXPECT_EQ(server_->served().by_kind[static_cast<size_t>(Nasty::kTlsExpired)],
            1u);
}

TEST_F(TlsServerTest, AHostThatStallsTheHandshakeStaysSilent) {
  Start("tls", 1);
  const std::string host = Host(HostWith(Nasty::kTlsStall));
  RawClient client(server_->tls_port());
  client.silence = absl::Milliseconds(200);
  client.before_giving_up = [&] { GetTls(Host(0), "/"); };
  EXPECT_EQ(client.StartTls(*trust_, host).end, End::kTimedOut);
}

TEST_F(TlsServerTest, AnOldProtocolIsSpokenToClientsThatAllowIt) {
  Start("tls", 1);
  const uint32_t host = HostWith(Nasty::kTlsOldProtocol);
  const Handshake refused = Shake(host);
  EXPECT_EQ(refused.end, End::kRefused);
  EXPECT_THAT(refused.error, HasSubstr("protocol version"));
  for (const int version : {TLS1_VERSION, TLS1_1_VERSION}) {
    SSL_CTX_set_security_level(trust_->context(), 0);
    SSL_CTX_set_min_proto_version(trust_->context(), version);
    SSL_CTX_set_max_proto_version(trust_->context(), version);
    EXPECT_EQ(GetTls(Host(host), "/").status, 200);
    EXPECT_EQ(Shake(0).end, End::kRefused);  // Other hosts refuse it.
  }
}

TEST_F(TlsServerTest, PlainHttpAnswersTheClientHelloWithText) {
  Start("tls", 1);
  const std::string host = Host(HostWith(Nasty::kTlsPlainHttp));
  RawClient client(server_->tls_port());
  EXPECT_EQ(client.StartTls(*trust_, host).end, End::kRefused);
  // Sends the same ClientHello by hand, to see the bytes of the answer.
  SSL* ssl = SSL_new(trust_->context());
  SSL_set_tlsext_host_name(ssl, host.c_str());
  SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  SSL_connect(ssl);
  char* hello = nullptr;
  const long size = BIO_get_mem_data(SSL_get_wbio(ssl), &hello);
  RawClient raw(server_->tls_port());
  ASSERT_TRUE(raw.Send({hello, static_cast<size_t>(size)}));
  SSL_free(ssl);
  EXPECT_THAT(raw.ReadAll(), StartsWith("HTTP/1.1 400 Bad Request\r\n"));
}

TEST_F(TlsServerTest, HostileAnswersDoOverTlsWhatTheyDoWithout) {
  options_.slow = absl::Milliseconds(200);
  Start("hostile", 1);
  auto get = [&](Nasty kind, uint32_t n = 0) {
    const Ref ref = Find(kind, n);
    return GetTls(Host(ref.host), Target(ref));
  };
  EXPECT_EQ(get(Nasty::kStall).end, WireEnd::kTimedOut);
  EXPECT_EQ(get(Nasty::kShortLength).end, WireEnd::kCutShort);
  EXPECT_EQ(get(Nasty::kLongLength).end, WireEnd::kWhole);
  EXPECT_EQ(get(Nasty::kHugeHeaders).end, WireEnd::kTooLong);
  EXPECT_EQ(get(Nasty::kGzipBomb).end, WireEnd::kWhole);
  for (uint32_t n = 0; n < 4; ++n) {
    EXPECT_EQ(get(Nasty::kEndless, n).end, WireEnd::kTooLong);
    EXPECT_EQ(get(Nasty::kReset, n).end, WireEnd::kReset);
    EXPECT_EQ(get(Nasty::kGarbageStatus, n).end, WireEnd::kNotHttp);
  }
  const absl::Time start = absl::Now();
  EXPECT_EQ(get(Nasty::kSlow).end, WireEnd::kWhole);
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(180));
}

TEST_F(TlsServerTest, GarbageInPlaceOfAHandshakeIsNeverFatal) {
  Start("none", 1);
  for (const std::string_view bytes :
       {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "", "\x16\x03\x01\x00\x05hello",
        "\x16\x03\x01\xff\xff"}) {
    RawClient client(server_->tls_port());
    client.silence = absl::Milliseconds(20);
    client.Send(bytes);
    client.ReadAll();
  }
  // Without SNI, and for an unknown name: the default certificate.
  for (const std::string name : {"", "localhost"}) {
    RawClient client(server_->tls_port());
    ASSERT_EQ(client.StartTls(*trust_, name).end, End::kDone);
    EXPECT_THAT(client.Get("127.0.0.1", "/").body,
                HasSubstr(fmt::format("--connect-to 127.0.0.0/8:{},{} "
                                      "--ca-file FILE --delay",
                                      server_->port(), server_->tls_port())));
  }
  EXPECT_EQ(GetTls(Host(0), "/").status, 200);
}

}  // namespace
}  // namespace gannet::fake_web
