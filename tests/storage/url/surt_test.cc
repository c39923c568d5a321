// The crawl DB's keys: the format, which is stored on disk, and its order.
#include "storage/url/surt.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace gannet::storage {
namespace {

std::string KeyOf(std::string_view url) {
  return SurtKey(Url::Parse(url).value());
}

TEST(SurtTest, FormatIsTheOneOnDisk) {
  const std::pair<const char*, const char*> pairs[] = {
      {"https://www.example.com/a?b", "com,example,www,)https/a?b"},
      {"http://example.com:8080/", "com,example,)http:8080/"},
      {"http://127.0.0.1/x", "127.0.0.1,)http/x"},
      {"http://[::1]:81/", "[::1],)http:81/"},
      {"http://localhost/", "localhost,)http/"},
      {"http://a,b.c)d.(e/", "(e,c%29d,a%2Cb,)http/"},
      {"https://example.com/a)b,c:d", "com,example,)https/a)b,c:d"},
      {"http://example.com./", ",com,example,)http/"},
  };
  for (const auto& [url, surt] : pairs) {
    EXPECT_EQ(KeyOf(url), surt);
    EXPECT_EQ(UrlFromSurt(surt).value(), url);
  }
}

TEST(SurtTest, AReaderReadsKeyAfterKeyWhateverCameBefore) {
  SurtReader reader;
  Url url;
  ASSERT_TRUE(reader.Read("com,example,www,)https/a-long-path?b", url));
  EXPECT_EQ(url.href(), "https://www.example.com/a-long-path?b");
  EXPECT_FALSE(reader.Read("a,)http/..", url));
  EXPECT_FALSE(reader.Read("COM,a,)http/", url));
  ASSERT_TRUE(reader.Read("com,b,)http/", url));
  EXPECT_EQ(url.href(), "http://b.com/");
}

// Reads a key the slow, obvious way: its URL is the one that has this key.
std::optional<std::string> ReadSlowly(std::string_view surt) {
  const std::string_view host = SurtHost(surt);
  const std::string_view rest = surt.substr(host.size());
  const std::string_view scheme = rest.substr(0, rest.find_first_of(":/"));
  std::string text = std::string(scheme) + "://";
  if (!AppendHostFromSurt(surt, text)) return std::nullopt;
  text += rest.substr(scheme.size());
  const auto url = Url::Parse(text);
  if (!url.ok() || url->href() != text || SurtKey(*url) != surt) {
    return std::nullopt;
  }
  return text;
}

TEST(SurtTest, AReaderThatRemembersTheOriginReadsAsOneThatDoesNot) {
  const std::vector<std::string> origins = {"",  // No origin, only a path.
                                            "com,example,)http",
                                            "com,example,)https",
                                            "com,example,)http:80",
                                            "com,example,)http:8080",
                                            "com,example,)http:",
                                            "com,example,)ftp",
                                            "com,example,www,)http",
                                            "127.0.0.1,)http",
                                            "[::1],)http:81",
                                            "c%29d,a%2Cb,)http",
                                            "a%2Fb,)http",
                                            "a/b,)http",
                                            "com,example,)http:80@b",
                                            "com,example,)http@b",
                                            ",com,example,)http"};
  const std::vector<std::string> pieces = {
      "/", "//", "a", ".", "..", "?",  "#",        "%",    "%2e",  "%41",  "\\",
      " ", ":",  "@", ",", ")",  "\t", "\xc3\xa9", "\xff", "b=c&", "http:"};
  std::mt19937 random(7);
  SurtReader reader;
  Url url;
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string& origin = origins[random() % origins.size()];
    for (int j = 0; j < 20; ++j) {  // A few of one origin in a row.
      std::string surt = origin + "/";
      for (size_t k = random() % 5; k > 0; --k) {
        surt += pieces[random() % pieces.size()];
      }
      const std::optional<std::string> slowly = ReadSlowly(surt);
      ASSERT_EQ(reader.Read(surt, url), slowly.has_value()) << surt;
      if (!slowly.has_value()) continue;
      ++read;
      ASSERT_EQ(url.href(), *slowly) << surt;
      ASSERT_EQ(SurtKey(url), surt);
    }
  }
  EXPECT_GT(read, 50'000);
}

TEST(SurtTest, CredentialsAndFragmentAreNotInTheKey) {
  EXPECT_EQ(KeyOf("http://u:p@example.com/a#b"), "com,example,)http/a");
}

TEST(SurtTest, HostOfAKeyEndsAtTheFirstParenthesis) {
  EXPECT_EQ(SurtHost("com,example,www,)https/a)b"), "com,example,www,)");
  EXPECT_EQ(SurtHost("[::1],)http:81/"), "[::1],)");
  EXPECT_EQ(SurtHost("com,example"), "");
  EXPECT_EQ(SurtHost(")http/"), "");
}

TEST(SurtTest, WhatIsNotAKeyIsRefused) {
  for (const char* text :
       {"", ")", ",)", "a,)", "a,)http", "a,)ftp/", "a)http/", "com,example/",
        "/", "/a", "//a", "//aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "a%2Fb,)http/",
        "a%2,)http/", ",)http/",
        // URLs could be made from these, but those URLs have other keys.
        "a/b,c,)http/", "a@b,)http/", "COM,a,)http/", "a,)http:80/",
        "a,)http:/", "a,)http/..", "a,)http/#b", "a.b,)http/",
        "1,0,0,127,)http/", "::1,)http/"}) {
    EXPECT_FALSE(UrlFromSurt(text).ok()) << text;
  }
}

