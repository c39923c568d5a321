#include "federation/map/map_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace gannet::federation {
namespace {

using testing::HasSubstr;

Applicant From(std::string name, uint64_t incarnation = 7,
               uint32_t capacity = 1) {
  Applicant applicant;
  applicant.name = std::move(name);
  applicant.incarnation = incarnation;
  applicant.address = "127.0.0.1:7701";
  applicant.capacity = capacity;
  applicant.rules.set_public_suffixes("2026");
  return applicant;
}

Map Founded() { return FoundFederation(From("tokyo"), 99, {}, true).value(); }

Map WithMember(const Map& map, const std::string& name) {
  const Map invited = Invite(map, name).value();
  return Join(invited, From(name)).value();
}

Map Settled(const Map& map) { return FinishHandOff(map).value(); }

std::vector<uint32_t> Owners(const proto::MapPlacement& placement) {
  std::vector<uint32_t> sites;
  for (const auto& share : placement.shares()) sites.push_back(share.site());
  return sites;
}

TEST(MapChangesTest, AFoundedFederationHasOneSiteThatOwnsAll) {
  const Map map = Founded();
  EXPECT_TRUE(CheckMap(map).ok()) << CheckMap(map);
  EXPECT_EQ(map.epoch(), 1);
  EXPECT_EQ(map.registrar(), 1);
  EXPECT_EQ(Owners(map.placement()), std::vector<uint32_t>{1});
  EXPECT_FALSE(IsHandingOff(map));
}

TEST(MapChangesTest, OnlyWhoIsInvitedMayJoin) {
  const Map map = Founded();
  const auto refused = Join(map, From("paris"));
  EXPECT_TRUE(absl::IsPermissionDenied(refused.status()));
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("gannet federation invite paris"));

  const Map invited = Invite(map, "paris").value();
  EXPECT_EQ(invited.epoch(), 2);
  EXPECT_FALSE(IsHandingOff(invited));
  EXPECT_TRUE(absl::IsAlreadyExists(Invite(invited, "paris").status()));

  const Map joined = Join(invited, From("paris")).value();
  EXPECT_TRUE(CheckMap(joined).ok());
  EXPECT_EQ(joined.epoch(), 3);
  EXPECT_EQ(joined.placed_epoch(), 3);
  EXPECT_EQ(Owners(joined.placement()), (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(Owners(joined.previous_placement()), std::vector<uint32_t>{1});
}

TEST(MapChangesTest, OtherRulesAreNamedAndRefused) {
  const Map invited = Invite(Founded(), "paris").value();
  Applicant other = From("paris");
  other.rules.set_public_suffixes("2020");
  auto refused = Join(invited, other);
  EXPECT_TRUE(absl::IsInvalidArgument(refused.status()));
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("public suffix list is '2020' here and '2026' there"));
  other = From("paris");
  other.rules.set_exchange(proto::EXCHANGE_CASH);
  refused = Join(invited, other);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("CASH"));
}

TEST(MapChangesTest, AMemberComesBackWithItsIncarnationAndASecondCopyDoesNot) {
  const Map map = Settled(WithMember(Founded(), "paris"));
  EXPECT_EQ(Join(map, From("paris"))->epoch(), map.epoch());  // No change.
  Applicant moved = From("paris");
  moved.address = "paris.example:7702";
  const Map at_new_address = Join(map, moved).value();
  EXPECT_EQ(FindSite(at_new_address, "paris")->address(), moved.address);
  EXPECT_FALSE(IsHandingOff(at_new_address));

  const auto copy = Join(map, From("paris", 8));
  EXPECT_TRUE(absl::IsAlreadyExists(copy.status())) << copy.status();
  const Map restored = Join(map, From("paris", 8), /*replaces=*/7).value();
  EXPECT_EQ(FindSite(restored, "paris")->incarnation(), 8);
  EXPECT_EQ(FindSite(restored, "paris")->id(), 2);
  EXPECT_FALSE(IsHandingOff(restored));
}

