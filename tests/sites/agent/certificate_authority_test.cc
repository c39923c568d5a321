#include "sites/agent/certificate_authority.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "absl/time/clock.h"
#include "sites/agent/certificate.h"
#include "tests/sites/agent/certificates.h"

namespace gannet::sites {
namespace {

using testing::HasSubstr;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

CertificateAuthority MakeAuthority(int64_t days = 3650) {
  return CertificateAuthority::Create(kNow, days).value();
}

TEST(CertificateAuthorityTest,
     ASitesCertificateNamesTheSiteAndNoAdministrator) {
  const auto pem =
      MakeAuthority().IssueSite("tokyo", {"tokyo.example"}, kNow, 9);
  ASSERT_TRUE(pem.ok()) << pem.status();
  EXPECT_EQ(SiteNameOf(pem->cert), "tokyo");
  EXPECT_FALSE(IsAdministrator(pem->cert));
  EXPECT_EQ(pem->expires, kNow + absl::Hours(24 * 9));
}

TEST(CertificateAuthorityTest, AnAdministratorsCertificateIsOneAndNoSites) {
  const auto pem = MakeAuthority().IssueAdministrator("ann", kNow, 9);
  ASSERT_TRUE(pem.ok()) << pem.status();
  EXPECT_TRUE(IsAdministrator(pem->cert));
  EXPECT_EQ(SiteNameOf(pem->cert), std::nullopt);
}

TEST(CertificateAuthorityTest, ItIsReadAgainFromWhatItWrote) {
  const CertificateAuthority first = MakeAuthority();
  const auto again =
      CertificateAuthority::Read(first.pem().cert, first.pem().key);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->pem().cert, first.pem().cert);
  EXPECT_EQ(again->pem().expires, first.pem().expires);
  EXPECT_TRUE(again->IssueSite("lima", {}, kNow, 1).ok());
}

TEST(CertificateAuthorityTest, WhatIsNoAuthorityIsRefused) {
  const CertificateAuthority authority = MakeAuthority();
  const auto& own = authority.pem();
  const auto site = authority.IssueSite("tokyo", {}, kNow, 1).value();
  const auto refusal = [](const std::string& cert, const std::string& key) {
    return std::string(
        CertificateAuthority::Read(cert, key).status().message());
  };
  EXPECT_THAT(refusal("", own.key), HasSubstr("no certificate"));
  EXPECT_THAT(refusal(own.cert, own.cert), HasSubstr("no key"));
  EXPECT_THAT(refusal(own.cert, site.key), HasSubstr("not the certificate's"));
  EXPECT_THAT(refusal(site.cert, site.key),
              HasSubstr("not one of an authority"));
}

TEST(CertificateAuthorityTest, NoCertificateOutlivesItsAuthority) {
  const CertificateAuthority authority = MakeAuthority(/*days=*/5);
  const absl::Time end = kNow + absl::Hours(24 * 5);
  EXPECT_EQ(authority.IssueSite("tokyo", {}, kNow, 365)->expires, end);
  EXPECT_TRUE(absl::IsFailedPrecondition(
      authority.IssueSite("tokyo", {}, end, 1).status()));
}

TEST(CertificateAuthorityTest, ARenewalIsForTheSameKey) {
  const CertificateAuthority authority = MakeAuthority();
  const auto first = authority.IssueSite("tokyo", {}, kNow, 1).value();
  const auto second = authority.IssueSite("tokyo", {}, kNow, 9, first.key);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->key, first.key);
  EXPECT_NE(second->cert, first.cert);
  EXPECT_TRUE(absl::IsInvalidArgument(
      authority.IssueSite("tokyo", {}, kNow, 9, first.cert).status()));
}

