// The URL cases of web-platform-tests: every case that concerns http or https
// must come out as in browsers, except the deviations listed here, each with
// its reason. A listed case that no longer deviates fails too, so that the list
// stays true.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "storage/url/url.h"
#include "tests/storage/url/wpt_json.h"
#include "tests/test_data.h"

namespace gannet::storage {
namespace {

using nlohmann::json;

// Input -> why we answer differently.
const std::map<std::string, std::string> kDeviations = {};

bool IsHttp(const std::string& protocol) {
  return protocol == "http:" || protocol == "https:";
}

// How `url` differs from the parts that browsers give; empty if it does not.
std::string Difference(const json& expected, const Url& url) {
  std::string wrong;
  const auto check = [&](const char* part, const std::string& ours) {
    if (expected.contains(part) && expected[part] != ours) {
      wrong += std::string(part) + " is " + ours + ", not " +
               expected[part].get<std::string>() + "; ";
    }
  };
  const std::string port = url.has_port() ? std::to_string(url.port()) : "";
  const std::string hostname(url.host());
  check("href", url.href());
  check("protocol", std::string(url.scheme()) + ":");
  check("username", std::string(url.username()));
  check("password", std::string(url.password()));
  check("hostname", hostname);
  check("host", port.empty() ? hostname : hostname + ":" + port);
  check("port", port);
  check("pathname", std::string(url.path()));
  check("search", url.query().empty() ? "" : "?" + std::string(url.query()));
  check("hash",
        url.fragment().empty() ? "" : "#" + std::string(url.fragment()));
  return wrong;
}

// nullopt if the case does not concern us; else what is wrong, or "".
std::optional<std::string> Judge(const json& c) {
  const std::string input = c["input"];
  const bool has_base = c.contains("base") && c["base"].is_string();
  Url base;
  bool http_base = false;
  if (has_base) {
    http_base = Url::Parse(c["base"].get<std::string>(), nullptr, base) ==
                UrlOutcome::kOk;
  }
  const bool failure = c.value("failure", false);
  Url url;
  const UrlOutcome outcome =
      Url::Parse(input, http_base ? &base : nullptr, url);
  if (failure) {
    // A relative input with a base of another scheme does not concern us, but
    // it must not be parsed as a URL.
    return outcome == UrlOutcome::kOk ? "parsed as " + url.href() : "";
  }
  if (IsHttp(c["protocol"])) {
    if (outcome != UrlOutcome::kOk) {
      return "refused as " + std::string(UrlOutcomeName(outcome));
    }
    return Difference(c, url);
  }
  // Another scheme, which the input may leave out if it is the base's.
  if (has_base && !http_base) return std::nullopt;
  if (outcome != UrlOutcome::kOtherScheme) {
    return "not seen as another scheme but as " +
           std::string(UrlOutcomeName(outcome)) + " " + url.href();
  }
  return "";
}

TEST(WptUrlTest, EveryHttpCaseIsParsedAsBrowsersDo) {
  GANNET_READ_OR_SKIP(bytes, "wpt-url/urltestdata.json");
  std::map<std::string, bool> deviates;
  int judged = 0, others = 0;
  for (const json& c : ParseWptJson(bytes)) {
    if (!c.is_object()) continue;
    const std::optional<std::string> wrong = Judge(c);
    if (!wrong.has_value()) {
      ++others;
      continue;
    }
    ++judged;
    const std::string input = c["input"];
    if (kDeviations.count(input) > 0) {
      deviates[input] = !wrong->empty();
      continue;
    }
    EXPECT_EQ(*wrong, "") << c.dump();
  }
  for (const auto& [input, why] : kDeviations) {
    EXPECT_TRUE(deviates[input])
        << input << " no longer deviates (" << why << "): take it off the list";
  }
  RecordProperty("judged", judged);
  std::printf("%d cases judged, %d of other schemes' bases left out\n", judged,
              others);
  EXPECT_GT(judged, 700);
}

TEST(WptUrlTest, QueriesArePercentEncodedAsUtf8) {
  GANNET_READ_OR_SKIP(bytes, "wpt-url/percent-encoding.json");
  for (const json& c : ParseWptJson(bytes)) {
    if (!c.is_object()) continue;
    const std::string input = c["input"];
    const std::string expected = c["output"]["utf-8"];
    const auto url = Url::Parse("http://x.example/?" + input + "#" + input);
    ASSERT_TRUE(url.ok()) << url.status();
    EXPECT_EQ(url->query(), expected);
  }
}

}  // namespace
}  // namespace gannet::storage
