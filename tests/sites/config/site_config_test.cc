#include "sites/config/site_config.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <fstream>
#include <set>

#include "sites/config/default_yaml.h"
#include "tests/temporary_folder.h"

namespace gannet::sites {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// The message of the refusal; empty if the text was accepted.
std::string Refusal(std::string_view text) {
  const auto config = ParseSiteConfig(text, "site.yaml");
  if (config.ok()) return "";
  EXPECT_TRUE(absl::IsInvalidArgument(config.status()));
  return std::string(config.status().message());
}

// Adds the paths of all keys, also of maps within maps: "crawl", "crawl.width".
void AddPaths(const YAML::Node& node, const std::string& prefix,
              std::set<std::string>& paths) {
  if (!node.IsMap()) return;
  for (const auto& entry : node) {
    const std::string path = prefix + entry.first.as<std::string>();
    paths.insert(path);
    AddPaths(entry.second, path + ".", paths);
  }
}

TEST(SiteConfigTest, AnEmptyFileIsTheDefaults) {
  EXPECT_EQ(*ParseSiteConfig("", "site.yaml"), SiteConfig{});
  EXPECT_EQ(*ParseSiteConfig("# nothing\n", "site.yaml"), SiteConfig{});
  EXPECT_EQ(*ParseSiteConfig("crawl:\n", "site.yaml"), SiteConfig{});
}

TEST(SiteConfigTest, TheFileThatInitWritesIsTheDefaults) {
  const auto config = ParseSiteConfig(DefaultSiteYaml("site"), "site.yaml");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(*config, SiteConfig{});
}

TEST(SiteConfigTest, ANameThatYamlWouldReadAsANumberStaysAName) {
  EXPECT_EQ(ParseSiteConfig(DefaultSiteYaml("1.0"), "f")->site.name, "1.0");
}

TEST(SiteConfigTest, TheFileThatInitWritesNamesEveryKey) {
  std::set<std::string> paths;
  AddPaths(YAML::Load(DefaultSiteYaml("site")), "", paths);
  const auto keys = SiteConfigKeys();
  EXPECT_GT(keys.size(), 60u);
  for (const std::string& key : keys) EXPECT_TRUE(paths.contains(key)) << key;
}

TEST(SiteConfigTest, EveryKeyOfTheDesignsShapeThatIsBuiltIsRead) {
  const auto config = ParseSiteConfig(R"(
site:       {name: tokyo, data: ./tokyo, location: [35.7, 139.7]}
user_agent: {name: examplebot, version: "1.0", contact: "https://example.org/bot"}
crawl:      {width: 7, per_host: 3, time_limit: 1h30m, order: breadth-first}
update:     {new_pages: 80000, over_quota: drop}
fetch:      {delay: 500ms, connections: 5, bandwidth: 1MB, allow_private: true,
             allow_addresses: [10.0.0.0/8, "fd00::/8"], connect_to: "127.0.0.0/8:80",
             resolver: {servers: [9.9.9.9, "[2620:fe::fe]:53"], queries_per_second: 0},
             proxy: "socks5h://localhost:1080", accept_language: "en, ja;q=0.5"}
parse:      {follow: [a], max_links: 10, other_types: skip}
urls:       {allow: {domains: [example.com]}, deny: {regexes: ['\.exe$']},
             drop_parameters: []}
archive:    {prefix: TEST, file_size: 1MiB, min_free: 0, level: 6}
recrawl:    {interval: 7d, strategy: fixed}
)",
                                      "site.yaml");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->site.name, "tokyo");
  EXPECT_EQ(config->site.location, (Location{35.7, 139.7}));
  EXPECT_EQ(config->user_agent.version, "1.0");
  EXPECT_EQ(config->crawl.time_limit, absl::Minutes(90));
  EXPECT_EQ(config->crawl.order, storage::Order::kBreadthFirst);
  EXPECT_EQ(config->update.over_quota, OverQuota::kDrop);
  EXPECT_EQ(config->fetch.bandwidth, 1'000'000u);
  EXPECT_TRUE(config->fetch.allow_private);
  EXPECT_THAT(config->fetch.resolver.servers,
              ElementsAre("9.9.9.9", "[2620:fe::fe]:53"));
  EXPECT_EQ(config->parse.other_types, OtherTypes::kSkip);
  EXPECT_THAT(FilterRulesOf(*config).deny.regexes, ElementsAre("\\.exe$"));
  EXPECT_FALSE(CanonicalRulesOf(*config).drop_parameters);
  EXPECT_EQ(config->archive.file_size, 1u << 20);
  EXPECT_EQ(config->recrawl.interval, absl::Hours(24 * 7));
}

