#include "storage/archive/archive_name.h"

#include <gtest/gtest.h>

namespace gannet::storage {
namespace {

using Kind = ArchiveName::Kind;

TEST(ArchiveNameTest, NamesAreParsedAgain) {
  const std::string base = ArchiveBaseName(
      "GANNET", absl::FromUnixSeconds(1769903999), FileNumber{42}, "new-york");
  EXPECT_EQ(base, "GANNET-20260131235959-00042-new-york");
  const std::pair<const char*, Kind> kinds[] = {
      {".warc.gz", Kind::kFinished},   {".warc.gz.open", Kind::kOpen},
      {".cdxj", Kind::kCdxj},          {".released", Kind::kReleased},
      {".cdxj.tmp", Kind::kTemporary}, {".cdxj.run7.tmp", Kind::kTemporary}};
  for (const auto& [suffix, kind] : kinds) {
    const auto name = ParseArchiveName(base + suffix);
    ASSERT_TRUE(name.has_value()) << suffix;
    EXPECT_EQ(name->base, base);
    EXPECT_EQ(name->number, FileNumber{42});
    EXPECT_EQ(name->kind, kind);
  }
}

TEST(ArchiveNameTest, NumbersMayOutgrowFiveDigits) {
  const std::string base =
      ArchiveBaseName("A", absl::UnixEpoch(), FileNumber{1234567}, "b");
  EXPECT_EQ(ParseArchiveName(base + ".warc.gz")->number, FileNumber{1234567});
}

TEST(ArchiveNameTest, ForeignNamesAreNotOurs) {
  for (const char* name :
       {"", "x", ".warc.gz", "A-20260131235959-00042-b",
        "A-2026-00042-b.warc.gz", "A-20260131235959-42-b.warc.gz",
        "A-20260131235959-00042-.warc.gz", "-20260131235959-00042-b.warc.gz",
        "A-20260131235959-00042-b.open",
        "A-20260131235959-99999999999-b.warc.gz",
        "A-20260131235959-00042-b.tmp", "A-20260131235959-0004x-b.warc.gz"}) {
    EXPECT_FALSE(ParseArchiveName(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace gannet::storage
