#include "sites/agent/reload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gannet::sites {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ReloadTest, WhatChangedIsNamedAndWhatNeedsARestartStaysAsItWas) {
  SiteConfig now;
  now.listen.http = "127.0.0.1:1";
  SiteConfig file = now;
  file.site.name = "kyoto";
  file.listen.http = "";
  file.tls.ca = "ca.pem";
  file.federation.capacity = 2;
  file.crawl.width = 5;
  file.crawl.schedule = Schedule::Parse("every 30m").value();
  file.crawl.order = storage::Order::kRandom;
  file.fetch.delay = absl::Seconds(9);
  file.urls.deny.hosts = {"a.example"};
  file.archive.prefix = "OTHER";
  file.archive.min_free = 7;
  file.log.level = LogLevel::kDebug;
  file.log.format = LogFormat::kJson;
  const ConfigChange change = ChangeConfig(now, file);
  EXPECT_THAT(change.changed,
              ElementsAre("crawl.schedule", "crawl.width", "fetch.delay",
                          "urls.deny.hosts", "archive.min_free", "log.level"));
  EXPECT_THAT(
      change.needs_restart,
      ElementsAre("site.name", "listen.http", "crawl.order", "archive.prefix",
                  "federation.capacity", "tls.ca", "log.format"));
  // Then in force: the old configuration, with the keys that can change.
  SiteConfig expected = now;
  expected.crawl.width = 5;
  expected.crawl.schedule = file.crawl.schedule;
  expected.fetch.delay = file.fetch.delay;
  expected.urls = file.urls;
  expected.archive.min_free = 7;
  expected.log.level = LogLevel::kDebug;
  EXPECT_EQ(change.config, expected);
}

// All sites of a federation must have the same rules for URLs.
TEST(ReloadTest, InAFederationTheRulesNeedARestart) {
  SiteConfig now;
  now.federation.map = MapSource::kRegistrar;
  SiteConfig file = now;
  file.urls.deny.hosts = {"a.example"};
  const ConfigChange change = ChangeConfig(now, file);
  EXPECT_THAT(change.changed, IsEmpty());
  EXPECT_THAT(change.needs_restart, ElementsAre("urls.deny.hosts"));
  EXPECT_EQ(change.config, now);
}

TEST(ReloadTest, AnUnchangedFileChangesNothing) {
  const ConfigChange change = ChangeConfig({}, {});
  EXPECT_THAT(change.changed, IsEmpty());
  EXPECT_THAT(change.needs_restart, IsEmpty());
}

// A key that neither takes effect nor is reported as needing a restart would be
// ignored silently: so each key that cannot be reloaded must be put back.
TEST(ReloadTest, EachKeyIsEitherTakenUpOrPutBack) {
  const auto config = ParseSiteConfig(R"(
site: {name: x, location: [1, 2]}
listen: {http: "127.0.0.1:1", admin: "127.0.0.1:2", peers: "127.0.0.1:3"}
federation: {map: registrar, join: "a:1", address: "b:2", capacity: 2, cache: 1MiB,
             insecure_peers: true, gain_every: 9, channel: host, exchange: cash}
tls: {ca: a, cert: b, key: c}
crawl: {order: random, schedule: by-hand}
archive: {prefix: X, file_size: 2MiB, min_free: 1, level: 9}
fetch: {low_priority: true, delay: 2s}
log: {level: debug, format: json}
)",
                                      "f");
  ASSERT_TRUE(config.ok()) << config.status();
  const auto in_force = SiteConfigValues(ChangeConfig({}, *config).config);
  const auto old_values = SiteConfigValues({});
  const auto new_values = SiteConfigValues(*config);
  for (size_t i = 0; i < in_force.size(); ++i) {
    EXPECT_EQ(in_force[i],
              CanBeReloaded(in_force[i].first) ? new_values[i] : old_values[i]);
  }
}

}  // namespace
}  // namespace gannet::sites