TEST(MapChangesTest, WhileChannelsMoveNothingElseMovesButTheDeadAreRemoved) {
  Map map = Settled(WithMember(Founded(), "paris"));
  map = Settled(WithMember(map, "oslo"));
  map = Invite(Invite(map, "rome").value(), "lima").value();
  const Map moving = Join(map, From("rome")).value();
  for (const auto& refused :
       {Join(moving, From("lima")), Leave(moving, "paris"),
        Switch(moving, {.virtual_nodes = 50}),
        SetCapacity(moving, "paris", 3)}) {
    EXPECT_TRUE(absl::IsFailedPrecondition(refused.status()));
    EXPECT_THAT(std::string(refused.status().message()),
                HasSubstr("channels still move"));
  }
  EXPECT_TRUE(Invite(moving, "kyiv").ok());
  EXPECT_TRUE(Block(moving, "evil.example").ok());
  EXPECT_TRUE(Pause(moving, true).ok());

  EXPECT_FALSE(moving.in_haste());
  const Map removed = Remove(moving, "oslo").value();
  EXPECT_TRUE(removed.in_haste());
  EXPECT_FALSE(FinishHandOff(removed)->in_haste());
  EXPECT_TRUE(CheckMap(removed).ok()) << CheckMap(removed);
  EXPECT_EQ(Owners(removed.placement()), (std::vector<uint32_t>{1, 2, 4}));
  // Channels that have not moved yet are where they were before both changes.
  EXPECT_EQ(Owners(removed.previous_placement()),
            (std::vector<uint32_t>{1, 2, 3}));
  EXPECT_EQ(removed.placed_epoch(), removed.epoch());
}

TEST(MapChangesTest, WhoLeavesOwnsNothingAndIsGoneWhenAllIsHandedOver) {
  const Map map = Settled(WithMember(Founded(), "paris"));
  const Map leaving = Leave(map, "paris").value();
  EXPECT_TRUE(CheckMap(leaving).ok());
  EXPECT_EQ(Owners(leaving.placement()), std::vector<uint32_t>{1});
  EXPECT_TRUE(IsActive(*FindSite(leaving, "paris")));
  EXPECT_EQ(Leave(leaving, "paris")->epoch(), leaving.epoch());
  const Map left = FinishHandOff(leaving).value();
  EXPECT_EQ(FindSite(left, "paris"), nullptr);
  EXPECT_FALSE(IsHandingOff(left));
  // Its number is not given again.
  EXPECT_EQ(FindSite(Invite(left, "rome").value(), "rome")->id(), 3);
}

TEST(MapChangesTest, WhoLeavesAndIsRestoredMeanwhileStillLeaves) {
  const Map map = Settled(WithMember(Founded(), "paris"));
  const Map leaving = Leave(map, "paris").value();
  Applicant restored = From("paris");
  const uint64_t before = restored.incarnation;
  restored.incarnation = before + 1;
  const Map again = Join(leaving, restored, before).value();
  EXPECT_EQ(FindSite(again, "paris")->incarnation(), before + 1);
  EXPECT_EQ(FindSite(again, "paris")->state(), proto::MapSite::LEAVING);
  EXPECT_TRUE(IsSame(again.placement(), leaving.placement()));
  EXPECT_TRUE(CheckMap(again).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(
      Join(leaving, restored, /*replaces=*/before + 2).status()));
}

TEST(MapChangesTest, RulesChangeForAllAtOnceButNotWhatAChannelIs) {
  const Map map = Settled(WithMember(Founded(), "paris"));
  proto::MapRules rules = map.rules();
  EXPECT_EQ(SetRules(map, rules)->epoch(), map.epoch());
  rules.set_filters("others");
  const Map next = SetRules(map, rules).value();
  EXPECT_EQ(next.epoch(), map.epoch() + 1);
  EXPECT_EQ(next.rules().filters(), "others");
  EXPECT_FALSE(IsHandingOff(next));
  EXPECT_TRUE(absl::IsFailedPrecondition(
      SetRules(Leave(map, "paris").value(), rules).status()));
  rules.set_channel(proto::CHANNEL_HOST);
  EXPECT_TRUE(absl::IsFailedPrecondition(SetRules(map, rules).status()));
}

