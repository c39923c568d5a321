// The rules of seeds: kept, replaced, taken away, and what is in scope then.
#include "storage/crawl_db/scopes.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "storage/crawl_db/crawl_db.h"
#include "tests/temporary_folder.h"

namespace gannet::storage {
namespace {

using Kind = ScopeRule::Kind;

class ScopesTest : public ::testing::Test {
 protected:
  ScopesTest() { Reopen(); }

  void Reopen() {
    db_.reset();
    auto db = CrawlDb::Open({.folder = folder_.path()});
    ASSERT_TRUE(db.ok()) << db.status();
    db_ = *std::move(db);
  }
  void Put(const std::vector<ScopeRule>& rules) {
    const absl::Status status = db_->scopes().Put(rules);
    EXPECT_TRUE(status.ok()) << status;
  }
  bool Wants(std::string_view url, uint32_t depth = 0) const {
    return db_->scopes().scope()->Judge(Url::Parse(url).value(), depth) ==
           UrlVerdict::kAllowed;
  }
  void Inject(std::string_view url) {
    const PageKey page = PageKeyOf(Url::Parse(url).value());
    ASSERT_TRUE(db_->incoming().Inject({page}, absl::UnixEpoch()).ok());
  }
  size_t RuleCount() { return db_->scopes().Rules().value().size(); }

  TemporaryFolder folder_;
  std::unique_ptr<CrawlDb> db_;
};

TEST_F(ScopesTest, ANewSiteWantsEverything) {
  EXPECT_TRUE(Wants("http://a.example/"));
  EXPECT_EQ(RuleCount(), 0u);
}

TEST_F(ScopesTest, RulesAreInForceAtOnceAndAfterAnotherStart) {
  Put({{Kind::kHost, "http://a.example/", 2}, {Kind::kDeny, "b.example"}});
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(Wants("http://a.example/x", 2));
    EXPECT_FALSE(Wants("http://a.example/x", 3));
    EXPECT_FALSE(Wants("http://b.example/"));
    EXPECT_FALSE(Wants("http://c.example/"));
    EXPECT_EQ(db_->scopes().Rules().value(),
              (std::vector<ScopeRule>{{Kind::kHost, "http://a.example/", 2},
                                      {Kind::kDeny, "b.example"}}));
    Reopen();
  }
}

TEST_F(ScopesTest, ANewRuleOfASeedTakesThePlaceOfItsOldOne) {
  Put({{Kind::kDomain, "http://www.a.example/b/"}});
  EXPECT_TRUE(Wants("http://x.a.example/"));
  Put({{Kind::kPrefix, "http://www.a.example/b/"}});
  EXPECT_FALSE(Wants("http://x.a.example/"));
  EXPECT_TRUE(Wants("http://www.a.example/b/c"));
  EXPECT_EQ(RuleCount(), 1u);
}

TEST_F(ScopesTest, TheLastRuleOfASeedInOneCallCounts) {
  Put({{Kind::kDomain, "http://www.a.example/"},
       {Kind::kPage, "http://www.a.example/"}});
  EXPECT_FALSE(Wants("http://x.a.example/"));
  EXPECT_EQ(RuleCount(), 1u);
}

TEST_F(ScopesTest, SeedsThatCameBeforeAnyRuleKeepTheirScope) {
  Inject("http://old.example/");
  Put({{Kind::kHost, "http://a.example/"}});
  EXPECT_TRUE(Wants("http://anywhere.example/"));
  // Until the operator takes that away.
  ASSERT_TRUE(db_->scopes().Remove("").ok());
  EXPECT_FALSE(Wants("http://anywhere.example/"));
}

TEST_F(ScopesTest, ARuleForEverythingCanBeNarrowed) {
  Put({{Kind::kAny, "http://a.example/"}});
  Inject("http://a.example/");
  EXPECT_TRUE(Wants("http://c.example/"));
  Put({{Kind::kHost, "http://a.example/"}});
  EXPECT_FALSE(Wants("http://c.example/"));
}

TEST_F(ScopesTest, WhatIsTakenAwayIsGone) {
  Put({{Kind::kHost, "http://a.example/"},
       {Kind::kHost, "http://b.example/"},
       {Kind::kAllow, "c.example"}});
  ASSERT_TRUE(db_->scopes().Remove("c.example").ok());
  ASSERT_TRUE(db_->scopes().Remove("http://b.example/").ok());
  EXPECT_FALSE(Wants("http://b.example/"));
  EXPECT_FALSE(Wants("http://c.example/"));
  EXPECT_EQ(db_->scopes().Remove("c.example").code(),
            absl::StatusCode::kNotFound);
}

TEST_F(ScopesTest, TheLastSeedsRuleIsNotTakenAwayForThatWouldOpenTheScope) {
  Put({{Kind::kHost, "http://a.example/"}, {Kind::kAllow, "c.example"}});
  Inject("http://a.example/");
  EXPECT_EQ(db_->scopes().Remove("http://a.example/").code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(Wants("http://b.example/"));
}

TEST_F(ScopesTest, ReplacingLeavesOnlyTheNewRules) {
  Put({{Kind::kHost, "http://a.example/"}, {Kind::kDeny, "c.example"}});
  const std::vector<ScopeRule> rules = {{Kind::kHost, "http://a.example/", 1},
                                        {Kind::kHost, "http://b.example/"}};
  ASSERT_TRUE(db_->scopes().Replace(rules).ok());
  EXPECT_EQ(db_->scopes().Rules().value(), rules);
  EXPECT_FALSE(Wants("http://a.example/", 2));
  EXPECT_TRUE(Wants("http://b.example/", 2));
}

TEST_F(ScopesTest, ABadRuleChangesNothing) {
  Put({{Kind::kHost, "http://a.example/"}});
  EXPECT_EQ(db_->scopes()
                .Put({{Kind::kHost, "http://b.example/"}, {Kind::kDeny, "/"}})
                .code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(RuleCount(), 1u);
  EXPECT_FALSE(Wants("http://b.example/"));
}

TEST_F(ScopesTest, AReaderKeepsTheScopeThatItHas) {
  const auto before = db_->scopes().scope();
  Put({{Kind::kHost, "http://a.example/"}});
  EXPECT_EQ(before->Judge(Url::Parse("http://c.example/").value(), 0),
            UrlVerdict::kAllowed);
}

}  // namespace
}  // namespace gannet::storage
