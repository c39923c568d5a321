#include "federation/member/lives.h"

#include <gtest/gtest.h>

namespace gannet::federation {
namespace {

peers::Greeting Of(uint32_t site, uint64_t process) {
  peers::Greeting greeting;
  greeting.set_site(site);
  greeting.set_process(process);
  return greeting;
}

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

TEST(LivesTest, ASecondCopyIsRefusedWhileTheFirstIsHeard) {
  Lives lives(absl::Seconds(4));
  EXPECT_TRUE(lives.Hear(Of(1, 10), kNow).ok());
  EXPECT_TRUE(
      absl::IsAlreadyExists(lives.Hear(Of(1, 11), kNow + absl::Seconds(1))));
  EXPECT_TRUE(lives.Hear(Of(1, 10), kNow + absl::Seconds(2)).ok());
  // What the copy says does not count as a sign of life of the first.
  EXPECT_TRUE(
      absl::IsAlreadyExists(lives.Hear(Of(1, 11), kNow + absl::Seconds(5))));
}

TEST(LivesTest, ASiteThatWasRestartedIsBelievedAfterAWhile) {
  Lives lives(absl::Seconds(4));
  EXPECT_TRUE(lives.Hear(Of(1, 10), kNow).ok());
  EXPECT_FALSE(lives.Hear(Of(1, 11), kNow + absl::Seconds(3)).ok());
  EXPECT_TRUE(lives.Hear(Of(1, 11), kNow + absl::Seconds(4)).ok());
  EXPECT_FALSE(lives.Hear(Of(1, 10), kNow + absl::Seconds(5)).ok());
}

TEST(LivesTest, SitesAreToldApart) {
  Lives lives(absl::Seconds(4));
  EXPECT_TRUE(lives.Hear(Of(1, 10), kNow).ok());
  EXPECT_TRUE(lives.Hear(Of(2, 11), kNow).ok());
}

}  // namespace
}  // namespace gannet::federation
