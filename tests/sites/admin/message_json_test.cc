#include "sites/admin/message_json.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <memory>

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

// The admin API has no such fields today; if one is added, it must not crash
// the process that answers.
TEST(MessageJsonTest, ListsAndMapsOfAllTypesAreTakenAsTheyAre) {
  google::protobuf::FileDescriptorProto file;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"pb(
        name: "all.proto"
        syntax: "proto3"
        enum_type {
          name: "Colour"
          value { name: "RED" number: 0 }
          value { name: "BLUE" number: 1 }
        }
        message_type {
          name: "All"
          field { name: "i32" number: 1 label: LABEL_REPEATED type: TYPE_INT32 }
          field { name: "i64" number: 2 label: LABEL_REPEATED type: TYPE_INT64 }
          field {
            name: "u32"
            number: 3
            label: LABEL_REPEATED
            type: TYPE_UINT32
          }
          field {
            name: "u64"
            number: 4
            label: LABEL_REPEATED
            type: TYPE_UINT64
          }
          field { name: "f" number: 5 label: LABEL_REPEATED type: TYPE_FLOAT }
          field { name: "b" number: 6 label: LABEL_REPEATED type: TYPE_BOOL }
          field {
            name: "e"
            number: 7
            label: LABEL_REPEATED
            type: TYPE_ENUM
            type_name: ".Colour"
          }
          field {
            name: "by_i32"
            number: 8
            label: LABEL_REPEATED
            type: TYPE_MESSAGE
            type_name: ".All.ByI32Entry"
          }
          field {
            name: "by_bool"
            number: 9
            label: LABEL_REPEATED
            type: TYPE_MESSAGE
            type_name: ".All.ByBoolEntry"
          }
          nested_type {
            name: "ByI32Entry"
            field {
              name: "key"
              number: 1
              label: LABEL_OPTIONAL
              type: TYPE_INT32
            }
            field {
              name: "value"
              number: 2
              label: LABEL_OPTIONAL
              type: TYPE_STRING
            }
            options { map_entry: true }
          }
          nested_type {
            name: "ByBoolEntry"
            field {
              name: "key"
              number: 1
              label: LABEL_OPTIONAL
              type: TYPE_BOOL
            }
            field {
              name: "value"
              number: 2
              label: LABEL_OPTIONAL
              type: TYPE_UINT64
            }
            options { map_entry: true }
          }
        }
      )pb",
      &file));
  google::protobuf::DescriptorPool pool;
  ASSERT_NE(pool.BuildFile(file), nullptr);
  google::protobuf::DynamicMessageFactory factory(&pool);
  const std::unique_ptr<google::protobuf::Message> all(
      factory.GetPrototype(pool.FindMessageTypeByName("All"))->New());
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"pb(
        i32: [ -1, 2 ]
        i64: -9007199254740993
        u32: 4294967295
        u64: 18446744073709551615
        f: 0.5
        b: [ true, false ]
        e: [ BLUE, RED ]
        by_i32 { key: -7 value: "x" }
        by_bool { key: true value: 3 }
      )pb",
      all.get()));
  EXPECT_EQ(MessageJson(*all).dump(),
            R"({"b":[true,false],"by_bool":{"true":3},"by_i32":{"-7":"x"},)"
            R"("e":["BLUE","RED"],"f":[0.5],"i32":[-1,2],)"
            R"("i64":[-9007199254740993],"u32":[4294967295],)"
            R"("u64":[18446744073709551615]})");
}

}  // namespace
}  // namespace gannet::sites
