// A batch of found URLs as bytes between sites: what the pump cuts out of an
// outbox, sorted by page key, in some 20 bytes a URL with its cash (the key
// alone has 50 to 80).
//
// Sorted keys share their beginnings, so a key is written as the number of
// bytes that it shares with the one before, and the rest. Like stands beside
// like, because zstd then finds more: all of those numbers, then all of those
// rests, then all cash, and so on. A worked example, before compression:
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
  bool zstd = true;  // Left out all the same where it does not pay.
  int level = 3;
};

// Keys that were made by another public suffix list are made anew: a batch is
// cut once, and must not be stuck when the list changes after that.
// kInvalidArgument, which names the URL: keys not strictly ascending, or not
// that of a URL; cash below 0, or together above 63 bits. Such a batch comes
// from nowhere but a defect: nobody could take it.
absl::StatusOr<std::string> EncodeBatch(
    absl::Span<const storage::Found> urls,
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

// The URLs, sorted by page key and distinct; each key is that of a URL, though
// not always of a canonical one: rules are the receiver's to apply, to what
// `look` is shown of each in turn, for reading a key twice is what taking a
// batch would cost most. It has seen a batch only when this returns it: the
// rest may yet turn out to be wrong.
// kInvalidArgument: not a batch, or not valid; says what is wrong.
// kUnimplemented: of another version. kResourceExhausted: beyond the limits.
using LookAtUrl = std::function<void(const storage::Url& url)>;
absl::StatusOr<std::vector<storage::Found>> DecodeBatch(
    std::string_view bytes, const BatchLimits& limits,
    const LookAtUrl& look = {});

}  // namespace gannet::federation
