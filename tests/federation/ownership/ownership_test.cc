#include "federation/ownership/ownership.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "federation/map/map_changes.h"
#include "federation/ownership/owner_finder.h"
#include "tests/federation/map/sample_maps.h"

namespace gannet::federation {
namespace {

std::string Page(int i) {
  const std::string domain = fmt::format("d{}.example", i);
  return storage::MakePageKey(domain, fmt::format("example,d{},)http/", i))
      .bytes;
}

TEST(OwnershipTest, AllSitesAgreeWhoOwnsWhatAndWhoHadIt) {
  const auto tokyo_view = MapView::Create(WithParis(), "tokyo").value();
  const auto paris_view = MapView::Create(WithParis(), "paris").value();
  EXPECT_EQ(tokyo_view->peers().size(), 1u);
  EXPECT_EQ(tokyo_view->peers()[0]->name(), "paris");
  const Ownership tokyo(*tokyo_view), paris(*paris_view);
  int at_paris = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string page = Page(i);
    ASSERT_EQ(tokyo.OwnerOf(page), paris.OwnerOf(page));
    ASSERT_NE(tokyo.IsMine(page), paris.IsMine(page));
    ASSERT_EQ(tokyo.PreviousOwnerOf(page), storage::SiteId{1});
    at_paris += paris.IsMine(page);
  }
  EXPECT_GT(at_paris, 400);
  EXPECT_LT(at_paris, 600);
  EXPECT_EQ(tokyo.OwnerOf("nonsense"), std::nullopt);

  const auto settled =
      MapView::Create(FinishHandOff(WithParis()).value(), "tokyo").value();
  EXPECT_EQ(Ownership(*settled).PreviousOwnerOf(Page(1)), std::nullopt);
}

TEST(OwnershipTest, ASiteThatWasRemovedOwnsNothing) {
  const Map removed = Remove(WithParis(), "paris").value();
  const auto paris = MapView::Create(removed, "paris").value();
  EXPECT_EQ(paris->self(), nullptr);
  EXPECT_FALSE(Ownership(*paris).IsMine(Page(1)));
  // Tokyo may crawl its channels at once, and does not wait for a hand-off.
  const auto tokyo = MapView::Create(removed, "tokyo").value();
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(Ownership(*tokyo).IsMine(Page(i)));
  }
}

TEST(OwnerFinderTest, ItSaysOfPageAfterPageWhatOwnershipSays) {
  const auto view = MapView::Create(WithParis(), "tokyo").value();
  OwnerFinder owner(*view);
  for (int i = 0; i < 300; ++i) {
    const std::string page = Page(i / 3) + std::to_string(i % 3);
    const auto expected = Ownership(*view).OwnerOf(page);
    EXPECT_EQ(owner(page),
              Ownership(*view).IsMine(page) ? std::nullopt : expected);
  }
}

}  // namespace
}  // namespace gannet::federation
