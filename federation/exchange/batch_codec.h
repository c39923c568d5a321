// A batch of found URLs as bytes between sites: what the pump cuts out of an
// outbox, sorted by page key, in some 20 bytes a URL with its cash (the key
// alone has 50 to 80).
//
// Sorted keys share their beginnings, so a key is written as the number of
// bytes that it shares with the one before, and the rest. Values of one kind
// stand together, because zstd then finds more to share: all of those numbers,
// then all of those rests, then all cash, and so on. A worked example, before
// compression:
//
//   page key                            cash  depth  redirects
//   8b "com,example,)http/a"             300      2          0
//   8b "com,example,)http/about"         300      2          0
//
//   01 00                    version 1, not compressed (01 01: a zstd frame)
//   02                       two URLs
//   00 13                    shared: 0, 19
//   "com,example,)http/a" 00 "bout" 00
//   ac 02 ac 02              cash: 300, 300 (varints, varint.h)
//   02 02                    depths
//   00 00                    redirects
//
// The first byte of a page key, the bucket, is not sent: it follows from the
// domain. A SURT key holds no zero byte, so that one can end it.
//
// A decoder serves a peer that may be hostile. It has bounds from its caller,
// checks every number, allocates in proportion to what has arrived, and takes a
// batch whole or not at all. One list of URLs has one spelling (before
// compression). A change of the format is a new version: sites of version N
// talk to N - 1.
//
// Functions only; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/crawl_db.pb.h"
#include "storage/crawl_db/crawl_db.h"
#include "storage/url/url.h"

namespace gannet::federation {

struct BatchCompression {
  bool zstd = true;  // Used only where it saves bytes.
  int level = 3;
};

// Keys that were made by another public suffix list are made anew: a batch is
// cut once, and must not be stuck when the list changes after that.
// kInvalidArgument, which names the URL: keys not strictly ascending, or not
// that of a URL; cash below 0, or together above 63 bits. Only a defect makes
// such a batch; no receiver could take it.
absl::StatusOr<std::string> EncodeBatch(
    absl::Span<const storage::FoundUrl> urls,
    const BatchCompression& compression = {});
// The same from an outbox. `batch.cash` is not sent: it is the sum.
absl::StatusOr<std::string> EncodeBatch(
    const proto::OutboxBatch& batch, const BatchCompression& compression = {});

struct BatchLimits {
  size_t urls = 100'000;
  // Of the batch after unpacking, and of all keys together.
  size_t bytes = 32 << 20;
  size_t key_bytes = 1 << 20;  // No URL is longer (storage/url).
};

// The URLs, sorted by page key and distinct. Each key is that of a URL, though
// not always of a canonical one: the receiver applies its rules in `look`,
// which is shown each URL in turn (to read every key a second time would be the
// largest cost of taking a batch). What `look` has seen counts only once this
// returns OK: a later part of the batch may be invalid.
// kInvalidArgument: not a batch, or not valid; says what is wrong.
// kUnimplemented: of another version. kResourceExhausted: beyond the limits.
using LookAtUrl = std::function<void(const storage::Url& url)>;
absl::StatusOr<std::vector<storage::FoundUrl>> DecodeBatch(
    std::string_view bytes, const BatchLimits& limits,
    const LookAtUrl& look = {});

}  // namespace gannet::federation