TEST(SiteConfigTest, NewPagesAreFourTimesTheWidthUnlessTold) {
  EXPECT_EQ(ParseSiteConfig("crawl: {width: 10}", "f")->NewPages(), 40);
  EXPECT_EQ(ParseSiteConfig("update: {new_pages: 5}", "f")->NewPages(), 5);
}

TEST(SiteConfigTest, AnUnknownKeyIsNamedWithItsPlaceAndTheNearestKey) {
  EXPECT_EQ(Refusal("crawl:\n  width: 10\n  per_hots: 3\n"),
            "site.yaml:3:3: crawl.per_hots: unknown key; did you mean "
            "'per_host'?");
  EXPECT_EQ(Refusal("\nfetsch: {}\n"),
            "site.yaml:2:1: fetsch: unknown key; did you mean 'fetch'?");
}

TEST(SiteConfigTest, AKeyLikeNoOtherIsAnsweredWithAllOfTheSection) {
  EXPECT_EQ(Refusal("parse: {colour: red}"),
            "site.yaml:1:9: parse.colour: unknown key; allowed are follow, "
            "max_links, other_types");
}

TEST(SiteConfigTest, ABadNumberSaysWhatWasFoundAndWhatIsAllowed) {
  const std::string_view allowed =
      ", allowed is a whole number from 1 to 100000000";
  EXPECT_EQ(Refusal("crawl:\n  width: lots\n"),
            "site.yaml:2:10: crawl.width: found 'lots'" + std::string(allowed));
  EXPECT_EQ(Refusal("crawl: {width: 0}"),
            "site.yaml:1:16: crawl.width: found '0'" + std::string(allowed));
  EXPECT_THAT(Refusal("crawl: {width: 1.5}"), HasSubstr("found '1.5'"));
  EXPECT_THAT(Refusal("crawl: {width: 99999999999999999999}"),
              HasSubstr("found '99999999999999999999'"));
}

TEST(SiteConfigTest, ADurationWithoutAUnitIsRefused) {
  EXPECT_EQ(Refusal("fetch:\n  delay: 2\n"),
            "site.yaml:2:10: fetch.delay: found '2', allowed is a duration "
            "from 0 to 1d, such as 500ms, 30m or 1h30m");
}

TEST(SiteConfigTest, ARoundThatEndsBeforeTheFirstDelayIsRefused) {
  EXPECT_EQ(Refusal("crawl:\n  time_limit: 5s\nfetch:\n  delay: 10s\n"),
            "site.yaml:2:15: crawl.time_limit: 5s is not longer than "
            "fetch.delay (10s): no round would fetch anything");
  // Here the other of the two keys has its default.
  EXPECT_THAT(Refusal("crawl: {time_limit: 1s}"),
              StartsWith("site.yaml:1:21: crawl.time_limit: 1s is not longer"));
  EXPECT_THAT(Refusal("fetch: {delay: 1h}"),
              StartsWith("site.yaml:1:16: crawl.time_limit: 30m is not "
                         "longer than fetch.delay (1h)"));
  EXPECT_EQ(Refusal("crawl: {time_limit: 1s}\nfetch: {delay: 999ms}"), "");
}

