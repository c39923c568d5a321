#include <fmt/format.h>

#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "federation/exchange/batch_codec.h"
#include "federation/exchange/batch_format.h"
#include "federation/exchange/varint.h"
#include "federation/exchange/zstd_frame.h"
#include "storage/crawl_db/keys.h"
#include "storage/crawl_db/sorted.h"

namespace gannet::federation {
namespace {

// Gathers the columns, one URL at a time.
class Columns {
 public:
  absl::Status Add(std::string_view page, int64_t cash, uint32_t depth,
                   uint32_t redirects) {
    const std::string_view surt = storage::SurtOf(page);
    uint8_t bucket = 0;
    if (const absl::Status status = buckets_.Find(surt, bucket); !status.ok()) {
      return Wrong(std::string(status.message()));
    }
    if (cash < 0) return Wrong("its cash is below 0");
    if (cash > std::numeric_limits<int64_t>::max() - total_cash_) {
      return Wrong("the sum of all cash exceeds 63 bits");
    }
    total_cash_ += cash;
    if (bucket != storage::BucketOf(page)) is_stale_ = true;
    if (is_stale_) {
      ++count_;
      return absl::OkStatus();
    }
    if (count_ > 0 && page <= last_page_) {
      return Wrong("its key is not greater than the one before");
    }

    const std::string_view last = storage::SurtOf(last_page_);
    const size_t shared = static_cast<size_t>(
        std::mismatch(surt.begin(), surt.end(), last.begin(), last.end())
            .first -
        surt.begin());
    AppendVarint(shared, shared_);
    rests_.append(surt.substr(shared));
    rests_.push_back(kEndOfKey);
    AppendVarint(static_cast<uint64_t>(cash), cash_);
    AppendVarint(depth, depths_);
    AppendVarint(redirects, redirects_);
    last_page_ = page;
    ++count_;
    return absl::OkStatus();
  }

  // A key has a bucket of an older public suffix list: all URLs must be
  // Rekeyed() and written anew.
  bool is_stale() const { return is_stale_; }

  // REQUIRES: !is_stale().
  std::string Join() const {
    std::string all;
    all.reserve(10 + shared_.size() + rests_.size() + cash_.size() +
                depths_.size() + redirects_.size());
    AppendVarint(count_, all);
    return all.append(shared_)
        .append(rests_)
        .append(cash_)
        .append(depths_)
        .append(redirects_);
  }

 private:
  absl::Status Wrong(std::string_view why) const {
    return absl::InvalidArgumentError(
        fmt::format("URL {} of a batch: {}", count_ + 1, why));
  }

  uint64_t count_ = 0;
  int64_t total_cash_ = 0;
  bool is_stale_ = false;
  std::string last_page_;
  BucketFinder buckets_;
  std::string shared_, rests_, cash_, depths_, redirects_;
};

// The same URLs with the buckets of the current public suffix list: since they
// came into the outbox, a domain may have got another bucket. That changes the
// order, and a URL that was found both before and after it is there twice.
// REQUIRES: Columns have taken them all.
std::vector<storage::FoundUrl> Rekeyed(std::vector<storage::FoundUrl> urls) {
  BucketFinder buckets;
  for (storage::FoundUrl& url : urls) {
    uint8_t bucket = 0;
    if (buckets.Find(storage::SurtOf(url.page.bytes), bucket).ok()) {
      url.page.bytes[0] = static_cast<char>(bucket);
    }
  }
  return storage::SortedAndMerged(std::move(urls));
}

std::string Pack(const std::string& columns,
                 const BatchCompression& compression) {
  std::string packed = {kBatchVersion, kPlainBatch};
  if (compression.zstd) {
    const std::string frame = CompressZstd(columns, compression.level);
    if (frame.size() < columns.size()) {
      packed.back() = kZstdBatch;
      return packed + frame;
    }
  }
  return packed + columns;
}

}  // namespace

absl::StatusOr<std::string> EncodeBatch(
    absl::Span<const storage::FoundUrl> urls,
    const BatchCompression& compression) {
  Columns columns;
  for (const storage::FoundUrl& url : urls) {
    if (absl::Status status =
            columns.Add(url.page.bytes, url.cash, url.depth, url.redirects);
        !status.ok()) {
      return status;
    }
  }
  if (columns.is_stale()) {
    return EncodeBatch(Rekeyed({urls.begin(), urls.end()}), compression);
  }
  return Pack(columns.Join(), compression);
}

absl::StatusOr<std::string> EncodeBatch(const proto::OutboxBatch& batch,
                                        const BatchCompression& compression) {
  Columns columns;
  for (const proto::FoundUrl& url : batch.urls()) {
    if (absl::Status status =
            columns.Add(url.page(), url.cash(), url.depth(), url.redirects());
        !status.ok()) {
      return status;
    }
  }
  if (columns.is_stale()) {
    std::vector<storage::FoundUrl> urls;
    urls.reserve(static_cast<size_t>(batch.urls_size()));
    for (const proto::FoundUrl& url : batch.urls()) {
      urls.push_back({storage::PageKey{url.page()}, url.cash(), url.depth(),
                      url.redirects()});
    }
    return EncodeBatch(Rekeyed(std::move(urls)), compression);
  }
  return Pack(columns.Join(), compression);
}

}  // namespace gannet::federation
