// What is made of what the other sites say of themselves.
#include "federation/member/neighbours.h"

#include <gtest/gtest.h>

#include "federation/map/map_changes.h"

namespace gannet::federation {
namespace {

// tokyo, and paris in its second life, to which pages move.
Map Moving() {
  Applicant tokyo;
  tokyo.name = "tokyo";
  tokyo.incarnation = 1;
  tokyo.address = "127.0.0.1:7701";
  Applicant paris = tokyo;
  paris.name = "paris";
  paris.incarnation = 2;
  const Map map = FoundFederation(tokyo, 7, {}, true).value();
  return Join(Invite(map, "paris").value(), paris).value();
}

class HaveHandedOffTest : public testing::Test {
 protected:
  HaveHandedOffTest() {
    paris_.incarnation = 2;
    paris_.condition.emplace().set_handed_off(PlacedStamp(view_->map()));
  }
  bool HaveHandedOff() {
    return federation::HaveHandedOff(*view_, {{2, paris_}});
  }

  const std::shared_ptr<const MapView> view_ =
      MapView::Create(Moving(), "tokyo").value();
  NeighbourSnapshot paris_;
};

TEST_F(HaveHandedOffTest, WhenAllSayThatTheirPartIsDone) {
  EXPECT_TRUE(HaveHandedOff());
}

TEST_F(HaveHandedOffTest, NotBeforeAllHaveDoneThisPart) {
  paris_.condition->set_handed_off(PlacedStamp(view_->map()) - 1);
  EXPECT_FALSE(HaveHandedOff());
}

TEST_F(HaveHandedOffTest, NotByTheWordOfALifeThatIsOver) {
  paris_.incarnation = 1;
  EXPECT_FALSE(HaveHandedOff());
}

TEST_F(HaveHandedOffTest, NotBeforeAllWereHeard) {
  paris_.condition.reset();
  EXPECT_FALSE(HaveHandedOff());
}

TEST_F(HaveHandedOffTest, NotBeforeAllWereMet) {
  EXPECT_FALSE(federation::HaveHandedOff(*view_, {}));
}

}  // namespace
}  // namespace gannet::federation
