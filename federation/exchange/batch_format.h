// What both ends of a batch must agree on. Private to the codec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "storage/url/surt.h"
#include "storage/url/url.h"

namespace gannet::federation {

inline constexpr char kBatchVersion = 1;
inline constexpr char kPlainBatch = 0;
inline constexpr char kZstdBatch = 1;
inline constexpr char kEndOfKey = '\0';
// A byte each: shared, the shortest key and its end, cash, depth, redirects.
inline constexpr size_t kLeastBytesOfUrl = 6;

// Finds the buckets of keys. Each takes a look-up in the public suffix list, so
// the last host is remembered: sorted keys mostly have the host of the key
// before. Not thread-safe.
class BucketFinder {
 public:
  // kInvalidArgument if `surt` is not the SURT key of any URL.
  absl::Status Find(std::string_view surt, uint8_t& bucket);
  // Of the key that was found last.
  const storage::Url& url() const { return url_; }

 private:
  storage::SurtReader reader_;
  storage::Url url_;
  std::string surt_host_;
  uint8_t bucket_ = 0;
};

}  // namespace gannet::federation
