// The crawl DB's keys: the format, which is stored on disk, and its order.
#include "storage/url/surt.h"

#include <gtest/gtest.h>

#include <algorithm>
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
        "a%2Fb,)http/", "a%2,)http/", ",)http/",
        // URLs could be made of these, but the URLs have other keys.
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
