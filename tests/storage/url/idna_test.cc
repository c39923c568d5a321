// International host names against the data of web-platform-tests:
// toascii.json, of which all cases but the deviations listed here must pass;
// and Unicode's own IdnaTestV2.json, of which a share must pass.
#include "storage/url/idna.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "storage/url/host.h"
#include "storage/url/punycode.h"
#include "storage/url/url.h"
#include "tests/storage/url/wpt_json.h"
#include "tests/test_data.h"

namespace gannet::storage {
namespace {

using nlohmann::json;

// Input -> why we answer differently.
const std::map<std::string, std::string> kDeviations = {};

// Our answer, through a URL as in web-platform-tests, so that the host's
// forbidden code points count too.
std::string Ours(const std::string& input) {
  Url url;
  if (Url::Parse("https://" + input + "/x", nullptr, url) != UrlOutcome::kOk ||
      url.path() != "/x") {
    return "FAILURE";
  }
  return std::string(url.host());
}

std::string Expected(const json& c) {
  return c["output"].is_string() ? c["output"].get<std::string>() : "FAILURE";
}

TEST(IdnaTest, EveryToAsciiCaseIsAnsweredAsBrowsersDo) {
  GANNET_READ_OR_SKIP(bytes, "wpt-url/toascii.json");
  int cases = 0;
  for (const json& c : ParseWptJson(bytes)) {
    if (!c.is_object()) continue;
    ++cases;
    const std::string input = c["input"];
    const auto deviation = kDeviations.find(input);
    if (deviation == kDeviations.end()) {
      EXPECT_EQ(Ours(input), Expected(c)) << c.dump();
    } else {
      EXPECT_NE(Ours(input), Expected(c))
          << c.dump() << " no longer deviates (" << deviation->second
          << "): take it off the list";
    }
  }
  EXPECT_GT(cases, 80);
}

TEST(IdnaTest, NearlyAllOfUnicodesOwnCasesAgree) {
  GANNET_READ_OR_SKIP(bytes, "wpt-url/IdnaTestV2.json");
  int cases = 0, agree = 0, wrong_name = 0, refused = 0, accepted = 0;
  for (const json& c : ParseWptJson(bytes)) {
    if (!c.is_object()) continue;
    const std::string input = c["input"];
    ++cases;
    const std::string ours = Ours(input), expected = Expected(c);
    if (ours == expected) {
      ++agree;
    } else if (ours == "FAILURE") {
      ++refused;
    } else if (expected == "FAILURE") {
      ++accepted;
    } else {
      ++wrong_name;
    }
  }
  std::printf("%d of %d agree; %d refused, %d accepted, %d other names\n",
              agree, cases, refused, accepted, wrong_name);
  EXPECT_GE(agree * 1000, cases * 994);
  // Refusing a valid name only loses a host; accepting a name that is invalid
  // or becomes another would be worse, so none may be.
  EXPECT_EQ(accepted, 0);
  EXPECT_EQ(wrong_name, 0);
}

}  // namespace
}  // namespace gannet::storage
