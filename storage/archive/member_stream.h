// The uncompressed bytes of a .warc.gz or a plain .warc, with memory of where
// in the file they came from. A .warc.gz is a chain of gzip members, one for
// each record (WARC 1.1, annex D), and a record's place in the file is its
// member's: so Peek() never shows bytes of two members at once. Memory is
// bounded by two buffers whatever the input claims. Not thread-safe.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/archive/byte_source.h"

namespace gannet::storage {

class MemberStream {
 public:
  // Begins at `offset`, which for gzip must be the start of a member.
  explicit MemberStream(std::unique_ptr<ByteSource> source,
                        uint64_t offset = 0);
  ~MemberStream();
  MemberStream(const MemberStream&) = delete;
  MemberStream& operator=(const MemberStream&) = delete;

  // The bytes that come next, at least one; empty at the end of the input.
  // kDataLoss, with the offset, if the input is corrupt or ends in a member.
  absl::StatusOr<std::string_view> Peek();

  // The same, but empty at the end of a member too.
  absl::StatusOr<std::string_view> PeekInMember();

  // REQUIRES: size <= Peek()->size().
  void Consume(size_t size);

  // Where the bytes that Peek() shows are in the file: the start of their
  // member, or for plain input the first byte itself.
  uint64_t offset() const;

  // Where the member after this one starts, once PeekInMember() is empty; for
  // plain input the same as offset().
  uint64_t next_offset() const { return input_offset_ - input_.size(); }

  // After an error: goes on at the next place that looks like a member's
  // start. False if there is none.
  absl::StatusOr<bool> SkipToNextMember();

  bool is_gzip() const { return kind_ == Kind::kGzip; }

 private:
  enum class Kind { kUnknown, kPlain, kGzip };

  absl::Status Refill();
  absl::Status Detect();
  absl::Status Inflate();
  absl::StatusOr<bool> StartMember();
  absl::Status Corrupt(std::string_view why) const;
  void Seek(uint64_t offset);

  const std::unique_ptr<ByteSource> source_;
  const std::unique_ptr<char[]> input_buffer_;
  const std::unique_ptr<char[]> output_buffer_;
  Kind kind_ = Kind::kUnknown;
  std::string_view input_;   // Read from the source, not yet inflated.
  uint64_t input_offset_;    // In the source: the end of input_.
  std::string_view output_;  // Inflated, not yet consumed.
  bool in_member_ = false;
  uint64_t member_offset_ = 0;
  z_stream zlib_{};
  bool zlib_ready_ = false;
};

}  // namespace gannet::storage
