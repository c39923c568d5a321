#include "sites/dashboard/query.h"

#include <gtest/gtest.h>

namespace gannet::sites {
namespace {

TEST(QueryTest, ValuesAreDecodedAsFormsWriteThem) {
  const auto query = Query::Parse("url=http%3A%2F%2Fa.example%2F%C3%A9+b&x=&y");
  ASSERT_TRUE(query.ok()) << query.status();
  EXPECT_EQ(query->Text("url"), "http://a.example/é b");
  EXPECT_EQ(query->Text("x"), "");
  EXPECT_EQ(query->Text("z"), "");
  EXPECT_TRUE(query->HasOnly({"url", "x", "y"}).ok());
  EXPECT_FALSE(query->HasOnly({"url"}).ok());
}

TEST(QueryTest, WhatMakesNoSenseIsRefused) {
  for (const char* text : {"a=%", "a=%4", "a=%zz", "%=1", "a=%ff", "a=1&a=2"}) {
    EXPECT_EQ(Query::Parse(text).status().code(),
              absl::StatusCode::kInvalidArgument)
        << text;
  }
  EXPECT_TRUE(Query::Parse("&&&").ok());
}

TEST(QueryTest, NumbersAreWholeAndInRange) {
  const auto query = Query::Parse("a=5&b=-1&c=5x&d=&e=99999999999999999999");
  EXPECT_EQ(query->Number("a", 1, 1, 5).value(), 5u);
  EXPECT_EQ(query->Number("none", 7, 1, 5).value(), 7u);
  EXPECT_FALSE(query->Number("a", 1, 1, 4).ok());
  for (const char* key : {"b", "c", "d", "e"}) {
    EXPECT_FALSE(query->Number(key, 1, 0, 100).ok()) << key;
  }
}

}  // namespace
}  // namespace gannet::sites
