// Which status an errno becomes; exit codes depend on it.
#include "storage/archive/disk.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace gannet::storage {
namespace {

using ::testing::HasSubstr;

TEST(DiskTest, OnlyAFullDiskIsResourceExhausted) {
  for (int error = 1; error < 134; ++error) {
    const absl::Status status = DiskError(error, "write", "/a");
    const bool full = error == ENOSPC || error == EDQUOT;
    EXPECT_EQ(absl::IsResourceExhausted(status), full) << status;
    EXPECT_FALSE(status.ok() || absl::IsUnavailable(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(std::strerror(error)));
  }
}

TEST(DiskTest, ShortagesOfOtherThingsAreInternal) {
  for (const int error : {EMFILE, ENFILE, ENOMEM, EBUSY, EAGAIN}) {
    EXPECT_TRUE(absl::IsInternal(DiskError(error, "open", "/a")))
        << std::strerror(error);
  }
}

TEST(DiskTest, MissingFileIsNotFoundAndNamed) {
  const absl::Status status = OpenFd("/nonexistent/a", O_RDONLY).status();
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("cannot open /nonexistent/a"));
}

}  // namespace
}  // namespace gannet::storage
