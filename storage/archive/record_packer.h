// Turns a page's records into bytes for the archive: WARC/1.1 headers,
// digests, one gzip member per record (WARC 1.1, annex D). All that costs
// time happens here, in the caller's thread, before the archive's lock is
// taken. Not thread-safe: one packer for each thread that writes.
//
// The bytes of a page are copied once, to stand behind their WARC header in
// one buffer, because libdeflate compresses only what is contiguous (1 us for
// a page, against 70 us for compressing it; libdeflate is twice as fast as
// zlib, which could do without).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "storage/archive/digest.h"
#include "storage/archive/warc_header.h"

struct libdeflate_compressor;

namespace gannet::storage {

// Why a record's payload is not complete (WARC 1.1, 5.13).
enum class Truncated { kNo, kLength, kTime, kDisconnect };

// What a `revisit` record stands for (WARC 1.1, 6.7).
struct RevisitOf {
  enum class Profile { kIdenticalPayloadDigest, kServerNotModified };
  Profile profile = Profile::kIdenticalPayloadDigest;
  std::string_view target_uri;  // Of the record that has the payload.
  absl::Time date;              // Of that record.
};

// A record to write. Views: nothing is copied until it is packed.
struct NewRecord {
  RecordType type = RecordType::kResponse;
  std::string_view url;
  absl::Time date;
  std::string_view ip = {};  // Left out if it does not look like an address.
  // The protocol on the wire, where the block does not say so: "h2". For
  // WARC-Protocol (iipc/warc-specifications, issue 42).
  std::string_view protocol = {};

  // The block is `head` and `payload`, one after the other: of an HTTP message
  // its head with the empty line, and its body; of a metadata record all in
  // `head`.
  std::string_view head = {};
  std::string_view payload = {};

  // "sha1:..." of the payload if the caller has it already (Sha1Digest());
  // computed for responses if not. Of a revisit: that of the original.
  std::string_view payload_digest = {};

  Truncated truncated = Truncated::kNo;
  std::optional<RevisitOf> revisit = std::nullopt;

  // Index in the group of the record that this one belongs to, earlier or
  // later; -1 for none. Request and metadata point to the response.
  int concurrent_to = -1;
};

class RecordPacker {
 public:
  struct Settings {
    int level = 1;  // libdeflate's, 1 (fast) to 12.
    bool block_digests = true;
  };

  struct Packed {
    uint64_t offset;  // In bytes().
    uint64_t length;
    std::optional<std::string> cdxj;  // See CdxjFront().
  };

  explicit RecordPacker(Settings settings);
  ~RecordPacker();

  // Packs the group; the one before is forgotten. kInvalidArgument if a record
  // lacks what its type needs.
  absl::Status Pack(absl::Span<const NewRecord> group);

  // The first record of each file; `fields` is application/warc-fields.
  void PackWarcinfo(std::string_view filename, absl::Time date,
                    std::string_view fields);

  std::string_view bytes() const { return {out_.data.get(), out_size_}; }
  absl::Span<Packed> records() { return absl::MakeSpan(records_); }

 private:
  // Grows without filling or keeping what it holds, and shrinks again after a
  // huge page.
  struct Buffer {
    std::unique_ptr<char[]> data;
    size_t capacity = 0;
  };

  void StartGroup(size_t records);
  void AppendRecordFields(const NewRecord& record, size_t index);
  void AppendRevisit(const NewRecord& record);
  std::string PayloadDigest(const NewRecord& record);
  void Compress(std::string_view head, std::string_view payload,
                const NewRecord* record, std::string_view payload_digest);
  void ReserveOut(size_t more);

  const Settings settings_;
  libdeflate_compressor* const compressor_;
  std::mt19937_64 random_;
  Sha1 sha1_;
  std::vector<std::string> ids_;
  std::string header_;
  Buffer raw_;
  Buffer out_;
  size_t out_size_ = 0;
  std::vector<Packed> records_;
};

}  // namespace gannet::storage
