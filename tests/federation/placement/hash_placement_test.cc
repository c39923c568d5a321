#include "federation/placement/hash_placement.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "federation/placement/ring_hash.h"

namespace gannet::federation {
namespace {

using storage::SiteId;

TEST(HashPlacementTest, AChannelsOwnerIsItsHomeOnTheRing) {
  const SiteCapacity sites[] = {{SiteId{1}}, {SiteId{2}}, {SiteId{3}}};
  const RingSettings settings{.seed = 5};
  const auto placement = HashPlacement::Create(settings, sites).value();
  const HashRing ring = HashRing::Create(settings, sites).value();
  int of_first = 0;
  for (int i = 0; i < 300; ++i) {
    const Channel channel{"d" + std::to_string(i) + ".example"};
    EXPECT_EQ(placement->owner(channel),
              ring.SiteOf(HashOfChannel(channel.name, 5)));
    EXPECT_EQ(placement->home(channel), placement->owner(channel));
    of_first += placement->owner(channel) == SiteId{1};
  }
  EXPECT_GT(of_first, 50);
  EXPECT_LT(of_first, 150);
}

TEST(HashPlacementTest, RefusesWhatTheRingRefuses) {
  EXPECT_EQ(HashPlacement::Create({}, {}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

// All sites of all versions must give these answers. If this fails, the new
// version would give domains to other sites than the old ones do.
TEST(HashPlacementTest, OwnersAreFixedForever) {
  const SiteCapacity sites[] = {
      {SiteId{1}, 1}, {SiteId{2}, 0.5}, {SiteId{7}, 2}};
  const auto placement =
      HashPlacement::Create({.virtual_nodes = 200, .seed = 42}, sites).value();
  std::string owners;
  for (int i = 0; i < 40; ++i) {
    const Channel channel{"d" + std::to_string(i) + ".example"};
    owners += std::to_string(static_cast<uint32_t>(placement->owner(channel)));
  }
  EXPECT_EQ(owners, "1771112771272217227711711771717117777172");
  EXPECT_EQ(placement->owner({"example.com"}), SiteId{7});
  EXPECT_EQ(placement->owner({"127.0.0.1"}), SiteId{7});
}

}  // namespace
}  // namespace gannet::federation
