#include "federation/exchange/zstd_frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <random>
#include <string>

#include "absl/status/status.h"

namespace gannet::federation {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(const std::string& frame, size_t most = 1 << 20) {
  const auto bytes = DecompressZstd(frame, most);
  EXPECT_FALSE(bytes.ok());
  return std::string(bytes.status().message());
}

TEST(ZstdFrameTest, GivesBackWhatWasCompressed) {
  std::mt19937 random(1);
  for (const size_t size : {0, 1, 100, 4095, 4096, 4097, 100'000, 3'000'000}) {
    std::string bytes(size, '\0');
    for (char& c : bytes) c = static_cast<char>('a' + random() % 5);
    for (const int level : {1, 6, 19}) {
      if (size > 100'000 && level > 6) continue;  // Slow.
      const auto again = DecompressZstd(CompressZstd(bytes, level), size);
      ASSERT_TRUE(again.ok()) << again.status();
      EXPECT_EQ(*again, bytes);
    }
  }
}

TEST(ZstdFrameTest, UnpacksNoMoreThanItMay) {
  const std::string frame = CompressZstd(std::string(100'000, 'x'), 3);
  EXPECT_LT(frame.size(), 100u);
  EXPECT_TRUE(DecompressZstd(frame, 100'000).ok());
  for (const size_t most : {size_t{0}, size_t{10}, size_t{99'999}}) {
    // Refused for the bytes that come out, or before, for the window it wants.
    EXPECT_FALSE(DecompressZstd(frame, most).ok()) << most;
  }
  EXPECT_EQ(DecompressZstd(frame, 99'999).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(ZstdFrameTest, AFrameThatAsksForAHugeWindowGetsNoMemory) {
  // A tiny frame whose header asks for a window of 2 GiB.
  const std::string frame("\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00", 9);
  EXPECT_THAT(ErrorOf(frame), HasSubstr("too much memory"));
}

TEST(ZstdFrameTest, SaysWhatIsWrong) {
  const std::string good = CompressZstd("some words, some more words", 3);
  EXPECT_THAT(ErrorOf(""), HasSubstr("first bytes"));
  EXPECT_THAT(ErrorOf("rubbish"), HasSubstr("first bytes"));
  EXPECT_THAT(ErrorOf(good + "x"), HasSubstr("bytes after"));
  EXPECT_THAT(ErrorOf(good + good), HasSubstr("bytes after"));
  for (size_t i = 4; i < good.size(); ++i) {
    EXPECT_THAT(ErrorOf(good.substr(0, i)), HasSubstr("cut off")) << i;
  }
  std::string damaged = good;
  damaged[damaged.size() - 1] ^= 1;
  EXPECT_THAT(ErrorOf(damaged), HasSubstr("checksum"));
}

}  // namespace
}  // namespace gannet::federation
