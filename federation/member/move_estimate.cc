#include "federation/member/move_estimate.h"

#include <algorithm>
#include <map>
#include <utility>

#include "federation/exchange/moved_codec.h"

namespace gannet::federation {
namespace {

constexpr int kDraws = 200;
// One after the other, as they are sent: their keys begin alike.
constexpr int64_t kPagesOfDraw = 20;
// Of a large host, so far from its first page: to read all would take long.
constexpr int64_t kFarthest = 10'000;

}  // namespace

// Reservoir sampling, with replacement: each draw changes to a new host with
// the host's part of all pages so far.
void MoveEstimate::Add(std::string_view host, int64_t pages) {
  if (pages <= 0) return;
  pages_ += pages;
  if (drawn_.empty()) return drawn_.assign(kDraws, std::string(host));
  const double part = static_cast<double>(pages) / static_cast<double>(pages_);
  const int changed = std::binomial_distribution<>(kDraws, part)(random_);
  // The first so many after a shuffle; few change, of a site with many hosts.
  for (int i = 0; i < changed; ++i) {
    const auto other = std::uniform_int_distribution<size_t>(
        static_cast<size_t>(i), drawn_.size() - 1)(random_);
    std::swap(drawn_[static_cast<size_t>(i)], drawn_[other]);
    drawn_[static_cast<size_t>(i)] = host;
  }
}

absl::Status MoveEstimate::TakePages(const std::string& host, int64_t most,
                                     std::mt19937_64& random,
                                     proto::OutboxBatch& sample) const {
  const absl::StatusOr<int64_t> pages =
      crawl_db_.records().HostPages(storage::HostKey{host});
  if (!pages.ok()) return pages.status();
  const int64_t last = std::min(*pages, kFarthest) - most;
  int64_t skip =
      last <= 0 ? 0 : std::uniform_int_distribution<int64_t>(0, last)(random);
  int64_t taken = 0;
  return crawl_db_.records().ScanPages(
      storage::PageKey{host},
      [&](std::string_view page, const proto::PageRecord& record) {
        if (!page.starts_with(host)) return false;
        if (skip-- > 0) return true;
        proto::MovedPage& moved = *sample.add_pages();
        moved.set_page(std::string(page));
        *moved.mutable_record() = record;
        // They stay behind, as EncodeMoved() has it.
        moved.mutable_record()->clear_archive();
        moved.mutable_record()->clear_etag();
        moved.mutable_record()->clear_last_modified();
        return ++taken < most;
      });
}

absl::StatusOr<MoveEstimate::PerByte> MoveEstimate::PerByteNow() const {
  std::map<std::string, int64_t> hosts;  // How often; by key, as they are sent.
  for (const std::string& host : drawn_) ++hosts[host];
  std::mt19937_64 random = random_;
  proto::OutboxBatch sample;
  for (const auto& [host, times] : hosts) {
    absl::Status s = TakePages(host, times * kPagesOfDraw, random, sample);
    if (!s.ok()) return s;
  }
  PerByte per_byte;
  if (sample.pages_size() == 0) return per_byte;
  size_t bytes = 0;
  for (const proto::MovedPage& page : sample.pages()) {
    bytes += page.ByteSizeLong();
  }
  per_byte.bytes_of_page =
      static_cast<double>(bytes) / static_cast<double>(sample.pages_size());
  per_byte.compressed = static_cast<double>(EncodeMoved(sample).size()) /
                        static_cast<double>(bytes);
  return per_byte;
}

}  // namespace gannet::federation