TEST(SurtTest, DomainIsOneRangeOfKeys) {
  std::vector<std::string> keys;
  for (const char* url :
       {"http://example.com/", "https://example.com/z", "http://a.example.com/",
        "http://example.com:8080/", "http://z.y.example.com/",
        "http://!.example.com/", "http://~.example.com/",
        "http://a,b.example.com/", "http://examples.com/", "http://example.co/",
        "http://example-a.com/", "http://exampl.com/", "http://example.com.au/",
        "http://com/", "http://example.org/", "http://example,a.com/",
        "http://example!.com/", "http://example).com/"}) {
    keys.push_back(KeyOf(url));
  }
  std::sort(keys.begin(), keys.end());
  std::string prefix;
  AppendSurtDomainPrefix("example.com", prefix);
  EXPECT_EQ(prefix, "com,example,");
  int members = 0, ranges = 0;
  bool inside = false;
  for (const std::string& key : keys) {
    const bool member = key.compare(0, prefix.size(), prefix) == 0;
    const std::string url = UrlFromSurt(key).value();
    const std::string host(Url::Parse(url).value().host());
    EXPECT_EQ(member, host == "example.com" ||
                          (host.size() > 12 &&
                           host.substr(host.size() - 12) == ".example.com"))
        << key;
    members += member;
    ranges += member && !inside;
    inside = member;
  }
  EXPECT_EQ(members, 8);
  EXPECT_EQ(ranges, 1);
}

TEST(SurtTest, HostOfAKeyIsTheHostOfItsUrl) {
  for (const char* url :
       {"https://www.example.com/a?b", "http://example.com:8080/",
        "http://127.0.0.1/x", "http://[::1]:81/", "http://localhost/",
        "http://a,b.c)d.(e/", "http://example.com./"}) {
    std::string host = "before ";
    ASSERT_TRUE(AppendHostFromSurt(KeyOf(url), host)) << url;
    EXPECT_EQ(host, "before " + std::string(Url::Parse(url).value().host()));
  }
  for (const char* no_key :
       {"", ")", ",)", "com,example", "com)http/", "com,%20,)http/"}) {
    std::string host;
    EXPECT_FALSE(AppendHostFromSurt(no_key, host)) << no_key;
  }
}

TEST(SurtTest, HostIsOneRangeWithinItsDomain) {
  // ')' sorts before ',' and letters: the domain's own pages come first.
  EXPECT_LT(KeyOf("http://example.com/z"), KeyOf("http://a.example.com/"));
  EXPECT_LT(KeyOf("https://example.com/z"), KeyOf("http://0.example.com/"));
}

}  // namespace
}  // namespace gannet::storage
