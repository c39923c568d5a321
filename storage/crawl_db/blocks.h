// Blocks is the operator's block list: a webmaster complained, and from now on
// nothing of that domain is fetched. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/crawl_db.pb.h"
#include "storage/crawl_db/keys.h"

namespace gannet::storage {

class Store;

class Blocks {
 public:
  explicit Blocks(Store& store) : store_(store) {}

  // From now on no page of the domain becomes known, and its known pages leave
  // frontier, schedule and open round: BLOCKED, finished for
  // kBlockedByOperator, their cash with the root. A host name below a
  // registrable domain may be given as well; of a public suffix only the host
  // of that name is meant. Returns how many pages were taken out.
  // kInvalidArgument: not a host name as canonical URLs have it.
  // Many small writes; if it is cut off, the next Open goes on with it.
  absl::StatusOr<int64_t> Block(std::string_view domain);
  // Ends a block and puts the pages that it took out back where they were: into
  // the frontier, or into the schedule with the time they had. Returns how
  // many. kNotFound if it is not blocked. Cut off, as Block.
  absl::StatusOr<int64_t> Unblock(std::string_view domain);
  // By name.
  absl::StatusOr<std::vector<std::string>> Blocked();
  bool IsBlocked(const PageKey& page);
  // Grows whenever the list changes. Cheap: for callers that must notice a
  // change at once without looking up every page.
  uint64_t block_changes() const;
  // Goes on with what a kill cut off.
  absl::Status Finish();

 private:
  absl::Status SetStage(std::string_view domain,
                        std::optional<proto::BlockList::Stage> stage);
  absl::StatusOr<int64_t> TakeOut(std::string_view domain);
  absl::StatusOr<int64_t> PutBack(std::string_view domain);

  Store& store_;
};

}  // namespace gannet::storage
