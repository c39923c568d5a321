// I4: a page is where the map has it, or on its way there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "federation/member/membership.h"
#include "tests/federation/member/test_federation.h"

namespace gannet::federation {
namespace {

using testing::HasSubstr;

class OwnershipTest : public FederationTest {
 protected:
  // As paris hears of it.
  FederationCheck TokyosCheck() {
    const auto checks = paris()->questions().VerifyAll(/*full=*/false);
    if (!checks.ok()) return {{"", false, checks.status().ToString()}, true};
    for (const FederationCheck& check : *checks) {
      if (check.name == "tokyo: I4: owner") return check;
      EXPECT_TRUE(check.ok) << check.name << " " << check.detail;
    }
    return {{"", false, "there is no such check"}, true};
  }
};

TEST_F(OwnershipTest, APageAtTheWrongSiteIsABrokenInvariantUntilItMoves) {
  StartSites(2);
  ASSERT_TRUE(Becomes([&] { return AllAgree(); }));
  EXPECT_TRUE(TokyosCheck().ok) << TokyosCheck().detail;

  const std::string url = UrlOf(paris());
  // Nobody tells tokyo that there is something to hand over; only what it still
  // has to do for the last change of the map may take it along.
  FederationCheck broken;
  ASSERT_TRUE(Becomes([&] {
    EXPECT_TRUE(
        tokyo().db().incoming().Inject({{KeyOf(url)}}, absl::Now()).ok());
    broken = TokyosCheck();
    return !broken.ok;
  }));
  EXPECT_FALSE(broken.is_unanswered) << broken.detail;
  EXPECT_THAT(broken.detail, HasSubstr("1 of 1 hosts are another site's"));

  tokyo()->OnForeignPages();
  // From the moment on that it knows, and until it has moved: never broken.
  const auto is_there = [&] {
    return tokyo().db().records().GetPage(KeyOf(url)).ok();
  };
  EXPECT_TRUE(Becomes([&] {
    const FederationCheck moving = TokyosCheck();
    EXPECT_TRUE(moving.ok) << moving.detail;
    return !is_there();
  }));
  EXPECT_TRUE(TokyosCheck().ok);
}

}  // namespace
}  // namespace gannet::federation