TEST(SiteConfigTest, ABadSizeIsRefused) {
  EXPECT_EQ(Refusal("archive: {file_size: 1 gigabyte}"),
            "site.yaml:1:22: archive.file_size: found '1 gigabyte', allowed is "
            "a size from 1MiB to 1TiB, such as 0, 64KiB or 5MB");
}

TEST(SiteConfigTest, ABadChoiceIsRefused) {
  EXPECT_EQ(Refusal("update: {over_quota: keep}"),
            "site.yaml:1:22: update.over_quota: found 'keep', allowed is defer "
            "or drop");
}

TEST(SiteConfigTest, AFlagIsTrueOrFalse) {
  EXPECT_EQ(Refusal("fetch: {allow_private: yes}"),
            "site.yaml:1:24: fetch.allow_private: found 'yes', allowed is true "
            "or false");
}

TEST(SiteConfigTest, AWrongTypeIsRefused) {
  EXPECT_THAT(Refusal("crawl: 5"),
              StartsWith("site.yaml:1:8: crawl: found '5', allowed is a "
                         "section"));
  EXPECT_THAT(Refusal("crawl: {width: [1]}"),
              StartsWith("site.yaml:1:16: crawl.width: found a list"));
  EXPECT_THAT(Refusal("urls: {deny: {hosts: a.example}}"),
              StartsWith("site.yaml:1:22: urls.deny.hosts: found 'a.example', "
                         "allowed is a list"));
  EXPECT_THAT(Refusal("urls: {deny: {hosts: [[a]]}}"),
              StartsWith("site.yaml:1:23: urls.deny.hosts: found a list"));
  EXPECT_THAT(Refusal("- a\n- b\n"), StartsWith("site.yaml:1:1: found a list"));
  EXPECT_THAT(Refusal("crawl:\n  width:\n"), HasSubstr("found nothing"));
}

TEST(SiteConfigTest, AKeyThatIsThereTwiceIsRefused) {
  EXPECT_EQ(Refusal("crawl:\n  width: 1\n  width: 2\n"),
            "site.yaml:3:3: crawl.width: this key is there twice");
  EXPECT_EQ(Refusal("crawl: {}\ncrawl: {}\n"),
            "site.yaml:2:1: crawl: this key is there twice");
}

TEST(SiteConfigTest, WhatIsNotYamlIsRefusedWithItsPlace) {
  EXPECT_THAT(Refusal("crawl: {width: 1\n"), StartsWith("site.yaml:2:1: "));
  EXPECT_THAT(Refusal("a: b: c\n"), StartsWith("site.yaml:1:5: "));
  EXPECT_THAT(Refusal("crawl:\n\twidth: 1\n"), StartsWith("site.yaml:2:"));
  EXPECT_THAT(Refusal("--- {}\n--- {}\n"), HasSubstr("second YAML document"));
}

TEST(SiteConfigTest, AllThatIsWrongIsNamedInTheOrderOfTheFile) {
  EXPECT_EQ(
      Refusal("recrawl: {interval: x}\ncrawl: {wdith: 1, order: dfs}\n"),
      "site.yaml:1:21: recrawl.interval: found 'x', allowed is a "
      "duration from 1m to 3650d, such as 500ms, 30m or 1h30m\n"
      "site.yaml:2:9: crawl.wdith: unknown key; did you mean 'width'?\n"
      "site.yaml:2:26: crawl.order: found 'dfs', allowed is auto or opic or "
      "breadth-first or random");
}

TEST(SiteConfigTest, WhatIsNotBuiltYetIsRefusedRatherThanIgnored) {
  for (const char* text :
       {"recrawl: {strategy: gain}", "recrawl: {share: 0.5}"}) {
    EXPECT_THAT(Refusal(text), HasSubstr("not built yet")) << text;
  }
}

