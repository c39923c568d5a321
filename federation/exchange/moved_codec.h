// Pages that move to another site, as bytes between sites: a message with the
// records of pages and hosts (proto/peers.proto), in a zstd frame. They are few
// beside the found URLs, and have many fields: no format of their own.
// Functions only; safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "proto/crawl_db.pb.h"
#include "proto/peers.pb.h"

namespace gannet::federation {

// Empty if nothing moves with the batch. What only this site's archive gives a
// meaning to is left out: archive positions, ETag, Last-Modified.
std::string EncodeMoved(const proto::OutboxBatch& batch, int level = 3);

// What CrawlDb::CutPages makes stays far below.
struct MovedLimits {
  size_t bytes = 4 << 20;  // After unpacking.
  size_t records = 100'000;
};

// kInvalidArgument: not such a message. kResourceExhausted: beyond the limits.
absl::StatusOr<peers::MovedPages> DecodeMoved(std::string_view bytes,
                                              const MovedLimits& limits);

}  // namespace gannet::federation
