#include "storage/archive/http_message.h"

#include <gtest/gtest.h>

namespace gannet::storage {
namespace {

TEST(HttpMessageTest, SplitsHeadAndBody) {
  const std::string message =
      "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nX: y\r\n\r\nbody\n";
  const HttpHead head = SplitHttpResponse(message);
  EXPECT_EQ(head.status, 404);
  EXPECT_EQ(head.Get("content-TYPE"), "text/html");
  EXPECT_EQ(head.Get("absent"), "");
  EXPECT_EQ(message.substr(head.body_offset), "body\n");
}

TEST(HttpMessageTest, LineFeedsAloneEndLinesToo) {
  const HttpHead head = SplitHttpResponse("HTTP/1.0 200\nA: b\n\nx");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.Get("a"), "b");
  EXPECT_EQ(head.body_offset, 19u);
}

TEST(HttpMessageTest, WhatIsNoHttpHasNoStatus) {
  EXPECT_EQ(SplitHttpResponse("").status, 0);
  EXPECT_EQ(SplitHttpResponse("hello").status, 0);
  EXPECT_EQ(SplitHttpResponse("HTTP/1.1 2").status, 0);
  EXPECT_EQ(SplitHttpResponse("HTTP/1.1 ").status, 0);
  EXPECT_EQ(SplitHttpResponse("HTTP/1.1 -12 x").status, 0);
  EXPECT_EQ(SplitHttpResponse("HTTP/1.1 20x OK\r\n\r\n").status, 0);
}

TEST(HttpMessageTest, OnlyTheVersionOfAnHttp2HeadIsRewritten) {
  EXPECT_EQ(HeadOfHttp2AsHttp1("HTTP/2 200 \r\nx: HTTP/2\r\n\r\n"),
            "HTTP/1.1 200 \r\nx: HTTP/2\r\n\r\n");
  EXPECT_EQ(HeadOfHttp2AsHttp1("GET /HTTP/2 HTTP/2\r\nHost: a\r\n\r\n"),
            "GET /HTTP/2 HTTP/1.1\r\nHost: a\r\n\r\n");
  for (const char* head :
       {"", "HTTP/1.1 200 OK\r\nx: HTTP/2\r\n\r\n", "HTTP/1.0 200\r\n\r\n",
        "GET /HTTP/2 HTTP/1.1\r\n\r\n", "HTTP/25 200\r\n\r\n"}) {
    EXPECT_EQ(HeadOfHttp2AsHttp1(head), std::nullopt) << head;
  }
}

TEST(HttpMessageTest, ChunksAreJoined) {
  EXPECT_EQ(Dechunk("4;ext=1\r\nWiki\r\n5\r\npedia\r\n0\r\nTrailer: x\r\n\r\n"),
            "Wikipedia");
}

TEST(HttpMessageTest, WhatIsNotChunkedToItsEndIsLeftAlone) {
  EXPECT_FALSE(Dechunk("").has_value());
  EXPECT_FALSE(Dechunk("<html>").has_value());
  EXPECT_FALSE(Dechunk("5\r\nabc").has_value());
  EXPECT_FALSE(Dechunk("3\r\nabcd\r\n0\r\n\r\n").has_value());
  EXPECT_FALSE(Dechunk("ffffffffffffffff\r\nabc").has_value());
  EXPECT_FALSE(Dechunk("3\r\nabc\r\n").has_value());
}

TEST(HttpMessageTest, BodyIsDechunkedOnlyIfItReallyIsChunked) {
  const std::string head =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(HttpBody(head + "3\r\nabc\r\n0\r\n\r\n"), "abc");
  EXPECT_EQ(HttpBody(head + "stored without chunks"), "stored without chunks");
}

}  // namespace
}  // namespace gannet::storage
