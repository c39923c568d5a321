#include "jobs/fetch/host_state.h"

#include <gtest/gtest.h>

namespace gannet::jobs {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

bool Allows(uint32_t status, const std::string& text = "") {
  proto::RobotsRules stored;
  stored.set_http_status(status);
  stored.set_text(text);
  return RulesFromStored(stored, "gannet").Judge("/x").allowed;
}

// RFC 9309, 2.3.1.3: "the crawler MAY access any resources on the server."
TEST(RulesFromStoredTest, AFileThatIsNotThereAllowsEverything) {
  for (const uint32_t status : {400u, 401u, 403u, 404u, 410u, 451u}) {
    EXPECT_TRUE(Allows(status, "User-agent: *\nDisallow: /\n")) << status;
  }
}

// RFC 9309, 2.3.1.4: "the crawler MUST assume complete disallow."
TEST(RulesFromStoredTest, AFileThatCannotBeHadForbidsEverything) {
  for (const uint32_t status : {0u, 500u, 503u, 599u, 429u}) {
    EXPECT_FALSE(Allows(status)) << status;
  }
}

TEST(RulesFromStoredTest, AFileThatIsThereIsRead) {
  EXPECT_TRUE(Allows(200, ""));
  EXPECT_FALSE(Allows(200, "User-agent: *\nDisallow: /x\n"));
  EXPECT_TRUE(Allows(200, "User-agent: other\nDisallow: /x\n"));
}

TEST(HostStateTest, ARecordComesBackAsItWas) {
  HostState state;
  state.failures = 3;
  state.crawl_delay = absl::Milliseconds(2500);
  state.rest_until = kNow + absl::Seconds(9);
  state.AddRtt(absl::Microseconds(1234));
  OriginRules& origin = state.origins["http://a.example"];
  origin.stage = OriginRules::Stage::kKnown;
  origin.stored.set_origin("http://a.example");
  origin.stored.set_http_status(200);
  origin.stored.set_text("User-agent: *\nDisallow: /x\n");
  origin.stored.set_expires_ms(storage::ToMillis(kNow + absl::Hours(1)));
  state.origins["http://a.example:81"].stage = OriginRules::Stage::kAsking;

  HostState back;
  back.FromRecord(state.ToRecord(kNow), "gannet", kNow);
  EXPECT_EQ(back.failures, 3u);
  EXPECT_EQ(back.crawl_delay, state.crawl_delay);
  EXPECT_EQ(back.rest_until, state.rest_until);
  EXPECT_EQ(back.rtt_us, std::vector<uint32_t>{1234});
  ASSERT_EQ(back.origins.size(), 1u);  // What was being asked is not known.
  EXPECT_FALSE(back.origins["http://a.example"].rules.Judge("/x").allowed);
}

// A round may save a host that it did not look up: it rested, say.
TEST(HostStateTest, AddressesStayUntilAnotherIsFound) {
  HostState found;
  found.has_address = true;
  found.address = Address::Parse("192.0.2.1").value();
  HostState rested;
  rested.FromRecord(found.ToRecord(kNow), "gannet", kNow);
  EXPECT_FALSE(rested.has_address);  // It is looked up each round.
  const proto::HostRecord record = rested.ToRecord(kNow);
  ASSERT_EQ(record.addresses_size(), 1);
  EXPECT_EQ(record.addresses(0), found.ToRecord(kNow).addresses(0));

  HostState moved;
  moved.FromRecord(record, "gannet", kNow);
  moved.has_address = true;
  moved.address = Address::Parse("2001:db8::1").value();
  ASSERT_EQ(moved.ToRecord(kNow).addresses_size(), 1);
  EXPECT_NE(moved.ToRecord(kNow).addresses(0), record.addresses(0));
}

TEST(HostStateTest, RulesAndRestsThatAreOverAreForgotten) {
  HostState state;
  state.rest_until = kNow + absl::Seconds(1);
  OriginRules& origin = state.origins["http://a.example"];
  origin.stage = OriginRules::Stage::kKnown;
  origin.stored.set_origin("http://a.example");
  origin.stored.set_expires_ms(storage::ToMillis(kNow + absl::Seconds(1)));
  HostState back;
  back.FromRecord(state.ToRecord(kNow), "gannet", kNow + absl::Seconds(1));
  EXPECT_TRUE(back.origins.empty());
  EXPECT_EQ(back.rest_until, absl::InfinitePast());
}

TEST(HostStateTest, OnlyTheLastRoundTripsAreKept) {
  HostState state;
  for (int i = 1; i <= 20; ++i) state.AddRtt(absl::Microseconds(i));
  state.AddRtt(absl::ZeroDuration());  // A connection that was there already.
  EXPECT_EQ(state.rtt_us,
            (std::vector<uint32_t>{13, 14, 15, 16, 17, 18, 19, 20}));
}

}  // namespace
}  // namespace gannet::jobs
