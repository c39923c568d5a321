#include "federation/exchange/sent_url_cache.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace gannet::federation {
namespace {

// A snapshot, all numbers little-endian:
//
//   "GSUC"  version  checksum   of what follows: XXH3, 64 bits
//   slots (u64)  16 salts (u64)  next salt (u32)
//   cleared sites (u32), and of each its id and how often (u32, u32)
//   the table's slots (u32)
//
// Stored on disk: a change is a new version, which costs the old caches.
constexpr std::string_view kMagic = "GSUC";
constexpr uint32_t kVersion = 1;
constexpr size_t kHeaderBytes = 4 + sizeof(uint32_t) + sizeof(uint64_t);

template <typename Number>
void Append(Number number, std::string& out) {
  for (size_t i = 0; i < sizeof(number); ++i) {
    out.push_back(static_cast<char>(number >> (8 * i)));
  }
}

// Takes numbers from the front of `bytes`; once there are too few, every
// number is 0 and `short_of_bytes` is true.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <typename Number>
  Number Take() {
    if (bytes_.size() < sizeof(Number)) {
      short_of_bytes_ = true;
      bytes_ = {};
      return 0;
    }
    Number number = 0;
    for (size_t i = 0; i < sizeof(number); ++i) {
      number |= static_cast<Number>(static_cast<uint8_t>(bytes_[i])) << (8 * i);
    }
    bytes_.remove_prefix(sizeof(number));
    return number;
  }

  std::string_view rest() const { return bytes_; }
  bool short_of_bytes() const { return short_of_bytes_; }

 private:
  std::string_view bytes_;
  bool short_of_bytes_ = false;
};

absl::Status Damaged(std::string_view what) {
  return absl::DataLossError(
      fmt::format("snapshot of the sent-URL cache: {}", what));
}

}  // namespace

SentUrlCache::SentUrlCache(size_t bytes, uint64_t salt)
    : table_(bytes), first_salt_(salt) {
  Empty();
}

void SentUrlCache::Empty() {
  table_.Clear();
  for (uint64_t i = 0; i < kSalts; ++i) {
    salts_[i] = XXH3_64bits_withSeed(&i, sizeof(i), first_salt_);
  }
  next_salt_ = 0;
  cleared_.clear();
}

uint64_t SentUrlCache::HashOf(storage::SiteId destination,
                              const storage::PageKey& page) const {
  const std::string_view bytes = page.bytes;
  // Which of the salts a URL uses. It never changes, so this hash has no salt.
  const size_t salt = XXH3_64bits(bytes.data(), bytes.size()) % kSalts;
  uint64_t with[2] = {static_cast<uint32_t>(destination), 0};
  if (!cleared_.empty()) {
    if (const auto it = cleared_.find(destination); it != cleared_.end()) {
      with[1] = it->second;
    }
  }
  return XXH3_64bits_withSeed(
      bytes.data(), bytes.size(),
      XXH3_64bits_withSeed(with, sizeof(with), salts_[salt]));
}

bool SentUrlCache::Contains(storage::SiteId destination,
                            const storage::PageKey& page) {
  const bool is_known = table_.Find(HashOf(destination, page));
  // Only one thread writes, so no atomic addition is needed.
  lookups_.store(lookups_.load(std::memory_order_relaxed) + 1,
                 std::memory_order_relaxed);
  if (is_known) {
    hits_.store(hits_.load(std::memory_order_relaxed) + 1,
                std::memory_order_relaxed);
  }
  return is_known;
}

void SentUrlCache::Remember(storage::SiteId destination,
                            const storage::PageKey& page) {
  table_.Insert(HashOf(destination, page));
}

void SentUrlCache::Clear(storage::SiteId destination) {
  ++cleared_[destination];
}

void SentUrlCache::Renew(uint64_t salt) {
  salts_[next_salt_] = salt;
  next_salt_ = (next_salt_ + 1) % kSalts;
}

std::string SentUrlCache::Snapshot() const {
  std::string body;
  body.reserve(table_.slots() * sizeof(uint32_t) + kSalts * sizeof(uint64_t) +
               cleared_.size() * 8 + 16);
  Append(uint64_t{table_.slots()}, body);
  for (const uint64_t salt : salts_) Append(salt, body);
  Append(next_salt_, body);
  Append(static_cast<uint32_t>(cleared_.size()), body);
  for (const auto& [site, times] : cleared_) {
    Append(static_cast<uint32_t>(site), body);
    Append(times, body);
  }
  for (const uint32_t slot : table_.contents()) Append(slot, body);

  std::string snapshot(kMagic);
  snapshot.reserve(kHeaderBytes + body.size());
  Append(kVersion, snapshot);
  Append(XXH3_64bits(body.data(), body.size()), snapshot);
  return snapshot + body;
}

absl::Status SentUrlCache::Restore(std::string_view snapshot) {
  Empty();
  if (snapshot.size() < kHeaderBytes || !snapshot.starts_with(kMagic)) {
    return Damaged("its first bytes are wrong");
  }
  Reader reader(snapshot.substr(kMagic.size()));
  // Another version may have another checksum, so its number comes first.
  if (const auto version = reader.Take<uint32_t>(); version != kVersion) {
    return absl::FailedPreconditionError(
        fmt::format("snapshot of the sent-URL cache: version {}, not {}",
                    version, kVersion));
  }
  const auto checksum = reader.Take<uint64_t>();
  if (XXH3_64bits(reader.rest().data(), reader.rest().size()) != checksum) {
    return Damaged("its checksum is wrong");
  }
  if (const auto slots = reader.Take<uint64_t>(); slots != table_.slots()) {
    return absl::FailedPreconditionError(fmt::format(
        "snapshot of the sent-URL cache: has {} slots, the cache {}", slots,
        table_.slots()));
  }

  std::array<uint64_t, kSalts> salts;
  for (uint64_t& salt : salts) salt = reader.Take<uint64_t>();
  const auto next_salt = reader.Take<uint32_t>();
  std::map<storage::SiteId, uint32_t> cleared;
  for (auto sites = reader.Take<uint32_t>();
       sites > 0 && !reader.short_of_bytes(); --sites) {
    const auto site = storage::SiteId{reader.Take<uint32_t>()};
    cleared[site] = reader.Take<uint32_t>();
  }
  // A right checksum proves little, for anybody can compute one: check the
  // contents, too.
  if (next_salt >= kSalts || reader.short_of_bytes() ||
      reader.rest().size() != table_.slots() * sizeof(uint32_t)) {
    return Damaged("its contents contradict each other");
  }
  std::vector<uint32_t> contents(table_.slots());
  for (uint32_t& slot : contents) slot = reader.Take<uint32_t>();
  table_.Assign(contents);
  salts_ = salts;
  next_salt_ = next_salt;
  cleared_ = std::move(cleared);
  return absl::OkStatus();
}

}  // namespace gannet::federation
