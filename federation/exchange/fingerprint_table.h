// FingerprintTable remembers hashes in a fixed number of bytes, four for each,
// and forgets the least useful ones when it is full. It serves SentUrlCache;
// it knows nothing of URLs.
//
// A hash of 64 bits names a bucket (its upper half) and a fingerprint (its
// lower 30 bits); a bucket is one cache line of 16 slots, so that a look-up
// touches memory once.
//
// A fingerprint stands for 2^34 hashes: a hash that was never inserted is found
// all the same if one of its bucket's 16 fingerprints is equal, with a chance
// of at most 16 / 2^30 = 1.5e-8.
//
// Who is forgotten: links repeat with a long tail, and most of what is inserted
// is never asked for again. So a slot has two bits for how soon it may go
// (SRRIP; Jaleel et al., ISCA 2010): a new one has 1, one that was found has 3.
// To insert into a full bucket, all count down until one of them is at 0; of
// several, the oldest goes. What is used survives many newcomers, and still
// leaves when it is used no more. Tried on crawls of a recorded web with tables
// too small by far: from half a percentage point of hits below LRU to thirteen
// above; newcomers that start at 0, and so fight each other only, lost up to
// 36.
//
// Not thread-safe: finding writes, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace gannet::federation {

class FingerprintTable {
 public:
  static constexpr int kFingerprintBits = 30;
  static constexpr size_t kSlotsOfBucket = 16;
  static constexpr size_t kBytesOfBucket = kSlotsOfBucket * sizeof(uint32_t);

  // Takes as many whole buckets as fit into `bytes`, at least one.
  explicit FingerprintTable(size_t bytes);

  // Whether the hash was inserted and not forgotten (or looks as if). Counts
  // as a use.
  bool Find(uint64_t hash);
  // If it is there already, a use.
  void Insert(uint64_t hash);
  void Clear();

  size_t slots() const { return buckets_.size() * kSlotsOfBucket; }

  // The whole contents, for a snapshot; and back.
  absl::Span<const uint32_t> contents() const;
  // REQUIRES: `contents` has slots() elements. Any values are safe.
  void Assign(absl::Span<const uint32_t> contents);

 private:
  // Empty slots are 0 and stand behind all others; the others in the order in
  // which they came, oldest first. A slot is a fingerprint, which is not 0,
  // above the two bits.
  struct alignas(kBytesOfBucket) Bucket {
    uint32_t slots[kSlotsOfBucket] = {};
  };

  Bucket& BucketOf(uint64_t hash);
  static uint32_t FingerprintOf(uint64_t hash);
  // The slot with the fingerprint, or null.
  static uint32_t* FindIn(Bucket& bucket, uint32_t fingerprint);

  std::vector<Bucket> buckets_;
};

}  // namespace gannet::federation