TEST(MapChangesTest, OfTwoThatAdoptAtOnceOneIsTheNewer) {
  Map map = Settled(WithMember(Founded(), "paris"));
  map = Settled(WithMember(map, "rome"));
  const Map paris = Adopt(map, "paris", 0).value();
  const Map rome = Adopt(map, "rome", 0).value();
  EXPECT_EQ(TermNumber(paris.term()), TermNumber(rome.term()));
  EXPECT_FALSE(Contradicts(paris, rome));
  EXPECT_NE(IsNewer(paris, rome), IsNewer(rome, paris));
  // The next adoption is newer than both.
  const Map third = Adopt(paris, "tokyo", 0).value();
  EXPECT_TRUE(IsNewer(third, paris));
  EXPECT_TRUE(IsNewer(third, rome));
  EXPECT_EQ(TermNumber(third.term()), 3);
}

// A registrar that was cut off has used epochs that the next term uses again.
TEST(MapChangesTest, AChangeOfALaterTermIsLaterWhateverItsEpoch) {
  Map map = Settled(WithMember(Founded(), "paris"));
  map = Settled(WithMember(map, "rome"));
  const Map lost = Leave(Invite(map, "oslo").value(), "rome").value();
  const Map adopted = Adopt(map, "paris", 0).value();
  const Map moved = Leave(adopted, "rome").value();
  EXPECT_EQ(lost.placed_epoch(), moved.placed_epoch());
  EXPECT_LT(PlacedStamp(lost), PlacedStamp(moved));
  EXPECT_LT(Stamp(lost), Stamp(adopted));
}

TEST(MapChangesTest, TheLastSiteAndTheRegistrarStay) {
  const Map one = Founded();
  EXPECT_TRUE(absl::IsFailedPrecondition(Leave(one, "tokyo").status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(Remove(one, "tokyo").status()));
  const Map two = Settled(WithMember(one, "paris"));
  for (const auto& refused : {Leave(two, "tokyo"), Remove(two, "tokyo")}) {
    EXPECT_THAT(std::string(refused.status().message()),
                HasSubstr("gannet federation adopt"));
  }
  const Map adopted = Adopt(two, "paris", 40).value();
  EXPECT_EQ(adopted.registrar(), 2);
  EXPECT_EQ(TermNumber(adopted.term()), 2);
  EXPECT_EQ(adopted.epoch(), 41);
  EXPECT_TRUE(Leave(adopted, "tokyo").ok());
}

TEST(MapChangesTest, AHigherTermIsNewerWhateverTheEpoch) {
  const Map map = Settled(WithMember(Founded(), "paris"));
  const Map adopted = Adopt(map, "paris", 0).value();
  Map alone = map;  // The old registrar goes on, cut off from the others.
  for (int i = 0; i < 10; ++i) alone = Pause(alone, i % 2 == 0).value();
  EXPECT_GT(alone.epoch(), adopted.epoch());
  EXPECT_TRUE(IsNewer(adopted, alone));
  EXPECT_FALSE(IsNewer(alone, adopted));
}

TEST(MapChangesTest, TheSameVersionWithOtherContentContradicts) {
  const Map map = Founded();
  EXPECT_FALSE(Contradicts(map, map));
  EXPECT_TRUE(
      Contradicts(Invite(map, "paris").value(), Invite(map, "oslo").value()));
  EXPECT_FALSE(Contradicts(map, Invite(map, "oslo").value()));
  const Map other = FoundFederation(From("tokyo"), 100, {}, true).value();
  EXPECT_TRUE(Contradicts(map, other));
}

TEST(MapChangesTest, BlockedDomainsAreASortedSet) {
  Map map = Founded();
  for (const char* domain : {"b.example", "a.example", "c.example"}) {
    map = Block(map, domain).value();
  }
  EXPECT_THAT(map.blocked(),
              testing::ElementsAre("a.example", "b.example", "c.example"));
  EXPECT_EQ(Block(map, "b.example")->epoch(), map.epoch());
  map = Unblock(map, "b.example").value();
  EXPECT_THAT(map.blocked(), testing::ElementsAre("a.example", "c.example"));
  EXPECT_TRUE(absl::IsNotFound(Unblock(map, "b.example").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Block(map, "a b").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Block(map, "").status()));
}

TEST(MapChangesTest, BadNamesAndAddressesAreRefused) {
  for (const char* name : {"", ".", "-a", "a b", "a/b", "ä"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Invite(Founded(), name).status()))
        << name;
  }
  EXPECT_TRUE(Invite(Founded(), "a-b_c.1").ok());
  for (const char* address : {"", "host", "host:", "host:0", "host:70000",
                              "host:08", "a b:1", "1:2:3", ":1"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(CheckPeerAddress(address))) << address;
  }
  for (const char* address : {"tokyo.example:7701", "10.0.0.1:1", "[::1]:9"}) {
    EXPECT_TRUE(CheckPeerAddress(address).ok()) << address;
  }
}