TEST(CertificateAuthorityTest, NamesThatWouldSayMoreAreRefused) {
  const CertificateAuthority authority = MakeAuthority();
  for (const char* name :
       {"", "to kyo", "tokyo,URI:gannet:administrator", "../tokyo", ".tokyo",
        "-tokyo", "a/b", "t\xc3\xb4k"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(
        authority.IssueSite(name, {}, kNow, 1).status()))
        << name;
    EXPECT_TRUE(absl::IsInvalidArgument(
        authority.IssueAdministrator(name, kNow, 1).status()))
        << name;
  }
  for (const char* host :
       {"", "a b", "a.example,URI:gannet:administrator", "a.example:7701",
        "URI:gannet:administrator", "*.a", "10.0.0.0/8", "[::1]:1"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(
        authority.IssueSite("tokyo", {host}, kNow, 1).status()))
        << host;
  }
  EXPECT_TRUE(
      authority.IssueSite("tokyo", {"2001:db8::1", "192.0.2.7"}, kNow, 1).ok());
}

// Certificates of other authorities may have any names.
TEST(SiteNameOfTest, OnlyOneUriWithASitesNameIsOne) {
  Authority authority("ca");
  const auto name = [&](const std::string& names) {
    return SiteNameOf(authority.Issue("x", "", names).cert);
  };
  EXPECT_EQ(name("URI:gannet:site:tokyo"), "tokyo");
  EXPECT_EQ(name("DNS:a.example,URI:http://a/,URI:gannet:site:a.b-c_1"),
            "a.b-c_1");
  EXPECT_EQ(name(""), std::nullopt);
  EXPECT_EQ(name("URI:gannet:site:"), std::nullopt);
  EXPECT_EQ(name("URI:gannet:administrator"), std::nullopt);
  EXPECT_EQ(name("DNS:gannet"), std::nullopt);
  EXPECT_EQ(name("URI:gannet:site:tokyo,URI:gannet:site:lima"), std::nullopt);
  EXPECT_EQ(name("URI:gannet:site:tokyo,URI:gannet:site:tokyo"), std::nullopt);
  EXPECT_EQ(name("URI:gannet:site:a/b"), std::nullopt);
  EXPECT_EQ(name("URI:GANNET:site:tokyo"), std::nullopt);
  EXPECT_EQ(SiteNameOf(""), std::nullopt);
  EXPECT_EQ(SiteNameOf("-----BEGIN CERTIFICATE-----"), std::nullopt);
}

TEST(CheckClientCertificateTest, OnlyWhatTheAuthoritySignedAndIsStillGood) {
  const absl::Time now = absl::Now();
  const auto ours = CertificateAuthority::Create(now, 100).value();
  const auto other = CertificateAuthority::Create(now, 100).value();
  const std::string& ca = ours.pem().cert;
  const auto refusal = [&](const std::string& ca, const std::string& pem) {
    const absl::Status status = CheckClientCertificate(ca, pem, "");
    EXPECT_TRUE(status.ok() || absl::IsUnauthenticated(status)) << status;
    return std::string(status.message());
  };
  const std::string lima = ours.IssueSite("lima", {}, now, 9)->cert;
  EXPECT_EQ(refusal(ca, lima), "");
  // The CA file has two authorities while one replaces the other.
  EXPECT_EQ(refusal(other.pem().cert + ca, lima), "");
  EXPECT_THAT(refusal(other.pem().cert, lima), HasSubstr("not one of"));
  EXPECT_THAT(refusal("", lima), HasSubstr("not one of"));
  EXPECT_THAT(refusal(ca, ""), HasSubstr("no certificate"));
  EXPECT_THAT(refusal(ca, "junk"), HasSubstr("no certificate"));
  const auto old = ours.IssueSite("lima", {}, now - absl::Hours(48), 1);
  ASSERT_TRUE(old.ok()) << old.status();
  EXPECT_THAT(refusal(ca, old->cert), HasSubstr("expired"));
  // Certificates that the caller sends along are not trusted as authorities.
  EXPECT_FALSE(CheckClientCertificate(ca,
                                      other.IssueSite("lima", {}, now, 9)->cert,
                                      other.pem().cert)
                   .ok());
}

}  // namespace
}  // namespace gannet::sites
