#include "sites/dashboard/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "tests/sites/dashboard/http_client.h"

namespace gannet::sites {
namespace {

using ::testing::HasSubstr;

class HttpServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    server_.AddRoute("/kept", [](const std::string&) {
      HttpAnswer answer;
      answer.body = "some bytes";
      answer.etag = "\"v1\"";
      return answer;
    });
    server_.AddRoute("/query", [](const std::string& query) {
      HttpAnswer answer;
      answer.body = query;
      return answer;
    });
    const absl::Status started = server_.Start("127.0.0.1:0");
    ASSERT_TRUE(started.ok()) << started;
    ASSERT_NE(server_.port(), 0);
  }

  HttpServer server_;
};

TEST_F(HttpServerTest, AHandlerAnswersItsPathAndSeesTheRawQuery) {
  const ClientAnswer answer = Get(server_.port(), "/query?a=%20&b=+");
  EXPECT_EQ(answer.code, 200);
  EXPECT_EQ(answer.body, "a=%20&b=+");
  EXPECT_EQ(answer.Header("Cache-Control"), "no-store");
}

TEST_F(HttpServerTest, EveryAnswerForbidsForeignAndInlineScripts) {
  const uint16_t port = server_.port();
  for (const ClientAnswer& answer :
       {Get(port, "/kept"), Get(port, "/none"), Request(port, "POST", "/kept"),
        Request(port, "GET", "/kept", {{"Host", "evil.example"}}),
        SendRaw(port, "nonsense\r\n\r\n")}) {
    EXPECT_EQ(answer.Header("Content-Security-Policy"),
              "default-src 'none'; script-src 'self'; style-src 'self'; "
              "img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
              "form-action 'self'; frame-ancestors 'none'")
        << answer.code;
    EXPECT_EQ(answer.Header("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(answer.Header("Referrer-Policy"), "no-referrer");
    EXPECT_EQ(answer.Header("Cross-Origin-Opener-Policy"), "same-origin");
  }
}

TEST_F(HttpServerTest, UnknownPathsAreNotFound) {
  EXPECT_EQ(Get(server_.port(), "/nothing").code, 404);
  EXPECT_EQ(Get(server_.port(), "/kept/").code, 404);
  EXPECT_EQ(Get(server_.port(), "/../../../../etc/passwd").code, 404);
  EXPECT_EQ(Get(server_.port(), "/%2e%2e/%2e%2e/etc/passwd").code, 404);
}

TEST_F(HttpServerTest, OnlyGetAndHeadAreAllowed) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH"}) {
    const ClientAnswer answer = Request(server_.port(), method, "/kept");
    EXPECT_EQ(answer.code, 405) << method;
    EXPECT_EQ(answer.Header("Allow"), "GET, HEAD");
  }
}

TEST_F(HttpServerTest, HeadIsGetWithoutTheBody) {
  const ClientAnswer answer = Request(server_.port(), "HEAD", "/kept");
  EXPECT_EQ(answer.code, 200);
  EXPECT_EQ(answer.Header("Content-Length"), "10");
  EXPECT_EQ(answer.body, "");
}

TEST_F(HttpServerTest, AClientThatHasTheSameBytesIsToldSo) {
  const ClientAnswer first = Get(server_.port(), "/kept");
  EXPECT_EQ(first.Header("ETag"), "\"v1\"");
  const ClientAnswer again =
      Request(server_.port(), "GET", "/kept",
              {{"Host", "localhost"}, {"If-None-Match", "\"v1\""}});
  EXPECT_EQ(again.code, 304);
  EXPECT_EQ(again.body, "");
  const ClientAnswer other =
      Request(server_.port(), "GET", "/kept",
              {{"Host", "localhost"}, {"If-None-Match", "\"v0\""}});
  EXPECT_EQ(other.code, 200);
}

TEST_F(HttpServerTest, ANameFromTheWebIsRefusedOnLoopback) {
  for (const char* host : {"evil.example", "evil.example:80", "127.0.0.1.evil",
                           "localhost.evil.example", "128.0.0.1", "[::2]",
                           "localhost:80:80", "notlocalhost"}) {
    const ClientAnswer answer =
        Request(server_.port(), "GET", "/kept", {{"Host", host}});
    EXPECT_EQ(answer.code, 403) << host;
    EXPECT_THAT(answer.body, HasSubstr("localhost")) << host;
  }
  for (const char* host :
       {"localhost", "LOCALHOST:7781", "127.0.0.1", "127.9.8.7:1", "[::1]",
        "[::1]:7781", "site.localhost", "localhost."}) {
    EXPECT_EQ(Request(server_.port(), "GET", "/kept", {{"Host", host}}).code,
              200)
        << host;
  }
}

class HttpServerOnEveryAddressTest : public ::testing::Test {
 protected:
  void SetUp() override {
    server_.AddRoute("/", [](const std::string&) { return HttpAnswer(); });
    ASSERT_TRUE(
        server_.Start("0.0.0.0:0", {"Crawl.example.org", "tokyo.test."}).ok());
  }
  ClientAnswer AskAs(const std::string& host) {
    return Request(server_.port(), "GET", "/", {{"Host", host}});
  }
  HttpServer server_;
};