TEST(SiteConfigTest, WhatAnAgentNeedsIsRead) {
  auto config = ParseSiteConfig(R"(
listen: {http: "[::1]:0", admin: "0.0.0.0:7791",
         http_names: [crawl.example.org, tokyo]}
tls:    {ca: ca.pem, cert: /etc/tokyo.pem, key: tokyo.key}
crawl:  {schedule: "continuous, pause 10m"}
log:    {level: warning, format: json}
)",
                                "site.yaml");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->listen.http, "[::1]:0");
  EXPECT_EQ(config->listen.admin, "0.0.0.0:7791");
  EXPECT_THAT(config->listen.http_names,
              ElementsAre("crawl.example.org", "tokyo"));
  EXPECT_EQ(config->tls.key, "tokyo.key");
  EXPECT_EQ(config->crawl.schedule.ToText(), "continuous, pause 10m");
  EXPECT_EQ(config->log.level, LogLevel::kWarning);
  EXPECT_EQ(config->log.format, LogFormat::kJson);
  EXPECT_EQ(Refusal("crawl: {schedule: sometimes}"),
            "site.yaml:1:19: crawl.schedule: found 'sometimes', allowed is "
            "by-hand, continuous, 'continuous, pause 10m' or 'every 30m'");
  EXPECT_THAT(Refusal("listen: {http: ':7781'}"), HasSubstr("127.0.0.1:7781"));
  EXPECT_THAT(Refusal("listen: {http: '::1:7781'}"), HasSubstr("found"));
  for (const char* name : {"'http://a.example'", "'a.example:80'", "a/b", "''",
                           "'a b'", "'[::1]'"}) {
    EXPECT_THAT(Refusal(fmt::format("listen: {{http_names: [{}]}}", name)),
                HasSubstr("allowed is a name without scheme and port"))
        << name;
  }
}

TEST(SiteConfigTest, TheAdminApiOverTcpIsRefusedWithoutCertificates) {
  EXPECT_THAT(Refusal("listen:\n  admin: '127.0.0.1:7791'\n"),
              StartsWith("site.yaml:2:10: listen.admin: the admin API over TCP "
                         "needs certificates"));
  EXPECT_THAT(Refusal("listen: {admin: '127.0.0.1:1'}\ntls: {ca: a, cert: b}"),
              HasSubstr("set tls.ca, tls.cert and tls.key"));
}

TEST(SiteConfigTest, WhatAFederationNeedsIsRead) {
  const auto config = ParseSiteConfig(R"(
listen:     {peers: "0.0.0.0:7701"}
federation: {map: registrar, join: "[2001:db8::1]:7700", capacity: 3,
             address: "tokyo.example:7701", cache: 8MiB, gain_every: 2,
             channel: host, exchange: cash}
tls:        {ca: ca.pem, cert: tokyo.pem, key: tokyo.key}
)",
                                      "site.yaml");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->listen.peers, "0.0.0.0:7701");
  EXPECT_EQ(config->PeersAddress(), "tokyo.example:7701");
  EXPECT_EQ(config->federation.map, MapSource::kRegistrar);
  EXPECT_EQ(config->federation.join, "[2001:db8::1]:7700");
  EXPECT_EQ(config->federation.capacity, 3);
  EXPECT_EQ(config->federation.cache, 8u << 20);
  EXPECT_EQ(config->federation.gain_every, 2);
  EXPECT_EQ(config->federation.channel, federation::ChannelUnit::kHost);
  EXPECT_EQ(config->federation.exchange, ExchangeMode::kCash);
  EXPECT_FALSE(config->federation.insecure_peers);
}

TEST(SiteConfigTest, WhereOthersReachASiteIsWhereItListensUnlessTold) {
  const auto config = ParseSiteConfig(
      "listen: {peers: '127.0.0.1:7701'}\nfederation: {map: registrar}", "f");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->PeersAddress(), "127.0.0.1:7701");
}

