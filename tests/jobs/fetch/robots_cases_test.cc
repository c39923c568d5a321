// Our reading of robots.txt against other people's: the cases that Google
// published, the fake web's own reading, and a slow matcher.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "jobs/fetch/robots.h"
#include "tests/fake_web/robots_rules.h"
#include "tests/jobs/fetch/robots_reference.h"
#include "tests/test_data.h"
#include "tests/test_run.h"

namespace gannet::jobs {
namespace {

std::string BytesOf(const nlohmann::json& value) {
  if (value.contains("text")) return value["text"].get<std::string>();
  const std::string hex = value["hex"].get<std::string>();
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(
        static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

std::string PathOf(const std::string& url) {
  const size_t scheme = url.find("://");
  if (scheme == url.npos) return "/";
  const size_t slash = url.find_first_of("/?", scheme + 3);
  if (slash == url.npos) return "/";
  const std::string path = url.substr(slash);
  return path.substr(0, path.find('#'));
}

TEST(RobotsCasesTest, StandardCasesAndMistakesOfGoogleAreJudgedAsPublished) {
  GANNET_READ_OR_SKIP(cases, "robots/rfc9309-cases.json");
  int checked = 0;
  for (const auto& test : nlohmann::json::parse(cases)) {
    const bool is_ours =
        test["type"] == "STANDARD" || test["file"].get<std::string>().ends_with(
                                          "accepted-mistakes.textproto");
    if (!is_ours) continue;
    const RobotsRules rules =
        RobotsRules::Parse(BytesOf(test["robots"]), BytesOf(test["agent"]));
    EXPECT_EQ(rules.Judge(PathOf(BytesOf(test["url"]))).allowed,
              test["expected"] == "ALLOWED")
        << test.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    ++checked;
  }
  EXPECT_EQ(checked, 379);
}

class RandomRobots {
 public:
  explicit RandomRobots(uint64_t seed) : random_(seed) {}

  size_t Below(size_t n) {
    return std::uniform_int_distribution<size_t>(0, n - 1)(random_);
  }
  template <size_t n>
  std::string_view Pick(const std::string_view (&from)[n]) {
    return from[Below(n)];
  }

  // Few letters, so that patterns meet paths.
  std::string Path() {
    static constexpr std::string_view kPieces[] = {
        "a", "b", "/", "a", "/", "?", "=", "%2F", "%E3", "$", "ab", "."};
    std::string path = "/";
    for (size_t i = Below(8); i > 0; --i) path += Pick(kPieces);
    return path;
  }
  std::string Pattern() {
    static constexpr std::string_view kPieces[] = {
        "a", "b",   "/",   "*",   "*",    "$", "?",
        "=", "%2f", "%2F", "%e3", "\xE3", "%", "ab"};
    std::string pattern(Below(8) == 0 ? "" : "/");
    for (size_t i = Below(6); i > 0; --i) pattern += Pick(kPieces);
    if (Below(5) == 0) pattern += "$";
    return pattern;
  }
  std::string File() {
    static constexpr std::string_view kEnds[] = {"\n", "\r\n", "\r", "\n\n"};
    static constexpr std::string_view kAgents[] = {
        "gannet", "GANNET/2", "gannetto", "*",      "* ",
        "*x",     "bot",      "",         "gan net"};
    static constexpr std::string_view kJunk[] = {"Sitemap: http://a/b",
                                                 "# Disallow: /",
                                                 "Disallow / no",
                                                 std::string_view("\0", 1),
                                                 ":",
                                                 "\xEF\xBB\xBF",
                                                 "User-agent",
                                                 "disable: /"};
    static constexpr std::string_view kColons[] = {":", ": ", " : ", ":\t"};
    std::string file(Below(10) == 0 ? "\xEF\xBB\xBF" : "");
    for (size_t lines = Below(14); lines > 0; --lines) {
      const size_t kind = Below(10);
      if (kind < 3) {
        file += Pick<3>({"User-agent", "user-AGENT", " User-agent"});
        file += std::string(Pick(kColons)) + std::string(Pick(kAgents));
      } else if (kind < 9) {
        file += Pick<4>({"Disallow", "disallow", "Allow", "ALLOW "});
        file += std::string(Pick(kColons)) + Pattern();
        if (Below(8) == 0) file += " # why";
      } else {
        file += Pick(kJunk);
      }
      file += Pick(kEnds);
    }
    return file;
  }

 private:
  std::mt19937_64 random_;
};

TEST(RobotsCasesTest, AgreesWithTheFakeWebsReadingOnAwkwardFiles) {
  RandomRobots random(9309);
  const int files = IsLongRun() ? 1'000'000 : 60'000;
  int denied = 0;
  for (int i = 0; i < files; ++i) {
    const std::string file = random.File();
    const RobotsRules mine = RobotsRules::Parse(file, "gannet");
    const auto theirs = fake_web::RobotsRules::Parse(file, "gannet");
    for (int j = 0; j < 4; ++j) {
      const std::string path = random.Path();
      const bool allowed = mine.Judge(path).allowed;
      denied += !allowed;
      ASSERT_EQ(allowed, theirs.Allows(path)) << "path " << path << "\nfile:\n"
                                              << testing::PrintToString(file);
    }
  }
  EXPECT_GT(denied, files / 20);  // Else the test would compare nothing.
}

TEST(RobotsCasesTest, AgreesWithTheSlowMatcherOnAwkwardPatterns) {
  std::mt19937_64 random(2231);
  const auto text = [&](std::string_view alphabet, size_t longest) {
    std::string out;
    for (size_t n = random() % (longest + 1); n > 0; --n) {
      out.push_back(alphabet[random() % alphabet.size()]);
    }
    return out;
  };
  int matched = 0;
  const int pairs = IsLongRun() ? 3'000'000 : 200'000;
  for (int i = 0; i < pairs; ++i) {
    const std::string pattern =
        "/" + text("ab*", 12) + (random() % 3 == 0 ? "$" : "");
    const std::string path = "/" + text("ab", 16);
    const bool expected = reference::Matches(pattern, path);
    matched += expected;
    const auto rules =
        RobotsRules::Parse("User-agent: *\nDisallow: " + pattern, "gannet");
    ASSERT_EQ(!rules.Judge(path).allowed, expected) << pattern << " " << path;
  }
  EXPECT_GT(matched, pairs / 20);
}

}  // namespace
}  // namespace gannet::jobs
