// Registrable domains: the public suffix list's own checks, and the answers
// that ownership needs for every host.
#include "storage/url/domain.h"

#include <gtest/gtest.h>
#include <re2/re2.h>

#include <string>
#include <thread>
#include <vector>

#include "storage/url/url.h"
#include "tests/test_data.h"

namespace gannet::storage {
namespace {

// The name as the crawler sees it: as the host of a URL.
std::string HostOf(const std::string& name) {
  Url url;
  return Url::Parse("http://" + name + "/", nullptr, url) == UrlOutcome::kOk
             ? std::string(url.host())
             : "";
}

TEST(DomainTest, EveryCheckOfThePublicSuffixListHolds) {
  GANNET_READ_OR_SKIP(text, "psl/test_psl.txt");
  // The pattern skips lines that are commented out.
  const RE2 check(R"((?m)^\s*checkPublicSuffix\('([^']*)', (null|'[^']*')\);)");
  re2::StringPiece rest(text);
  int checks = 0;
  std::string name, domain;
  while (RE2::FindAndConsume(&rest, check, &name, &domain)) {
    ++checks;
    const std::string host = HostOf(name);
    const std::string expected =
        domain == "null" ? domain : HostOf(domain.substr(1, domain.size() - 2));
    // No URL's host begins with a dot, but such a name must not have a domain.
    EXPECT_EQ(RegistrableDomainIfAny(host).value_or("null"), expected) << name;
  }
  EXPECT_GE(checks, 70);
}

TEST(DomainTest, EveryHostHasADomain) {
  EXPECT_EQ(RegistrableDomain("www.example.co.uk"), "example.co.uk");
  EXPECT_EQ(RegistrableDomain("co.uk"), "co.uk");
  EXPECT_EQ(RegistrableDomain("com"), "com");
  EXPECT_EQ(RegistrableDomain("localhost"), "localhost");
  EXPECT_EQ(RegistrableDomain("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(RegistrableDomain("[::1]"), "[::1]");
  EXPECT_EQ(RegistrableDomain("a.b.unlisted-tld"), "b.unlisted-tld");
}

TEST(DomainTest, PrivateSectionSeparatesTheUsersOfAPlatform) {
  EXPECT_EQ(RegistrableDomain("a.someone.github.io"), "someone.github.io");
  EXPECT_EQ(RegistrableDomain("github.io"), "github.io");
}

TEST(DomainTest, CachedAnswerIsTheSame) {
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 2000; ++k) {
      const std::string domain = "d" + std::to_string(k) + ".co.uk";
      EXPECT_EQ(RegistrableDomain("www." + domain), domain);
      EXPECT_EQ(RegistrableDomain(domain), domain);
    }
  }
}

TEST(DomainTest, LongHostsAndManyLabelsAreAnswered) {
  std::string host;
  for (int i = 0; i < 100000; ++i) host += "a.";
  host += "example.com";
  EXPECT_EQ(RegistrableDomain(host), "example.com");
  const std::string label(63, 'x');
  EXPECT_EQ(
      RegistrableDomain(label + "." + label + "." + label + ".example.com"),
      "example.com");
  EXPECT_EQ(RegistrableDomain(""), "");
  EXPECT_EQ(RegistrableDomain(std::string(100000, 'x')),
            std::string(100000, 'x'));
}

TEST(DomainTest, ThreadsMayAskAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int k = 0; k < 5000; ++k) {
        const std::string domain = "d" + std::to_string(k % 700) + ".co.uk";
        EXPECT_EQ(RegistrableDomain("www." + domain), domain);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Buckets are on disk: if this fails, every crawl DB must be rewritten.
TEST(DomainTest, BucketsAreTheOnesOnDisk) {
  EXPECT_EQ(DomainBucket(""), 0x2D);
  EXPECT_EQ(DomainBucket("example.com"), 0x8B);
  EXPECT_EQ(DomainBucket("example.co.uk"), 0xEF);
  EXPECT_EQ(DomainBucket("127.0.0.1"), 0x9A);
}

TEST(DomainTest, PublicSuffixListHasAHash) {
  EXPECT_EQ(PublicSuffixListHash().size(), 40u);
  EXPECT_EQ(PublicSuffixListHash().find_first_not_of("0123456789abcdef"),
            std::string_view::npos);
}

}  // namespace
}  // namespace gannet::storage