TEST(SiteConfigTest, PeersBeyondLoopbackAreRefusedWithoutCertificates) {
  EXPECT_THAT(
      Refusal("listen:\n  peers: '192.0.2.7:7701'\n"),
      StartsWith("site.yaml:2:10: listen.peers: 192.0.2.7:7701 can be reached "
                 "from other machines"));
  for (const char* address : {"0.0.0.0:1", "[::]:1", "[2001:db8::1]:1",
                              "[::ffff:192.0.2.7]:1", "128.0.0.1:1"}) {
    const std::string peers = fmt::format("listen: {{peers: '{}'}}\n", address);
    EXPECT_THAT(Refusal(peers), HasSubstr("federation.insecure_peers: true"))
        << address;
    EXPECT_EQ(Refusal(peers + "federation: {insecure_peers: true}"), "");
    EXPECT_EQ(Refusal(peers + "tls: {ca: a, cert: b, key: c}"), "");
    EXPECT_THAT(Refusal(peers + "tls: {ca: a, key: c}"),
                HasSubstr("set all three, or none"));
  }
  for (const char* address :
       {"127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "[::ffff:127.0.0.1]:1"}) {
    EXPECT_EQ(Refusal(fmt::format("listen: {{peers: '{}'}}", address)), "")
        << address;
  }
}

TEST(SiteConfigTest, ASiteThatNobodyCouldReachIsInNoFederation) {
  EXPECT_THAT(Refusal("federation:\n  map: registrar\n"),
              StartsWith("site.yaml:2:8: federation.map: a site of a "
                         "federation is reached by the others: set "
                         "listen.peers"));
  const std::string everywhere =
      "federation: {map: registrar, insecure_peers: true}\n"
      "listen: {peers: '0.0.0.0:7701'}\n";
  EXPECT_THAT(Refusal(everywhere),
              StartsWith("site.yaml:2:17: listen.peers: 0.0.0.0:7701 is every "
                         "address of this machine"));
  EXPECT_THAT(Refusal("federation: {map: registrar, insecure_peers: true}\n"
                      "listen: {peers: '[::]:7701'}\n"),
              HasSubstr("set federation.address"));
}

TEST(SiteConfigTest, AMapInAFileNeedsTheFileAndTheFileTheMap) {
  const std::string peers = "listen: {peers: '127.0.0.1:1'}\n";
  EXPECT_EQ(Refusal(peers + "federation: {map: file}"),
            "site.yaml:2:19: federation.map: federation.file must say where "
            "the map is");
  EXPECT_EQ(Refusal(peers + "federation: {map: registrar, file: map.pb}"),
            "site.yaml:2:36: federation.file: it is read with 'map: file' "
            "only; set that, or remove it");
  EXPECT_EQ(Refusal(peers + "federation: {map: file, file: map.pb}"), "");
}

TEST(SiteConfigTest, BadValuesOfAFederationAreRefusedWithWhatIsAllowed) {
  EXPECT_EQ(Refusal("federation: {map: etcd}"),
            "site.yaml:1:19: federation.map: found 'etcd', allowed is \"\" or "
            "registrar or file");
  EXPECT_EQ(Refusal("federation: {capacity: 1001}"),
            "site.yaml:1:24: federation.capacity: found '1001', allowed is a "
            "whole number from 1 to 1000");
  EXPECT_THAT(Refusal("federation: {join: tokyo.example}"),
              HasSubstr("allowed is HOST:PORT"));
  for (const char* text :
       {"federation: {join: '10.0.0.0/8:7700'}", "federation: {join: ':1'}",
        "federation: {address: 'a b:1'}", "federation: {address: 'a:0'}",
        "federation: {address: '::1:1'}", "federation: {capacity: 0}",
        "federation: {insecure_peers: yes}", "federation: {cache: 1}",
        "federation: {gain_every: 0}", "federation: {channel: page}",
        "federation: {exchange: all}", "federation: {maps: ''}",
        "listen: {peers: ':1'}", "listen: {peers: 'tokyo:1'}"}) {
    EXPECT_NE(Refusal(text), "") << text;
  }
}

TEST(SiteConfigTest, BadEntriesOfAListAreNamedWhereTheyStand) {
  EXPECT_THAT(
      Refusal("urls:\n  deny:\n    regexes:\n      - a+\n      - '('\n"),
      StartsWith("site.yaml:5:9: urls.deny.regexes: found '('"));
  EXPECT_THAT(Refusal("urls: {allow: {hosts: ['a b']}}"),
              StartsWith("site.yaml:1:24: urls.allow.hosts: found 'a b'"));
  EXPECT_THAT(Refusal("urls: {drop_parameters: ['a*b']}"),
              StartsWith("site.yaml:1:26: urls.drop_parameters: found 'a*b'"));
  EXPECT_THAT(Refusal("fetch: {allow_addresses: [10.0.0.0/33]}"),
              StartsWith("site.yaml:1:27: fetch.allow_addresses: found "
                         "'10.0.0.0/33', allowed is an address range"));
  EXPECT_THAT(Refusal("parse: {follow: [blink]}"), HasSubstr("'blink'"));
}

TEST(SiteConfigTest, BadTextsAreRefused) {
  for (const char* text : {"site: {name: a/b}",
                           "site: {name: ''}",
                           "site: {location: [91, 0]}",
                           "site: {location: [1]}",
                           "site: {location: [a, b]}",
                           "user_agent: {name: 'a b'}",
                           "user_agent: {name: bot2}",
                           "user_agent: {contact: me}",
                           "user_agent: {contact: 'http://'}",
                           "user_agent: {contact: '@'}",
                           "user_agent: {version: 'a b'}",
                           "fetch: {connect_to: localhost}",
                           "fetch: {connect_to: 'localhost:0'}",
                           "fetch: {connect_to: '::1:80'}",
                           "fetch: {connect_to: '1.2.3.0/40:80'}",
                           "fetch: {proxy: ftp://a}",
                           "fetch: {source_address: localhost}",
                           "fetch: {accept_language: \"\\n\"}",
                           "fetch: {resolver: {servers: [localhost]}}",
                           "archive: {prefix: a-b}",
                           "archive: {level: 13}"}) {
    EXPECT_NE(Refusal(text), "") << text;
  }
}

TEST(SiteConfigTest, TheDataFolderIsRelativeToTheFile) {
  TemporaryFolder folder;
  const std::string path = folder.path() + "/site.yaml";
  std::ofstream(path) << "crawl: {width: 5}\n";
  EXPECT_EQ(LoadSiteConfig(path)->site.data, folder.path() + "/");
  std::ofstream(path) << "site: {data: there}\n";
  EXPECT_EQ(LoadSiteConfig(path)->site.data, folder.path() + "/there");
  std::ofstream(path) << "site: {data: /else/where}\n";
  EXPECT_EQ(LoadSiteConfig(path)->site.data, "/else/where");
}

TEST(SiteConfigTest, TheMapsFileIsRelativeToTheFileToo) {
  TemporaryFolder folder;
  const std::string path = folder.path() + "/site.yaml";
  std::ofstream(path) << "listen: {peers: '127.0.0.1:1'}\n"
                         "federation: {map: file, file: map.pb}\n";
  EXPECT_EQ(LoadSiteConfig(path)->federation.file, folder.path() + "/map.pb");
}

TEST(SiteConfigTest, AFileThatIsNotThereIsNotFoundAndSaysHowToGetOne) {
  const absl::Status status = LoadSiteConfig("/nowhere/site.yaml").status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("gannet init"));
  EXPECT_TRUE(absl::IsInvalidArgument(LoadSiteConfig("/tmp").status()));
}

}  // namespace
}  // namespace gannet::sites
