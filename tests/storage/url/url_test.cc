// What web-platform-tests do not test of Url: the outcomes that filters count,
// reuse of memory, and hostile input.
#include "storage/url/url.h"

#include <gtest/gtest.h>

#include <ctime>
#include <string>

#include "storage/url/canonical.h"
#include "storage/url/surt.h"

namespace gannet::storage {
namespace {

UrlOutcome OutcomeOf(std::string_view input, const Url* base = nullptr) {
  Url url;
  return Url::Parse(input, base, url);
}

TEST(UrlTest, PartsAreWhereTheyBelong) {
  const Url url =
      Url::Parse("https://us:er@Example.COM:8443/a/b?c=d&e#f?g").value();
  EXPECT_EQ(url.scheme(), "https");
  EXPECT_EQ(url.username(), "us");
  EXPECT_EQ(url.password(), "er");
  EXPECT_EQ(url.host(), "example.com");
  EXPECT_EQ(url.port(), 8443);
  EXPECT_EQ(url.path(), "/a/b");
  EXPECT_EQ(url.query(), "c=d&e");
  EXPECT_EQ(url.path_and_query(), "/a/b?c=d&e");
  EXPECT_EQ(url.fragment(), "f?g");
}

TEST(UrlTest, PortWithoutANumberIsTheSchemesOwn) {
  EXPECT_EQ(Url::Parse("http://a/").value().port(), 80);
  EXPECT_EQ(Url::Parse("https://a:443/").value().port(), 443);
  EXPECT_FALSE(Url::Parse("https://a:443/").value().has_port());
  EXPECT_TRUE(Url::Parse("http://a:443/").value().has_port());
}

TEST(UrlTest, EveryFailureHasItsOwnOutcome) {
  EXPECT_EQ(OutcomeOf("mailto:a@b.example"), UrlOutcome::kOtherScheme);
  EXPECT_EQ(OutcomeOf("JavaScript:void(0)"), UrlOutcome::kOtherScheme);
  EXPECT_EQ(OutcomeOf("ftp://[bad"), UrlOutcome::kOtherScheme);
  EXPECT_EQ(OutcomeOf("a/b"), UrlOutcome::kNoBase);
  EXPECT_EQ(OutcomeOf(""), UrlOutcome::kNoBase);
  EXPECT_EQ(OutcomeOf("http://"), UrlOutcome::kEmptyHost);
  EXPECT_EQ(OutcomeOf("http://user@/"), UrlOutcome::kEmptyHost);
  EXPECT_EQ(OutcomeOf("http://a b/"), UrlOutcome::kBadHost);
  EXPECT_EQ(OutcomeOf("http://1.2.3.256/"), UrlOutcome::kBadHost);
  EXPECT_EQ(OutcomeOf("http://a:b/"), UrlOutcome::kBadPort);
  EXPECT_EQ(OutcomeOf("http://a:65536/"), UrlOutcome::kBadPort);
}

TEST(UrlTest, OutcomeNamesAreDistinct) {
  for (int i = 0; i < kUrlOutcomeCount; ++i) {
    EXPECT_FALSE(UrlOutcomeName(static_cast<UrlOutcome>(i)).empty());
    for (int j = 0; j < i; ++j) {
      EXPECT_NE(UrlOutcomeName(static_cast<UrlOutcome>(i)),
                UrlOutcomeName(static_cast<UrlOutcome>(j)));
    }
  }
}

TEST(UrlTest, FailureLeavesNothingOfAnEarlierUrl) {
  Url url;
  ASSERT_EQ(Url::Parse("http://u@a.example:81/b?c#d", nullptr, url),
            UrlOutcome::kOk);
  ASSERT_EQ(Url::Parse("http://a:b/", nullptr, url), UrlOutcome::kBadPort);
  EXPECT_TRUE(url.empty());
  EXPECT_EQ(url.username(), "");
  EXPECT_EQ(url.password(), "");
  EXPECT_EQ(url.host(), "");
  EXPECT_EQ(url.path_and_query(), "");
  EXPECT_EQ(url.fragment(), "");
}

TEST(UrlTest, ReuseOfTheSameObjectAllocatesNoNewMemory) {
  Url url;
  const std::string longest = "http://a.example/" + std::string(200, 'x');
  ASSERT_EQ(Url::Parse(longest, nullptr, url), UrlOutcome::kOk);
  const char* memory = url.href().data();
  ASSERT_EQ(Url::Parse("https://b.example/c", nullptr, url), UrlOutcome::kOk);
  EXPECT_EQ(url.href().data(), memory);
}

TEST(UrlTest, BytesThatANewlineKeptApartDoNotJoin) {
  EXPECT_EQ(Url::Parse("http://a/\xC3\n\xA9").value().path(),
            "/%EF%BF%BD%EF%BF%BD");
}

TEST(UrlTest, NulsAreEncodedInThePathAndForbiddenInTheHost) {
  using std::string_literals::operator""s;
  EXPECT_EQ(Url::Parse("http://a/b\0c"s).value().path(), "/b%00c");
  EXPECT_EQ(OutcomeOf("http://a\0b/"s), UrlOutcome::kBadHost);
  EXPECT_EQ(OutcomeOf("http://\xC3\xA9\0b/"s), UrlOutcome::kBadHost);
}

TEST(UrlTest, InputBeyondTheLimitIsRefusedUnread) {
  const std::string input = "http://a/" + std::string(Url::kMaxInputBytes, 'x');
  EXPECT_EQ(OutcomeOf(input), UrlOutcome::kTooLong);
}

// On hostile pages, time must grow with the length and not with its square,
// whatever is repeated. A quadratic step would take minutes on these megabytes;
// the limit is some fifty times what is needed, for slow machines and
// sanitizers.
TEST(UrlTest, MegabytesOfAnythingTakeLinearTime) {
  const char* const pieces[] = {"/",
                                "//",
                                "/..",
                                "/../a",
                                "/a/..",
                                "/%2e%2e",
                                ".",
                                "@",
                                ":",
                                "%",
                                "%41",
                                "%4",
                                ";",
                                "&",
                                "&gclid=1",
                                "?",
                                "#",
                                "\\",
                                "[",
                                "]",
                                "\t",
                                " ",
                                "\xff",
                                "\xC3\xA9",
                                "a.",
                                "0x1.",
                                ";jsessionid=1",
                                "1",
                                "-",
                                "a",
                                "=",
                                "//a",
                                "xn--a.",
                                "\xE3\x80\x82",
                                ",",
                                ")"};
  const Url base = Url::Parse("http://u:p@h.example/a/b/c?d").value();
  const Canonicaliser canonicaliser;
  const std::clock_t start = std::clock();  // CPU time of this process.
  Url url;
  std::string surt;
  for (const std::string piece : pieces) {
    std::string body;
    while (body.size() < (size_t{1} << 20)) body += piece;
    for (const char* prefix : {"", "http://", "http://h/", "http://h/?",
                               "http://h/#", "http://\xC3\xA9", "http://h/a;",
                               "http://h:", "http://[", "http://u@"}) {
      if (canonicaliser.Canonicalise(prefix + body, &base, url) ==
          UrlOutcome::kOk) {
        surt.clear();
        AppendSurtKey(url, surt);
        EXPECT_EQ(UrlFromSurt(surt).value(), url.href());
      }
    }
  }
  EXPECT_LT(std::clock() - start, 100 * CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace gannet::storage
