#include <fmt/format.h>

#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "federation/exchange/batch_codec.h"
#include "federation/exchange/batch_format.h"
#include "federation/exchange/varint.h"
#include "federation/exchange/zstd_frame.h"

namespace gannet::federation {
namespace {

constexpr uint64_t kAny32 = std::numeric_limits<uint32_t>::max();
constexpr uint64_t kAny63 = std::numeric_limits<int64_t>::max();

absl::Status Wrong(std::string_view why) {
  return absl::InvalidArgumentError(fmt::format("batch of URLs: {}", why));
}

absl::Status WrongUrl(size_t index, std::string_view why) {
  return Wrong(fmt::format("URL {}: {}", index + 1, why));
}

absl::Status TooMuch(std::string_view what, size_t most) {
  return absl::ResourceExhaustedError(
      fmt::format("batch of URLs: {} than {}", what, most));
}

// Reads the columns from the front of `rest_`, one after the other.
class Columns {
 public:
  Columns(std::string_view columns, const BatchLimits& limits,
          const LookAtUrl& look)
      : rest_(columns), limits_(limits), look_(look) {}

  absl::StatusOr<std::vector<storage::FoundUrl>> Read() {
    if (absl::Status status = ReadCount(); !status.ok()) return status;
    if (absl::Status status = ReadKeys(); !status.ok()) return status;
    if (absl::Status status = ReadCash(); !status.ok()) return status;
    if (absl::Status status = ReadNumbers("depth", &storage::FoundUrl::depth);
        !status.ok()) {
      return status;
    }
    if (absl::Status status =
            ReadNumbers("redirects", &storage::FoundUrl::redirects);
        !status.ok()) {
      return status;
    }
    if (!rest_.empty()) return Wrong("bytes after the last column");
    return std::move(urls_);
  }

 private:
  // From here on the input is long enough for that number of URLs.
  absl::Status ReadCount() {
    uint64_t count = 0;
    if (!TakeVarint(rest_, std::numeric_limits<uint64_t>::max(), count)) {
      return Wrong("the number of URLs is missing");
    }
    if (count > limits_.urls) return TooMuch("more URLs", limits_.urls);
    if (count > rest_.size() / kLeastBytesOfUrl) {
      return Wrong("more URLs than its bytes can hold");
    }
    urls_.resize(count);
    return absl::OkStatus();
  }

  absl::Status ReadKeys() {
    // The rests begin where the numbers end; then both are read side by side.
    std::string_view shared_lengths = rest_;
    uint64_t shared = 0;
    for (size_t i = 0; i < urls_.size(); ++i) {
      if (!TakeVarint(rest_, kAny32, shared)) {
        return WrongUrl(i, "the number of shared bytes is missing");
      }
    }
    BucketFinder buckets;
    std::string surt;
    size_t bytes = 0;
    for (size_t i = 0; i < urls_.size(); ++i) {
      TakeVarint(shared_lengths, kAny32, shared);
      const size_t end = rest_.find(kEndOfKey);
      if (end == std::string_view::npos) return WrongUrl(i, "key without end");
      const std::string_view rest = rest_.substr(0, end);
      rest_.remove_prefix(end + 1);
      if (shared > surt.size()) {
        return WrongUrl(i, "shares more bytes than the key before has");
      }
      if (rest.empty()) return WrongUrl(i, "key has no bytes of its own");
      if (shared < surt.size() && rest[0] == surt[shared]) {
        return WrongUrl(i, "shares more bytes than it says");
      }
      // With the bucket in front.
      const size_t size = 1 + shared + rest.size();
      if (size > limits_.key_bytes) {
        return TooMuch("a longer key", limits_.key_bytes);
      }
      if (size > limits_.bytes - bytes) {
        return TooMuch("more bytes of keys", limits_.bytes);
      }
      bytes += size;

      surt.resize(shared);
      surt.append(rest);
      uint8_t bucket = 0;
      if (const absl::Status status = buckets.Find(surt, bucket);
          !status.ok()) {
        return WrongUrl(i, std::string(status.message()));
      }
      if (look_) look_(buckets.url());
      std::string& page = urls_[i].page.bytes;
      page.reserve(size);
      page.push_back(static_cast<char>(bucket));
      page.append(surt);
      if (i > 0 && page <= urls_[i - 1].page.bytes) {
        return WrongUrl(i, "key is not greater than the one before");
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadCash() {
    uint64_t total = 0;
    for (size_t i = 0; i < urls_.size(); ++i) {
      uint64_t cash = 0;
      if (!TakeVarint(rest_, kAny63 - total, cash)) {
        return WrongUrl(i, "cash is missing, or the sum exceeds 63 bits");
      }
      total += cash;
      urls_[i].cash = static_cast<int64_t>(cash);
    }
    return absl::OkStatus();
  }

  absl::Status ReadNumbers(std::string_view name,
                           uint32_t storage::FoundUrl::*field) {
    for (size_t i = 0; i < urls_.size(); ++i) {
      uint64_t number = 0;
      if (!TakeVarint(rest_, kAny32, number)) {
        return WrongUrl(i,
                        fmt::format("{} is missing, or exceeds 32 bits", name));
      }
      urls_[i].*field = static_cast<uint32_t>(number);
    }
    return absl::OkStatus();
  }

  std::string_view rest_;
  const BatchLimits& limits_;
  const LookAtUrl& look_;
  std::vector<storage::FoundUrl> urls_;
};

}  // namespace

absl::StatusOr<std::vector<storage::FoundUrl>> DecodeBatch(
    std::string_view bytes, const BatchLimits& limits, const LookAtUrl& look) {
  if (bytes.size() < 2) return Wrong("cut off before its version");
  if (bytes[0] != kBatchVersion) {
    return absl::UnimplementedError(
        fmt::format("batch of URLs: version {}, not {}",
                    static_cast<uint8_t>(bytes[0]), int{kBatchVersion}));
  }
  const std::string_view packed = bytes.substr(2);
  switch (bytes[1]) {
    case kPlainBatch:
      if (packed.size() > limits.bytes) {
        return TooMuch("more bytes", limits.bytes);
      }
      return Columns(packed, limits, look).Read();
    case kZstdBatch: {
      const absl::StatusOr<std::string> columns =
          DecompressZstd(packed, limits.bytes);
      if (!columns.ok()) {
        return absl::Status(
            columns.status().code(),
            fmt::format("batch of URLs: {}",
                        std::string(columns.status().message())));
      }
      return Columns(*columns, limits, look).Read();
    }
    default:
      return absl::UnimplementedError(fmt::format(
          "batch of URLs: compression {}", static_cast<uint8_t>(bytes[1])));
  }
}

}  // namespace gannet::federation
