#include "federation/exchange/fingerprint_table.h"

#include <algorithm>
#include <bit>

namespace gannet::federation {
namespace {

// The lower two bits of a slot: how often it is spared.
constexpr uint32_t kOfNew = 1;
constexpr uint32_t kOfFound = 3;
constexpr uint32_t kBits = 3;

}  // namespace

FingerprintTable::FingerprintTable(size_t bytes)
    : buckets_(std::clamp<size_t>(bytes / kBytesOfBucket, 1, size_t{1} << 32)) {
}

FingerprintTable::Bucket& FingerprintTable::BucketOf(uint64_t hash) {
  // Multiplying maps 32 bits evenly to any number of buckets.
  return buckets_[((hash >> 32) * buckets_.size()) >> 32];
}

uint32_t FingerprintTable::FingerprintOf(uint64_t hash) {
  const uint32_t fingerprint = static_cast<uint32_t>(hash) << 2;
  return fingerprint == 0 ? 1u << 2 : fingerprint;
}

uint32_t* FingerprintTable::FindIn(Bucket& bucket, uint32_t fingerprint) {
  // Without branches, so that the compiler compares several at a time.
  uint32_t equal = 0;
  for (size_t i = 0; i < kSlotsOfBucket; ++i) {
    equal |= uint32_t{(bucket.slots[i] & ~kBits) == fingerprint} << i;
  }
  return equal == 0 ? nullptr : &bucket.slots[std::countr_zero(equal)];
}

bool FingerprintTable::Find(uint64_t hash) {
  uint32_t* slot = FindIn(BucketOf(hash), FingerprintOf(hash));
  if (slot == nullptr) return false;
  *slot |= kOfFound;
  return true;
}

void FingerprintTable::Insert(uint64_t hash) {
  Bucket& bucket = BucketOf(hash);
  const uint32_t fingerprint = FingerprintOf(hash);
  if (uint32_t* slot = FindIn(bucket, fingerprint); slot != nullptr) {
    *slot |= kOfFound;
    return;
  }
  uint32_t* const begin = bucket.slots;
  uint32_t* const end = begin + kSlotsOfBucket;
  uint32_t* at = std::find(begin, end, 0);
  if (at == end) {
    uint32_t least = kBits;
    for (const uint32_t slot : bucket.slots) {
      least = std::min(least, slot & kBits);
    }
    for (uint32_t& slot : bucket.slots) slot -= least;
    at = std::find_if(begin, end,
                      [](uint32_t slot) { return (slot & kBits) == 0; });
    std::move(at + 1, end, at);
    at = end - 1;
  }
  *at = fingerprint | kOfNew;
}

void FingerprintTable::Clear() {
  std::fill(buckets_.begin(), buckets_.end(), Bucket());
}

absl::Span<const uint32_t> FingerprintTable::contents() const {
  return {buckets_.data()->slots, slots()};
}

void FingerprintTable::Assign(absl::Span<const uint32_t> contents) {
  std::copy_n(contents.data(), slots(), buckets_.data()->slots);
}

}  // namespace gannet::federation
