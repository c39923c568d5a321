// The CA and its certificates, read back by OpenSSL's own verification.
#include "tests/fake_web/certificate_maker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

namespace gannet::fake_web {
namespace {

OpensslPtr<X509> ReadPem(const std::string& pem) {
  const OpensslPtr<BIO> bio(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return OpensslPtr<X509>(
      PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
}

// X509_V_OK, or why a client that trusts `ca` refuses the certificate.
int Verify(X509* ca, X509* certificate, const std::string& host) {
  X509_STORE* store = X509_STORE_new();
  X509_STORE_add_cert(store, ca);
  X509_STORE_CTX* context = X509_STORE_CTX_new();
  X509_STORE_CTX_init(context, store, certificate, nullptr);
  X509_STORE_CTX_set_default(context, "ssl_server");
  X509_VERIFY_PARAM* rules = X509_STORE_CTX_get0_param(context);
  X509_VERIFY_PARAM_set1_host(rules, host.data(), host.size());
  // Python 3.13 and others set this flag.
  X509_VERIFY_PARAM_set_flags(rules, X509_V_FLAG_X509_STRICT);
  X509_verify_cert(context);
  const int error = X509_STORE_CTX_get_error(context);
  X509_STORE_CTX_free(context);
  X509_STORE_free(store);
  return error;
}

constexpr char kHost[] = "www.larchdusk0.example";

TEST(CertificateMakerTest, TheCaIsAFunctionOfTheSeed) {
  const OpensslPtr<X509> a = ReadPem(CertificateMaker(7).CaPem());
  const OpensslPtr<X509> b = ReadPem(CertificateMaker(7).CaPem());
  const OpensslPtr<X509> other = ReadPem(CertificateMaker(8).CaPem());
  ASSERT_TRUE(a && b && other);
  EXPECT_EQ(EVP_PKEY_eq(X509_get0_pubkey(a.get()), X509_get0_pubkey(b.get())),
            1);
  EXPECT_EQ(X509_NAME_cmp(X509_get_subject_name(a.get()),
                          X509_get_subject_name(b.get())),
            0);
  EXPECT_EQ(ASN1_INTEGER_cmp(X509_get0_serialNumber(a.get()),
                             X509_get0_serialNumber(b.get())),
            0);
  EXPECT_NE(
      EVP_PKEY_eq(X509_get0_pubkey(a.get()), X509_get0_pubkey(other.get())), 1);
  char name[256];
  X509_NAME_oneline(X509_get_subject_name(a.get()), name, sizeof(name));
  EXPECT_THAT(name, testing::HasSubstr("Gannet's fake web"));
}

// The CA and the host's certificate come from two makers with the same seed, as
// if one process had printed the CA and another serves.
TEST(CertificateMakerTest, AHostsCertificateIsGoodForItsNameAlone) {
  const OpensslPtr<X509> ca = ReadPem(CertificateMaker(7).CaPem());
  CertificateMaker maker(7);
  const OpensslPtr<X509> made = maker.Certificate(kHost, Nasty::kNone);
  EXPECT_EQ(Verify(ca.get(), made.get(), kHost), X509_V_OK);
  EXPECT_EQ(Verify(ca.get(), made.get(), "sub.www.larchdusk0.example"),
            X509_V_ERR_HOSTNAME_MISMATCH);
  EXPECT_EQ(Verify(ca.get(), maker.DefaultCertificate().get(), "localhost"),
            X509_V_OK);
  EXPECT_EQ(X509_check_private_key(made.get(), maker.host_key()), 1);
  const OpensslPtr<X509> other = ReadPem(CertificateMaker(8).CaPem());
  EXPECT_NE(Verify(other.get(), made.get(), kHost), X509_V_OK);
}

TEST(CertificateMakerTest, ACertificateIsMadeOnceAndKept) {
  CertificateMaker maker(1);
  const OpensslPtr<X509> first = maker.Certificate(kHost, Nasty::kNone);
  EXPECT_EQ(maker.Certificate(kHost, Nasty::kNone).get(), first.get());
  EXPECT_NE(maker.Certificate(kHost, Nasty::kTlsExpired).get(), first.get());
}

TEST(CertificateMakerTest, AHostNameMayBeLongerThanACommonName) {
  const std::string host =
      std::string(60, 'a') + "." + std::string(60, 'b') + ".example";
  CertificateMaker maker(1);
  const OpensslPtr<X509> ca = ReadPem(maker.CaPem());
  EXPECT_EQ(Verify(ca.get(), maker.Certificate(host, Nasty::kNone).get(), host),
            X509_V_OK);
}

TEST(CertificateMakerTest, NastyCertificatesAreWrongAsTheirNamesSay) {
  CertificateMaker maker(1);
  const OpensslPtr<X509> ca = ReadPem(maker.CaPem());
  auto error = [&](Nasty kind) {
    return Verify(ca.get(), maker.Certificate(kHost, kind).get(), kHost);
  };
  EXPECT_EQ(error(Nasty::kTlsExpired), X509_V_ERR_CERT_HAS_EXPIRED);
  EXPECT_EQ(error(Nasty::kTlsSelfSigned),
            X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT);
  EXPECT_EQ(error(Nasty::kTlsWrongName), X509_V_ERR_HOSTNAME_MISMATCH);
  EXPECT_EQ(error(Nasty::kTlsUnknownIssuer),
            X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY);
  EXPECT_EQ(error(Nasty::kTlsOldProtocol), X509_V_OK);
}

}  // namespace
}  // namespace gannet::fake_web