// A page of the web could read the dashboard if its name later resolves to this
// machine (DNS rebinding).
TEST_F(HttpServerOnEveryAddressTest, ANameFromTheWebIsRefused) {
  for (const char* host :
       {"evil.example", "evil.example:80", "192.168.1.1.evil.example",
        "crawl.example.org.evil.example", "x.crawl.example.org", "1.2.3",
        "[::1].evil.example", "[::1]x", "1.2.3.4:x", "."}) {
    const ClientAnswer answer = AskAs(host);
    EXPECT_EQ(answer.code, 403) << host;
    EXPECT_THAT(answer.body, HasSubstr("listen.http_names")) << host;
  }
  EXPECT_THAT(AskAs("evil.example:80").body, HasSubstr("'evil.example:80'"));
  EXPECT_THAT(AskAs("evil\xff<b>").body, ::testing::Not(HasSubstr("<b>")));
}

TEST_F(HttpServerOnEveryAddressTest,
       NamesThatNoPageOfTheWebCanHaveAreAccepted) {
  for (const char* host :
       {"192.168.1.7", "192.168.1.7:7781", "[2001:db8::1]:7781", "[::1]",
        "localhost:7781", "tokyo", "TOKYO:7781", "site.localhost",
        "crawl.example.org", "CRAWL.example.ORG.:7781", "tokyo.test"}) {
    EXPECT_EQ(AskAs(host).code, 200) << host;
  }
}

TEST(HttpServerOnLoopbackTest, ANameOfTheConfigurationIsAccepted) {
  HttpServer server;
  server.AddRoute("/", [](const std::string&) { return HttpAnswer(); });
  ASSERT_TRUE(server.Start("127.0.0.1:0", {"crawl.example.org"}).ok());
  EXPECT_EQ(
      Request(server.port(), "GET", "/", {{"Host", "crawl.example.org"}}).code,
      200);
  EXPECT_EQ(Request(server.port(), "GET", "/", {{"Host", "tokyo"}}).code, 403);
}

TEST_F(HttpServerTest, HugeAndBrokenRequestsAreRefusedWithoutHarm) {
  const std::string big(100000, 'x');
  EXPECT_NE(Get(server_.port(), "/query?" + big).code, 200);
  EXPECT_NE(Request(server_.port(), "GET", "/kept",
                    {{"Host", "localhost"}, {"X-Big", big}})
                .code,
            200);
  EXPECT_EQ(SendRaw(server_.port(), "\r\n\r\n\r\n").code, 400);
  EXPECT_EQ(SendRaw(server_.port(), std::string("G\0T /\r\n\r\n", 9)).code,
            400);
  EXPECT_EQ(Get(server_.port(), "/kept").code, 200);
}

TEST_F(HttpServerTest, RequestsAreCountedByCode) {
  Get(server_.port(), "/kept");
  Get(server_.port(), "/kept");
  Get(server_.port(), "/nothing");
  const auto counts = server_.RequestsByCode();
  EXPECT_EQ(counts.at(200), 2);
  EXPECT_EQ(counts.at(404), 1);
}

TEST_F(HttpServerTest, APortInUseIsNamedWithTheReason) {
  HttpServer second;
  const std::string address = "127.0.0.1:" + std::to_string(server_.port());
  const absl::Status started = second.Start(address);
  EXPECT_EQ(started.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(started.message()), HasSubstr(address));
  EXPECT_THAT(std::string(started.message()), HasSubstr("in use"));
}

TEST_F(HttpServerTest, StopEndsSoonAndFreesThePort) {
  const std::string address = "127.0.0.1:" + std::to_string(server_.port());
  const absl::Time began = absl::Now();
  server_.Stop();
  EXPECT_LT(absl::Now() - began, absl::Seconds(5));
  HttpServer second;
  EXPECT_TRUE(second.Start(address).ok());
}

TEST(HttpAddressTest, BadAddressesSayWhatIsWrong) {
  const std::map<std::string, std::string> wrong = {
      {"7781", "needs a port"},         {":7781", "needs a host"},
      {"127.0.0.1:", "the port is"},    {"127.0.0.1:65536", "the port is"},
      {"127.0.0.1:-1", "the port is"},  {"[::1]:80", "IPv6"},
      {"example.org:80", "IPv4"},       {"127.0.0.1:80s", "the port is"},
      {"127.0.0.1,1.2.3.4:80", "IPv4"},
  };
  for (const auto& [text, why] : wrong) {
    const auto address = ParseHttpAddress(text);
    EXPECT_EQ(address.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(address.status().message()), HasSubstr(why));
  }
  EXPECT_EQ(ParseHttpAddress("localhost:80")->ip, "127.0.0.1");
  EXPECT_TRUE(ParseHttpAddress("127.1.2.3:80")->IsLoopback());
  EXPECT_FALSE(ParseHttpAddress("0.0.0.0:80")->IsLoopback());
}

}  // namespace
}  // namespace gannet::sites
