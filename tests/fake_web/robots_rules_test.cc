// The truth's reading of robots.txt, by RFC 9309 and other projects' cases.
#include "tests/fake_web/robots_rules.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/fake_web/robots_file.h"
#include "tests/test_data.h"

namespace gannet::fake_web {
namespace {

bool Allows(std::string_view text, std::string_view target,
            std::string_view agent = "gannet") {
  return RobotsRules::Parse(text, agent).Allows(target);
}

TEST(RobotsRulesTest, LongestMatchWinsAndAllowWinsATie) {
  constexpr std::string_view kText =
      "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /c\nAllow: /c\n";
  EXPECT_FALSE(Allows(kText, "/a/c"));
  EXPECT_TRUE(Allows(kText, "/a/b/c"));
  EXPECT_TRUE(Allows(kText, "/c"));
  EXPECT_TRUE(Allows(kText, "/"));
}

TEST(RobotsRulesTest, StarAndDollarAreSpecial) {
  constexpr std::string_view kText =
      "User-agent: *\nDisallow: /*.cgi$\nDisallow: /x*y/z\n";
  EXPECT_FALSE(Allows(kText, "/a.cgi"));
  EXPECT_TRUE(Allows(kText, "/a.cgi?b"));
  EXPECT_FALSE(Allows(kText, "/xay/zoo"));
}

TEST(RobotsRulesTest, OwnGroupsAreMergedAndShutOutTheStar) {
  constexpr std::string_view kText =
      "User-agent: *\nDisallow: /\n\nUser-agent: Gannet\nUser-agent: b\n"
      "Disallow: /one\n\nUser-agent: gannet\nDisallow: /two\n";
  EXPECT_TRUE(Allows(kText, "/zero"));
  EXPECT_FALSE(Allows(kText, "/one"));
  EXPECT_FALSE(Allows(kText, "/two"));
  EXPECT_FALSE(Allows(kText, "/zero", "other"));
}

TEST(RobotsRulesTest, CrawlDelayIsReadFromTheGroup) {
  const auto rules = RobotsRules::Parse(
      "User-agent: x\nCrawl-delay: 9\n\nUser-agent: *\nCrawl-delay: 0.2\n",
      "gannet");
  EXPECT_EQ(rules.crawl_delay(), absl::Milliseconds(200));
}

TEST(RobotsRulesTest, OnlyTheFirst500KibibytesCount) {
  const std::string text = "User-agent: *\nDisallow: /a\n" +
                           std::string(500 * 1024, '#') + "\nDisallow: /b\n";
  EXPECT_FALSE(Allows(text, "/a"));
  EXPECT_TRUE(Allows(text, "/b"));
}

std::string TextOf(const nlohmann::json& value) {
  if (value.contains("text")) return value["text"].get<std::string>();
  const std::string hex = value["hex"].get<std::string>();
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(
        static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

TEST(RobotsRulesTest, AgreesWithAllStandardCasesOfOtherProjects) {
  GANNET_READ_OR_SKIP(cases, "robots/rfc9309-cases.json");
  int checked = 0;
  for (const auto& test : nlohmann::json::parse(cases)) {
    if (test["type"] != "STANDARD") continue;
    const std::string url = TextOf(test["url"]);
    const size_t scheme = url.find("://");
    const size_t slash =
        scheme == url.npos ? url.npos : url.find_first_of("/?", scheme + 3);
    std::string target = slash == url.npos ? "/" : url.substr(slash);
    if (target[0] == '?') target.insert(0, "/");
    target = target.substr(0, target.find('#'));
    EXPECT_EQ(Allows(TextOf(test["robots"]), target, TextOf(test["agent"])),
              test["expected"] == "ALLOWED")
        << test.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    ++checked;
  }
  EXPECT_GT(checked, 300);
}

TEST(RobotsFileTest, EachKindMeansWhatItsNameSays) {
  WebOptions options;
  options.hosts = 60;
  options.pages = 600;
  options.nasty = ParseNasty("robots").value();
  const auto web = Web::Create(options).value();
  int open = 0, closed = 0;
  for (uint32_t host = 0; host < 60; ++host) {
    const RobotsRules mine = RobotsRulesOf(*web, host, "gannet");
    const RobotsRules others = RobotsRulesOf(*web, host, "somebody");
    switch (web->RobotsKind(host)) {
      case Nasty::kRobotsError:
      case Nasty::kRobotsClosed:
        EXPECT_FALSE(mine.Allows("/"));
        ++closed;
        break;
      case Nasty::kRobotsMissing:
      case Nasty::kRobotsForbidden:
      case Nasty::kRobotsEmpty:
      case Nasty::kRobotsGarbage:
        EXPECT_TRUE(mine.Allows("/private/x"));
        ++open;
        break;
      case Nasty::kRobotsGroups:
        EXPECT_TRUE(mine.Allows("/"));
        EXPECT_TRUE(mine.Allows("/private/open/x"));
        EXPECT_FALSE(mine.Allows("/tmp/x"));
        EXPECT_FALSE(others.Allows("/"));
        break;
      case Nasty::kRobotsWildcards:
        EXPECT_FALSE(mine.Allows("/search/x.cgi"));
        EXPECT_TRUE(mine.Allows("/search/x.cgi?page=2"));
        EXPECT_TRUE(mine.Allows("/private/open/x"));
        break;
      default:
        EXPECT_TRUE(mine.Allows("/"));
        EXPECT_FALSE(mine.Allows("/private/x"));
    }
  }
  EXPECT_GT(open, 5);
  EXPECT_GT(closed, 2);
}

}  // namespace
}  // namespace gannet::fake_web
