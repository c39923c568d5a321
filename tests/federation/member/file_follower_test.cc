// A map in a file: what the site says of it, and what it prints.
#include "federation/member/file_follower.h"

#include <gmock/gmock.h>

#include <fstream>

#include "federation/map/file_map.h"
#include "tests/federation/member/test_own_site.h"

namespace gannet::federation {
namespace {

using testing::HasSubstr;

class FileFollowerTest : public testing::Test {
 protected:
  // As the administrator does.
  void Copy(const Map& map) { std::ofstream(path_) << MapToText(map); }

  TestOwnSite site_{"paris"};
  Losses losses_{*site_.db};
  TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/map.json";
  bool all_done_ = false;
  FileFollower follower_{site_.own(), losses_, path_,
                         [this](const MapView&) { return all_done_; }};
  const Map tokyos_ =
      FoundFederation(TestOwnSite::Other("tokyo"), 9, {}, false).value();
};

TEST_F(FileFollowerTest, TheFirstSitePrintsTheFirstMap) {
  EXPECT_THAT(follower_.Step(), HasSubstr("there is no map"));
  const Map first = follower_.Join("").value();
  EXPECT_EQ(site_.maps.view(), nullptr);  // Until it is copied.
  Copy(first);
  EXPECT_EQ(follower_.Step(), "");
  EXPECT_NE(site_.maps.view()->self(), nullptr);
  EXPECT_TRUE(absl::IsFailedPrecondition(follower_.Adopt().status()));
}

TEST_F(FileFollowerTest, EachStepOnTheWayIntoTheMapIsSaid) {
  Copy(tokyos_);
  EXPECT_THAT(follower_.Step(), HasSubstr("it was removed, or it left"));
  Copy(Invite(tokyos_, "paris").value());
  EXPECT_THAT(follower_.Step(), HasSubstr("this site is invited"));
  const Map with = follower_.Join("").value();
  Copy(with);
  EXPECT_EQ(follower_.Step(), "");
  // Restored from a backup.
  ASSERT_TRUE(site_.life.BeReborn().ok());
  EXPECT_THAT(follower_.Step(), HasSubstr("another incarnation"));
}

TEST_F(FileFollowerTest, OnlyTheNextChangeEndsAHandOffThatIsDone) {
  Copy(Invite(tokyos_, "paris").value());
  follower_.Step();
  Copy(follower_.Join("").value());
  EXPECT_EQ(follower_.Step(), "");
  const auto invite = [](const Map& map) { return Invite(map, "lima"); };
  EXPECT_TRUE(IsHandingOff(follower_.Change(invite).value()));
  all_done_ = true;
  EXPECT_FALSE(IsHandingOff(follower_.Change(invite).value()));
  EXPECT_TRUE(IsHandingOff(site_.maps.view()->map()));
}

}  // namespace
}  // namespace gannet::federation
