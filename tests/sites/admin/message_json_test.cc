#include "sites/admin/message_json.h"

#include <gtest/gtest.h>

#include "proto/admin.pb.h"
#include "sites/admin/message_times.h"

namespace gannet::sites {
namespace {

TEST(MessageJsonTest, EveryKeyIsThereAndWhatIsNotSetIsNull) {
  const nlohmann::json json = MessageJson(admin::Status());
  EXPECT_EQ(json["known"], 0);
  EXPECT_EQ(json["site"], "");
  EXPECT_TRUE(json["next_due"].is_null());
  EXPECT_TRUE(json["agent"].is_null());
  EXPECT_EQ(json["pages"], nlohmann::json::object());
  EXPECT_EQ(static_cast<int>(json.size()),
            admin::Status::descriptor()->field_count());
}

TEST(MessageJsonTest, NumbersAreNumbersToTheLastUnit) {
  admin::Page page;
  page.set_cash((int64_t{1} << 62) + 1);
  page.mutable_archive()->set_offset(uint64_t{1} << 63);
  const nlohmann::json json = MessageJson(page);
  EXPECT_EQ(json["cash"].get<int64_t>(), (int64_t{1} << 62) + 1);
  EXPECT_EQ(json["archive"]["offset"].get<uint64_t>(), uint64_t{1} << 63);
}

TEST(MessageJsonTest, TimesAreTextWithMilliseconds) {
  admin::Page page;
  *page.mutable_visited() = TimestampOfMs(1'700'000'000'123);
  EXPECT_EQ(MessageJson(page)["visited"], "2023-11-14T22:13:20.123Z");
}

TEST(MessageJsonTest, OptionalFieldsThatAreSetToZeroAreNotNull) {
  admin::UrlCheck check;
  EXPECT_TRUE(MessageJson(check)["known"].is_null());
  check.set_known(false);
  EXPECT_EQ(MessageJson(check)["known"], false);
}

TEST(MessageJsonTest, MapsAreObjectsAndListsAreArrays) {
  admin::Status status;
  (*status.mutable_pages())["fetched"] = 7;
  admin::BlockedDomains blocked;
  blocked.add_blocked("a.example");
  EXPECT_EQ(MessageJson(status)["pages"], (nlohmann::json{{"fetched", 7}}));
  EXPECT_EQ(MessageJson(blocked).dump(), R"({"blocked":["a.example"]})");
}

}  // namespace
}  // namespace gannet::sites
