#include "jobs/fetch/outcome.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace gannet::jobs {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

Response Answered(int status, std::string_view fields = "") {
  Response response;
  response.status = status;
  response.head = fmt::format("HTTP/1.1 {} X\r\n{}\r\n", status, fields);
  return response;
}

Outcome Of(const Response& response, bool was_conditional = false) {
  return OutcomeOf(response, was_conditional, kNow);
}

TEST(OutcomeTest, AnAnswerWithAPageIsFetched) {
  for (const int status : {200, 203, 206, 299}) {
    EXPECT_EQ(Of(Answered(status)).state, proto::FETCHED);
    EXPECT_EQ(Of(Answered(status)).reason, "");
  }
}

TEST(OutcomeTest, ARedirectIsMovedIfItSaysWhere) {
  for (const int status : {301, 302, 303, 307, 308}) {
    const Outcome moved = Of(Answered(status, "Location: /there\r\n"));
    EXPECT_EQ(moved.state, proto::MOVED);
    EXPECT_EQ(moved.location, "/there");
    const Outcome nowhere = Of(Answered(status));
    EXPECT_EQ(nowhere.state, proto::FAILED);
    EXPECT_EQ(nowhere.reason,
              fmt::format("http {} without a Location", status));
    EXPECT_FALSE(nowhere.try_again);
  }
}

TEST(OutcomeTest, NotModifiedMakesSenseOnlyIfItWasAskedFor) {
  EXPECT_EQ(Of(Answered(304), true).state, proto::FETCHED);
  EXPECT_TRUE(Of(Answered(304), true).unchanged);
  EXPECT_EQ(Of(Answered(304), false).state, proto::FAILED);
}

TEST(OutcomeTest, OnlyWhatMayPassIsTriedAgain) {
  for (const int status : {404, 410}) {
    EXPECT_EQ(Of(Answered(status)).state, proto::GONE);
  }
  for (const int status : {400, 401, 403, 405, 418, 451}) {
    EXPECT_EQ(Of(Answered(status)).state, proto::FAILED);
    EXPECT_FALSE(Of(Answered(status)).try_again) << status;
  }
  for (const int status : {408, 425, 429, 500, 502, 503, 504, 599}) {
    EXPECT_EQ(Of(Answered(status)).state, proto::FAILED);
    EXPECT_TRUE(Of(Answered(status)).try_again) << status;
    EXPECT_EQ(Of(Answered(status)).reason, fmt::format("http {}", status));
  }
}

TEST(OutcomeTest, ABusyServerSaysHowLongItWantsToRest) {
  for (const int status : {429, 503}) {
    const Outcome busy = Of(Answered(status, "Retry-After: 7\r\n"));
    EXPECT_TRUE(busy.host_is_busy);
    EXPECT_EQ(busy.retry_after, absl::Seconds(7));
    EXPECT_EQ(Of(Answered(status)).retry_after, std::nullopt);
  }
  EXPECT_FALSE(Of(Answered(500, "Retry-After: 7\r\n")).host_is_busy);
}

TEST(OutcomeTest, AFailureNamesItselfAndWhatHelpsToUnderstandIt) {
  Response response;
  response.failure = Failure::kAddressRefused;
  response.detail = "127.0.0.1 is loopback";
  EXPECT_EQ(Of(response).reason,
            "address_refused: the address may not be connected to "
            "(127.0.0.1 is loopback)");
  EXPECT_FALSE(Of(response).try_again);
  response.failure = Failure::kTlsHandshake;
  response.detail = "bad \x1b[2J\r\nhandshake";
  EXPECT_EQ(Of(response).reason,
            "tls_handshake: the TLS handshake failed (bad [2Jhandshake)");
  EXPECT_TRUE(Of(response).host_is_unreachable);
  response.failure = Failure::kNameNotFound;
  response.detail = std::string(5000, 'x');
  EXPECT_LT(Of(response).reason.size(), 250u);
  response.failure = Failure::kTooLarge;
  EXPECT_EQ(Of(response).reason, "too_large: the page is too large");
  EXPECT_FALSE(Of(response).try_again);
}

TEST(OutcomeTest, AFailureCountsWhateverStatusCameBeforeIt) {
  Response response = Answered(200);
  response.failure = Failure::kCutShort;
  EXPECT_EQ(Of(response).state, proto::FAILED);
  EXPECT_EQ(Of(response).reason,
            "cut_short: the connection ended before the page did");
  EXPECT_EQ(Of(response).kind, "cut_short");
  EXPECT_TRUE(Of(response).try_again);
}

}  // namespace
}  // namespace gannet::jobs
