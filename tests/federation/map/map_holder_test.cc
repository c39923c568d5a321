// A site's own copy of the map, and the file that a map can be kept in.
#include "federation/map/map_holder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "federation/map/file_map.h"
#include "federation/map/map_changes.h"
#include "federation/map/map_keeper.h"
#include "tests/federation/map/sample_maps.h"
#include "tests/simulated_clock.h"
#include "tests/temporary_folder.h"

namespace gannet::federation {
namespace {

using testing::HasSubstr;

class MapHolderTest : public testing::Test {
 protected:
  SimulatedClock clock_;
  MapHolder holder_{"tokyo",
                    [this](const Map& map) {
                      kept_.push_back(map.SerializeAsString());
                      return keep_status_;
                    },
                    clock_};
  std::vector<std::string> kept_;
  absl::Status keep_status_;
  std::atomic<bool> stop_ = false;
};

TEST_F(MapHolderTest, NewerMapsAreKeptBeforeTheyCount) {
  EXPECT_EQ(holder_.view(), nullptr);
  ASSERT_TRUE(holder_.Offer(Founded()).ok());
  const Map next = Invite(Founded(), "paris").value();
  keep_status_ = absl::ResourceExhaustedError("disk full");
  EXPECT_TRUE(absl::IsResourceExhausted(holder_.Offer(next)));
  EXPECT_EQ(holder_.view()->map().epoch(), 1);
  keep_status_ = absl::OkStatus();
  ASSERT_TRUE(holder_.Offer(next).ok());
  EXPECT_EQ(holder_.view()->map().epoch(), 2);
  ASSERT_TRUE(holder_.Offer(Founded()).ok());  // Old: no error, no change.
  EXPECT_EQ(holder_.view()->map().epoch(), 2);
  EXPECT_EQ(kept_.size(), 3u);

  MapHolder again(
      "tokyo", [](const Map&) { return absl::OkStatus(); }, clock_);
  ASSERT_TRUE(again.Load(kept_.back()).ok());
  EXPECT_EQ(again.view()->map().epoch(), 2);
  EXPECT_TRUE(absl::IsDataLoss(again.Load("nonsense")));
}

TEST_F(MapHolderTest, ForeignAndForgedMapsAreRefused) {
  ASSERT_TRUE(holder_.Offer(Invite(Founded(), "paris").value()).ok());
  absl::Status refused = holder_.Offer(Founded(100));
  EXPECT_TRUE(absl::IsFailedPrecondition(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("another federation"));
  refused = holder_.Offer(Invite(Founded(), "oslo").value());
  EXPECT_TRUE(absl::IsFailedPrecondition(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("epoch 2"));
  Map damaged = Invite(holder_.view()->map(), "oslo").value();
  damaged.mutable_placement()->clear_shares();
  EXPECT_TRUE(absl::IsInvalidArgument(holder_.Offer(damaged)));
  EXPECT_EQ(kept_.size(), 1u);
}

TEST_F(MapHolderTest, WhoWaitsForANewMapIsWoken) {
  ASSERT_TRUE(holder_.Offer(Founded()).ok());
  const auto known = holder_.view();
  std::thread other([&] {
    clock_.AwaitWaiters(1);
    EXPECT_TRUE(holder_.Offer(WithParis()).ok());
  });
  EXPECT_EQ(holder_.Await(known, absl::Seconds(20), stop_)->map().epoch(), 3);
  other.join();
}

TEST_F(MapHolderTest, WhoWaitsInVainHasTheMapThatItKnew) {
  ASSERT_TRUE(holder_.Offer(Founded()).ok());
  const auto known = holder_.view();
  std::thread other([&] {
    clock_.AwaitWaiters(1);
    clock_.Advance(absl::Seconds(20));
  });
  EXPECT_EQ(holder_.Await(known, absl::Seconds(20), stop_), known);
  other.join();
}

TEST_F(MapHolderTest, WhoIsToStopWaitsNoLonger) {
  std::thread other([&] {
    clock_.AwaitWaiters(1);
    stop_ = true;
    holder_.Wake();
  });
  EXPECT_EQ(holder_.Await(nullptr, absl::Hours(1), stop_), nullptr);
  other.join();
  EXPECT_EQ(holder_.Await(nullptr, absl::Hours(1), stop_), nullptr);
}

TEST(FileMapTest, AFileIsReadAsItIsNow) {
  TemporaryFolder folder;
  const std::string path = folder.path() + "/map.json";
  EXPECT_TRUE(absl::IsNotFound(ReadMapFile(path).status()));
  std::ofstream(path) << MapToText(WithParis());
  EXPECT_EQ(ReadMapFile(path)->SerializeAsString(),
            WithParis().SerializeAsString());
  std::ofstream(path) << "{\"epoch\": \"many\"}";
  const absl::Status bad = ReadMapFile(path).status();
  EXPECT_TRUE(absl::IsInvalidArgument(bad));
  EXPECT_THAT(std::string(bad.message()), HasSubstr("map.json"));
}

// A keeper in memory; another site changes its map first, a few times.
class BusyKeeper : public MapKeeper {
 public:
  absl::StatusOr<Map> Get() override { return map; }
  absl::Status CompareAndSwap(const Map& expected, const Map& next) override {
    if (others_ > 0) {
      --others_;
      map = Pause(map, !map.paused()).value();
    }
    if (expected.epoch() != map.epoch()) return absl::AbortedError("late");
    map = next;
    return absl::OkStatus();
  }

  Map map = Founded();
  int others_ = 3;
};

TEST(MapKeeperTest, AChangeIsTriedAgainOnTheMapThatAnotherSiteMade) {
  BusyKeeper keeper;
  const auto invite = [](const Map& map) { return Invite(map, "paris"); };
  EXPECT_EQ(ChangeMap(keeper, invite)->epoch(), 5);
  EXPECT_NE(FindSite(keeper.map, "paris"), nullptr);
  EXPECT_TRUE(absl::IsAlreadyExists(ChangeMap(keeper, invite).status()));
  keeper.others_ = 1000;
  EXPECT_TRUE(absl::IsAborted(ChangeMap(keeper, [](const Map& map) {
                                return Invite(map, "oslo");
                              }).status()));
}

}  // namespace
}  // namespace gannet::federation
