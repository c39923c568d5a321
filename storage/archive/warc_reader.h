// Reads the records of a WARC file one after the other: ours and strangers',
// .warc.gz and plain, WARC/1.0 and 1.1. Tolerant where writers differ (LF
// alone, odd case, folded lines, missing or extra empty lines between
// records); strict where a guess would give wrong content: a record without a
// usable Content-Length is kDataLoss. Memory is bounded by the limits. Not
// thread-safe.
//
//   auto reader = WarcReader::Open("x.warc.gz").value();
//   while (reader->Next().value()) {
//     Use(reader->header(), reader->ReadWholeBlock().value());
//   }
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/archive/member_stream.h"
#include "storage/archive/warc_header.h"

namespace gannet::storage {

struct ReaderLimits {
  size_t header_bytes = 128 << 10;
  size_t block_bytes = 512 << 20;  // For ReadWholeBlock() only.
};

class WarcReader {
 public:
  static absl::StatusOr<std::unique_ptr<WarcReader>> Open(
      const std::filesystem::path& path, ReaderLimits limits = {});

  // Begins at `offset`, which must be the start of a record.
  explicit WarcReader(std::unique_ptr<ByteSource> source,
                      ReaderLimits limits = {}, uint64_t offset = 0);

  // Goes to the next record; false at the end of the file. kDataLoss, with
  // the offset, if the file is corrupt: then only Resync() can go on.
  absl::StatusOr<bool> Next();

  // After an error: goes to where the next gzip member seems to start, so
  // that Next() may find a record there. False if there is none, and always
  // for plain files.
  absl::StatusOr<bool> Resync();

  const WarcHeader& header() const { return header_; }

  // Where the record starts in the file; of a gzip file, its member. (Where a
  // stranger put many records into one member, they share an offset.)
  uint64_t offset() const { return offset_; }

  // The next bytes of the block, at most `size`; 0 at its end. kDataLoss if
  // the file ends before the block does.
  absl::StatusOr<size_t> ReadBlock(char* to, size_t size);

  // All that is left of the block. kOutOfRange, and nothing is read, if that
  // is more than the limit.
  absl::StatusOr<std::string> ReadWholeBlock();

  // Passes over the rest of the record. Returns the offset where the next one
  // would start: the record's length on disk is that less offset().
  absl::StatusOr<uint64_t> Finish();

 private:
  absl::StatusOr<bool> SkipEmptyLines(bool in_member);
  absl::StatusOr<bool> ReadLine(std::string* line);
  absl::Status ReadHeader();
  absl::Status ParseLength();
  absl::Status Corrupt(std::string_view why) const;

  MemberStream stream_;
  const ReaderLimits limits_;
  WarcHeader header_;
  uint64_t offset_ = 0;
  uint64_t block_left_ = 0;
  size_t header_left_ = 0;  // Of limits_.header_bytes, while reading a header.
  bool in_record_ = false;
};

}  // namespace gannet::storage
