// The map's scope, and what the site crawls.
#include "federation/member/map_scope.h"

#include <gmock/gmock.h>

#include "tests/federation/member/test_own_site.h"

namespace gannet::federation {
namespace {

using Kind = storage::ScopeRule::Kind;

class MapScopeTest : public testing::Test {
 protected:
  absl::Status Edit(const ScopeEdit& edit) {
    proto::MapRules rules = map_.rules();
    if (absl::Status s = EditScope(edit, rules); !s.ok()) return s;
    auto next = SetRules(map_, rules);
    if (!next.ok()) return next.status();
    map_ = *std::move(next);
    scope_.Apply(MapView::Create(map_, "paris").value());
    return absl::OkStatus();
  }
  std::vector<storage::ScopeRule> Rules() {
    return site_.db->scopes().Rules().value();
  }

  TestOwnSite site_{"paris"};
  MapScope scope_{*site_.db, site_.note};
  Map map_ = FoundFederation(site_.own().AsApplicant(), 9, {}, true).value();
};

TEST_F(MapScopeTest, TheSiteCrawlsWhatTheMapSays) {
  const storage::ScopeRule host{Kind::kHost, "http://a.example/", 2};
  const storage::ScopeRule deny{Kind::kDeny, "b.example"};
  const uint64_t epoch = map_.epoch();
  ASSERT_TRUE(Edit({{host, deny}, {}}).ok());
  EXPECT_GT(map_.epoch(), epoch);
  EXPECT_THAT(Rules(), testing::ElementsAre(host, deny));
  ASSERT_TRUE(Edit({{}, {"b.example"}}).ok());
  EXPECT_THAT(Rules(), testing::ElementsAre(host));
}

TEST_F(MapScopeTest, ASeedHasOneRuleAndANameOneInEachList) {
  ASSERT_TRUE(
      Edit({{{Kind::kHost, "http://a.example/"}, {Kind::kAllow, "c.example"}},
            {}})
          .ok());
  ASSERT_TRUE(
      Edit({{{Kind::kPage, "http://a.example/"}, {Kind::kDeny, "c.example"}},
            {}})
          .ok());
  EXPECT_THAT(Rules(), testing::ElementsAre(
                           storage::ScopeRule{Kind::kPage, "http://a.example/"},
                           storage::ScopeRule{Kind::kAllow, "c.example"},
                           storage::ScopeRule{Kind::kDeny, "c.example"}));
}

TEST_F(MapScopeTest, WhatTheSiteHadByItselfGivesWay) {
  ASSERT_TRUE(
      site_.db->scopes().Put({{Kind::kHost, "http://own.example/"}}).ok());
  ASSERT_TRUE(Edit({{{Kind::kHost, "http://a.example/"}}, {}}).ok());
  EXPECT_THAT(Rules(), testing::ElementsAre(storage::ScopeRule{
                           Kind::kHost, "http://a.example/"}));
}

TEST_F(MapScopeTest, ForgettingTheLastSeedWouldOpenTheScopeAndIsRefused) {
  ASSERT_TRUE(Edit({{{Kind::kHost, "http://a.example/"}}, {}}).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(Edit({{}, {"http://a.example/"}})));
  EXPECT_TRUE(
      Edit({{{Kind::kPage, "http://b.example/"}}, {"http://a.example/"}}).ok());
}

TEST_F(MapScopeTest, RulesThatAreNoneDoNotGetIntoAMap) {
  EXPECT_TRUE(absl::IsNotFound(Edit({{}, {"nobody.example"}})));
  EXPECT_TRUE(
      absl::IsInvalidArgument(Edit({{{Kind::kHost, "a.example"}}, {}})));
  ScopeEdit many;
  for (int i = 0; i <= kMostScopeRules; ++i) {
    many.put.push_back({Kind::kPage, "http://a.example/" + std::to_string(i)});
  }
  EXPECT_TRUE(absl::IsInvalidArgument(Edit(many)));
  Map forged = map_;
  forged.mutable_rules()->add_scope()->set_kind(
      static_cast<proto::ScopeRule::Kind>(77));
  EXPECT_FALSE(CheckMap(forged).ok());
}

}  // namespace
}  // namespace gannet::federation
