// The filters: each reason, each kind of list, and settings that are refused.
#include "storage/url/filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "storage/url/canonical.h"

namespace gannet::storage {
namespace {

using ::testing::HasSubstr;

UrlVerdict Verdict(const UrlFilterRules& rules, std::string_view input) {
  const auto filter = UrlFilter::Create(rules);
  EXPECT_TRUE(filter.ok()) << filter.status();
  Url url;
  EXPECT_EQ(Canonicaliser().Canonicalise(input, nullptr, url), UrlOutcome::kOk);
  return (*filter)->Judge(url);
}

std::string ErrorOf(const UrlFilterRules& rules) {
  const auto filter = UrlFilter::Create(rules);
  return filter.ok() ? "ok" : std::string(filter.status().message());
}

TEST(UrlFilterTest, DefaultRulesAllowAnOrdinaryPage) {
  EXPECT_EQ(Verdict({}, "https://www.example.com/a/b/c.html?d=e&f=g"),
            UrlVerdict::kAllowed);
}

TEST(UrlFilterTest, SchemeMayBeForbidden) {
  UrlFilterRules rules;
  rules.allow_http = false;
  EXPECT_EQ(Verdict(rules, "http://a.example/"), UrlVerdict::kScheme);
  EXPECT_EQ(Verdict(rules, "https://a.example/"), UrlVerdict::kAllowed);
  rules.allow_http = true;
  rules.allow_https = false;
  EXPECT_EQ(Verdict(rules, "https://a.example/"), UrlVerdict::kScheme);
}

TEST(UrlFilterTest, LengthIsBounded) {
  UrlFilterRules rules;
  rules.max_url_bytes = 20;
  EXPECT_EQ(Verdict(rules, "http://a.example/bcd"), UrlVerdict::kAllowed);
  EXPECT_EQ(Verdict(rules, "http://a.example/bcde"), UrlVerdict::kTooLong);
}

TEST(UrlFilterTest, DepthIsBoundedAndEmptySegmentsDoNotCount) {
  UrlFilterRules rules;
  rules.max_path_depth = 3;
  EXPECT_EQ(Verdict(rules, "http://a.example/a//b///c/"), UrlVerdict::kAllowed);
  EXPECT_EQ(Verdict(rules, "http://a.example/a/b/c/d"), UrlVerdict::kTooDeep);
}

TEST(UrlFilterTest, GroupOfSegmentsMayNotRepeatTooOften) {
  for (const char* path : {"/a/a", "/a/b/a/b", "/a/b/a/c/a/d", "/2024/1/1/a",
                           "/a/b/c/a/b/c/a/b"}) {
    EXPECT_EQ(Verdict({}, std::string("http://a.example") + path),
              UrlVerdict::kAllowed)
        << path;
  }
  for (const char* path :
       {"/a/a/a", "/a/b/a/b/a/b", "/x/a/b/a/b/a/b/y", "/a/b/c/a/b/c/a/b/c",
        "/1/2/3/4/5/6/7/8/1/2/3/4/5/6/7/8/1/2/3/4/5/6/7/8", "/a//a//a"}) {
    EXPECT_EQ(Verdict({}, std::string("http://a.example") + path),
              UrlVerdict::kRepeatedSegments)
        << path;
  }
}

TEST(UrlFilterTest, QueryMayNotGrow) {
  UrlFilterRules rules;
  rules.max_query_parameters = 2;
  rules.max_query_bytes = 10;
  EXPECT_EQ(Verdict(rules, "http://a.example/?a=1&b=2"), UrlVerdict::kAllowed);
  EXPECT_EQ(Verdict(rules, "http://a.example/?a&b&c"),
            UrlVerdict::kTooManyParameters);
  EXPECT_EQ(Verdict(rules, "http://a.example/?a=123456789"),
            UrlVerdict::kQueryTooLong);
  rules.max_query_parameters = 0;
  EXPECT_EQ(Verdict(rules, "http://a.example/?a"),
            UrlVerdict::kTooManyParameters);
  EXPECT_EQ(Verdict(rules, "http://a.example/"), UrlVerdict::kAllowed);
}

TEST(UrlFilterTest, DeniedDomainIsDeniedWithAllItsHosts) {
  UrlFilterRules rules;
  rules.deny.domains = {"Example.com", "bücher.example", "127.0.0.1"};
  EXPECT_EQ(Verdict(rules, "http://example.com/"), UrlVerdict::kDeniedDomain);
  EXPECT_EQ(Verdict(rules, "http://a.b.example.com/"),
            UrlVerdict::kDeniedDomain);
  EXPECT_EQ(Verdict(rules, "http://xn--bcher-kva.example/"),
            UrlVerdict::kDeniedDomain);
  EXPECT_EQ(Verdict(rules, "http://127.0.0.1/"), UrlVerdict::kDeniedDomain);
  EXPECT_EQ(Verdict(rules, "http://notexample.com/"), UrlVerdict::kAllowed);
}

TEST(UrlFilterTest, DeniedDomainMayBeAPlatformACountryOrAPart) {
  UrlFilterRules rules;
  rules.deny.domains = {"blogspot.com", "uk", "docs.example.com", "[::1]"};
  for (const char* url :
       {"http://someone.blogspot.com/", "http://www.example.co.uk/",
        "http://uk/", "http://a.docs.example.com/", "http://[::1]/"}) {
    EXPECT_EQ(Verdict(rules, url), UrlVerdict::kDeniedDomain) << url;
  }
  for (const char* url : {"http://example.com/", "http://adocs.example.com/",
                          "http://uk.example/", "http://[::2]/"}) {
    EXPECT_EQ(Verdict(rules, url), UrlVerdict::kAllowed) << url;
  }
}

TEST(UrlFilterTest, DeniedHostIsDeniedAlone) {
  UrlFilterRules rules;
  rules.deny.hosts = {"www.example.com"};
  EXPECT_EQ(Verdict(rules, "http://www.example.com/"), UrlVerdict::kDeniedHost);
  EXPECT_EQ(Verdict(rules, "http://a.www.example.com/"), UrlVerdict::kAllowed);
  EXPECT_EQ(Verdict(rules, "http://example.com/"), UrlVerdict::kAllowed);
}

TEST(UrlFilterTest, DeniedPrefixIsFoundAmongItsNeighbours) {
  UrlFilterRules rules;
  rules.deny.prefixes = {"http://a.example/b", "http://a.example/b/c/d",
                         "http://a.example/a", "http://a.example/z/"};
  for (const char* url : {"http://a.example/b", "http://a.example/b/c/e",
                          "http://a.example/bb", "http://a.example/z/y"}) {
    EXPECT_EQ(Verdict(rules, url), UrlVerdict::kDeniedPrefix) << url;
  }
  for (const char* url : {"http://a.example/", "http://a.example/c",
                          "http://a.example/z", "https://a.example/b"}) {
    EXPECT_EQ(Verdict(rules, url), UrlVerdict::kAllowed) << url;
  }
}

TEST(UrlFilterTest, DeniedRegexIsFoundAnywhereInTheUrl) {
  UrlFilterRules rules;
  rules.deny.regexes = {R"(\.(jpe?g|png)$)", "/calendar/"};
  EXPECT_EQ(Verdict(rules, "http://a.example/b.jpg"), UrlVerdict::kDeniedRegex);
  EXPECT_EQ(Verdict(rules, "http://a.example/calendar/1"),
            UrlVerdict::kDeniedRegex);
  EXPECT_EQ(Verdict(rules, "http://a.example/b.jpg?c"), UrlVerdict::kAllowed);
}

TEST(UrlFilterTest, WithAllowListsAUrlMustBeOnOne) {
  UrlFilterRules rules;
  rules.allow.domains = {"example.com"};
  rules.allow.hosts = {"www.example.org"};
  rules.allow.prefixes = {"http://a.example/b/"};
  rules.allow.regexes = {"^https://[^/]*\\.gov/"};
  for (const char* url : {"http://x.example.com/", "http://www.example.org/",
                          "http://a.example/b/c", "https://y.gov/"}) {
    EXPECT_EQ(Verdict(rules, url), UrlVerdict::kAllowed) << url;
  }
  for (const char* url : {"http://example.org/", "http://a.example/c",
                          "http://y.gov/", "http://other.example/"}) {
    EXPECT_EQ(Verdict(rules, url), UrlVerdict::kNotAllowed) << url;
  }
}

TEST(UrlFilterTest, DenyWinsOverAllow) {
  UrlFilterRules rules;
  rules.allow.domains = {"example.com"};
  rules.deny.hosts = {"private.example.com"};
  EXPECT_EQ(Verdict(rules, "http://private.example.com/"),
            UrlVerdict::kDeniedHost);
}

TEST(UrlFilterTest, BadSettingsAreNamed) {
  UrlFilterRules rules;
  rules.deny.regexes = {"good", "b(ad"};
  EXPECT_THAT(ErrorOf(rules), HasSubstr("deny regex 'b(ad': missing )"));
  rules = {};
  rules.allow.domains = {"www.example.com/a"};
  EXPECT_THAT(ErrorOf(rules),
              HasSubstr("allow domain 'www.example.com/a': not a host"));
  for (const char* bad : {"", "a b", "http://a.example/", "a.example:80",
                          "a.example:", "u@a.example", "a..b", "a/b"}) {
    rules = {};
    rules.deny.hosts = {bad};
    EXPECT_THAT(ErrorOf(rules), HasSubstr("not a host")) << bad;
  }
  rules = {};
  rules.deny.prefixes = {"example.com/a"};
  EXPECT_THAT(ErrorOf(rules), HasSubstr("not the beginning of an http(s) URL"));
  rules.deny.prefixes = {"http://Example.com"};
  EXPECT_THAT(ErrorOf(rules), HasSubstr("'http://example.com/'"));
  rules = {};
  rules.max_path_depth = 0;
  EXPECT_THAT(ErrorOf(rules), HasSubstr("max_path_depth"));
  rules = {};
  rules.allow_http = rules.allow_https = false;
  EXPECT_THAT(ErrorOf(rules), HasSubstr("neither http nor https"));
}

// They compile to some 700,000 instructions, which fit into the memory, but
// leave too little of it for a search.
TEST(UrlFilterTest, RegexesTooLargeToSearchAreRefused) {
  UrlFilterRules rules;
  for (int i = 0; i < 800; ++i) {
    rules.deny.regexes.push_back(std::to_string(i) + "(abc){300}");
  }
  EXPECT_THAT(ErrorOf(rules),
              HasSubstr("deny regexes: 800 together need more than 64 MiB"));
}

TEST(UrlFilterTest, VerdictNamesAreDistinct) {
  for (int i = 0; i < kUrlVerdictCount; ++i) {
    EXPECT_FALSE(UrlVerdictName(static_cast<UrlVerdict>(i)).empty());
    for (int j = 0; j < i; ++j) {
      EXPECT_NE(UrlVerdictName(static_cast<UrlVerdict>(i)),
                UrlVerdictName(static_cast<UrlVerdict>(j)));
    }
  }
}

// A list read from end to end would take 100,000 × 100,000 comparisons.
TEST(UrlFilterTest, HundredThousandEntriesAreAsFastAsOne) {
  UrlFilterRules rules;
  for (int i = 0; i < 100000; ++i) {
    rules.deny.domains.push_back("d" + std::to_string(i) + ".example");
    rules.deny.prefixes.push_back("http://p.example/" + std::to_string(i) +
                                  "/");
  }
  const auto filter = UrlFilter::Create(rules).value();
  const Canonicaliser canonicaliser;
  const auto start = std::chrono::steady_clock::now();
  Url url;
  for (int i = 0; i < 100000; ++i) {
    const std::string n = std::to_string(i);
    canonicaliser.Canonicalise("http://www.d" + n + ".example/", nullptr, url);
    ASSERT_EQ(filter->Judge(url), UrlVerdict::kDeniedDomain);
    canonicaliser.Canonicalise("http://p.example/" + n + "/x", nullptr, url);
    ASSERT_EQ(filter->Judge(url), UrlVerdict::kDeniedPrefix);
    canonicaliser.Canonicalise("http://p.example/" + n, nullptr, url);
    ASSERT_EQ(filter->Judge(url), UrlVerdict::kAllowed);
  }
  const std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 30);
}

}  // namespace
}  // namespace gannet::storage
