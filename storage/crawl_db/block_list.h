// BlockedPrefixes answers "is this page of a blocked domain?" for every URL
// that is found, so it answers from memory, and at once while nothing is
// blocked. A domain is one range of page keys, hence a prefix: "com,example,"
// behind its bucket. Thread-compatible. Private to this room.
#pragma once

#include <string>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "proto/crawl_db.pb.h"

namespace gannet::storage {

// What the keys of the domain's pages start with. A public suffix (co.uk, a
// single label) and an address are domains of one host: the names below a
// suffix are domains of their own, in buckets of their own. kInvalidArgument
// if no canonical URL has such a host.
absl::StatusOr<std::string> BlockedPrefix(std::string_view domain);

class BlockedPrefixes {
 public:
  void Set(const proto::BlockList& list);
  bool Has(std::string_view page) const;

 private:
  absl::flat_hash_set<std::string> prefixes_;
};

}  // namespace gannet::storage
