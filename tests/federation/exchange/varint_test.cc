#include "federation/exchange/varint.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace gannet::federation {
namespace {

constexpr uint64_t kAny = std::numeric_limits<uint64_t>::max();

TEST(VarintTest, EveryNumberComesBack) {
  for (int bit = 0; bit < 64; ++bit) {
    for (const uint64_t value :
         {(uint64_t{1} << bit) - 1, uint64_t{1} << bit, kAny >> bit}) {
      std::string bytes = "x";
      AppendVarint(value, bytes);
      bytes += "rest";
      std::string_view view = std::string_view(bytes).substr(1);
      uint64_t read = 0;
      ASSERT_TRUE(TakeVarint(view, kAny, read)) << value;
      EXPECT_EQ(read, value);
      EXPECT_EQ(view, "rest");
    }
  }
}

TEST(VarintTest, IsSpelledAsProtobufDoes) {
  std::string bytes;
  AppendVarint(300, bytes);
  EXPECT_EQ(bytes, "\xac\x02");
}

TEST(VarintTest, RefusesWhatIsCutOffTooLargeOrSpelledTooLong) {
  using namespace std::string_view_literals;  // NOLINT
  uint64_t value = 0;
  for (const std::string_view bad :
       {""sv, "\x80"sv, "\xff\xff"sv, "\x80\x00"sv, "\xac\x82\x00"sv,
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"sv,
        "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"sv}) {
    std::string_view view = bad;
    EXPECT_FALSE(TakeVarint(view, kAny, value));
    EXPECT_EQ(view, bad);  // Nothing was consumed.
  }
  std::string_view view = "\xac\x02"sv;
  EXPECT_FALSE(TakeVarint(view, 299, value));
  EXPECT_TRUE(TakeVarint(view, 300, value));
}

}  // namespace
}  // namespace gannet::federation