// A broken peer may send a damaged map.
TEST(MapChangesTest, DamagedMapsAreFound) {
  const Map good = WithMember(Founded(), "paris");
  ASSERT_TRUE(CheckMap(good).ok());
  const auto bad = [&](const std::function<void(Map&)>& damage) {
    Map map = good;
    damage(map);
    EXPECT_TRUE(absl::IsInvalidArgument(CheckMap(map)))
        << map.ShortDebugString();
  };
  bad([](Map& map) { map.set_version(2); });
  bad([](Map& map) { map.set_federation(0); });
  bad([](Map& map) { map.set_epoch(0); });
  bad([](Map& map) { map.set_epoch(uint64_t{1} << 60); });
  bad([](Map& map) { map.set_term(uint64_t{1} << 60); });
  bad([](Map& map) {
    map.mutable_sites(1)->mutable_location()->set_latitude(
        std::numeric_limits<double>::quiet_NaN());
  });
  bad([](Map& map) {
    map.mutable_sites(1)->mutable_location()->set_longitude(181);
  });
  bad([](Map& map) { map.set_placed_epoch(1000); });
  bad([](Map& map) { map.mutable_sites(1)->set_id(1); });
  bad([](Map& map) { map.mutable_sites(1)->set_id(9); });
  bad([](Map& map) { map.mutable_sites(1)->set_name("tokyo"); });
  bad([](Map& map) { map.mutable_sites(1)->set_incarnation(0); });
  bad([](Map& map) { map.mutable_sites(1)->set_address("x"); });
  bad([](Map& map) { map.mutable_sites(1)->set_capacity(0); });
  bad([](Map& map) {
    map.mutable_sites(1)->set_state(proto::MapSite::INVITED);
  });
  bad([](Map& map) { map.mutable_sites()->RemoveLast(); });
  bad([](Map& map) { map.mutable_placement()->clear_shares(); });
  bad([](Map& map) { map.mutable_placement()->set_kind("magic"); });
  bad([](Map& map) { map.mutable_placement()->set_virtual_nodes(1 << 30); });
  bad([](Map& map) { map.set_registrar(5); });
  bad([](Map& map) { map.add_blocked(""); });
  bad([](Map& map) {
    map.add_blocked("b");
    map.add_blocked("a");
  });
}

// After any changes in any order, the map passes CheckMap().
TEST(MapChangesTest, RandomChangesKeepMapsValid) {
  std::mt19937 random(1);
  Map map = Founded();
  uint64_t incarnation = 10;
  for (int i = 0; i < 5000; ++i) {
    const std::string name = "s" + std::to_string(random() % 8);
    absl::StatusOr<Map> next = map;
    switch (random() % 10) {
      case 0:
        next = Invite(map, name);
        break;
      case 1:
      case 2:
        next = Join(map, From(name, ++incarnation));
        break;
      case 3:
        next = Leave(map, name);
        break;
      case 4:
        next = Remove(map, name);
        break;
      case 5:
      case 6:
        next = FinishHandOff(map);
        break;
      case 7:
        next = Adopt(map, name, random() % 10'000);
        break;
      case 8:
        next = SetCapacity(map, name, 1 + random() % 5);
        break;
      case 9:
        next = Switch(map, {.virtual_nodes = 100 + unsigned(random() % 3)});
        break;
    }
    if (!next.ok()) {
      EXPECT_FALSE(next.status().message().empty());
      continue;
    }
    ASSERT_TRUE(CheckMap(*next).ok()) << CheckMap(*next);
    ASSERT_FALSE(IsNewer(map, *next));
    ASSERT_FALSE(Contradicts(map, *next)) << i;
    map = *std::move(next);
  }
  EXPECT_GT(map.epoch(), 500);
}

}  // namespace
}  // namespace gannet::federation
