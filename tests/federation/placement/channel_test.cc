#include "federation/placement/channel.h"

#include <gtest/gtest.h>

#include <optional>

namespace gannet::federation {
namespace {

using storage::PageKey;
using storage::PageKeyOf;
using storage::Url;

TEST(ChannelTest, OneUrlHasOneChannelWhicheverWayItIsAsked) {
  const struct {
    const char* url;
    const char* domain;
    const char* host;
  } cases[] = {
      {"https://www.example.co.uk/a?b", "example.co.uk", "www.example.co.uk"},
      {"http://example.com:8080/", "example.com", "example.com"},
      {"http://a.b.someone.github.io/", "someone.github.io",
       "a.b.someone.github.io"},
      {"http://127.0.0.1/x", "127.0.0.1", "127.0.0.1"},
      {"http://[2001:db8::1]:81/", "[2001:db8::1]", "[2001:db8::1]"},
      {"http://localhost/", "localhost", "localhost"},
      {"http://a,b.example.org/", "example.org", "a,b.example.org"},
  };
  for (const auto& c : cases) {
    const Url url = Url::Parse(c.url).value();
    EXPECT_EQ(ChannelOf(url, ChannelUnit::kDomain).name, c.domain);
    EXPECT_EQ(ChannelOf(url, ChannelUnit::kHost).name, c.host);
    const PageKey page = PageKeyOf(url);
    EXPECT_EQ(ChannelOf(page, ChannelUnit::kDomain), Channel{c.domain});
    EXPECT_EQ(ChannelOf(page, ChannelUnit::kHost), Channel{c.host});
  }
}

TEST(ChannelTest, SchemeAndPortDoNotTellChannelsApart) {
  const auto channel = [](const char* url) {
    return ChannelOf(Url::Parse(url).value(), ChannelUnit::kHost);
  };
  EXPECT_EQ(channel("http://example.com/"), channel("https://example.com:81/"));
}

TEST(ChannelTest, WhatHasNoHostHasNoChannel) {
  for (const char* bytes :
       {"", "x", "x)", "x,)", "xcom,example", "xcom,%41,)http/"}) {
    EXPECT_EQ(ChannelOf(PageKey{bytes}, ChannelUnit::kDomain), std::nullopt)
        << bytes;
  }
}

}  // namespace
}  // namespace gannet::federation
