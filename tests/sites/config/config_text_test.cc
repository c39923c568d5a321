#include "sites/config/config_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gannet::sites {
namespace {

using testing::HasSubstr;

TEST(ConfigTextTest, WhatIsWrittenDownReadsBackAsTheSame) {
  SiteConfig config;
  config.site.name = "tokyo";
  config.site.data = "/data/\"quoted\" \\ and\ttabbed";
  config.site.location = Location{35.7, 139.7};
  config.crawl.width = 12'345;
  config.crawl.order = storage::Order::kRandom;
  config.update.new_pages = 99;
  config.fetch.delay = absl::Milliseconds(1500);
  config.fetch.share_addresses = false;
  config.fetch.resolver.servers = {"9.9.9.9", "[2620:fe::fe]:53"};
  config.urls.deny.regexes = {"^https://[^/]*/a\\.b"};
  config.listen.peers = "[::1]:7701";
  config.federation.map = MapSource::kFile;
  config.federation.file = "map.pb";
  config.federation.exchange = ExchangeMode::kCash;
  const auto read = ParseSiteConfig(ConfigText(config), "text");
  ASSERT_TRUE(read.ok()) << read.status() << "\n" << ConfigText(config);
  EXPECT_EQ(*read, config);
}

TEST(ConfigTextTest, EveryKeyHasItsLineUnderItsSection) {
  const std::string text = ConfigText(SiteConfig{});
  EXPECT_THAT(text, HasSubstr("\ncrawl:\n"));
  EXPECT_THAT(text, HasSubstr("\n  width: 20000\n"));
  EXPECT_THAT(text, HasSubstr("\n  new_pages: auto\n"));
  EXPECT_THAT(text, HasSubstr("\n  resolver:\n    servers: []\n"));
  EXPECT_THAT(text, HasSubstr("\nfederation:\n  map: \"\"\n"));
  EXPECT_EQ(*ParseSiteConfig(text, "text"), SiteConfig{});
}

}  // namespace
}  // namespace gannet::sites
