// Edit is one atomic write in the making: rows, with what they change in the
// totals, the journal and what is kept in memory. Rows (page_rows.h and the
// like) add to it; Store::Commit() writes it. A plain value.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/crawl_db.pb.h"
#include "storage/crawl_db/columns.h"
#include "storage/crawl_db/totals.h"
#include "storage/engine/batch.h"

namespace gannet::storage {

struct Edit {
  void Put(Column column, std::string_view key, std::string_view value) {
    batch.Put(column, key, value);
  }
  void PutMessage(Column column, std::string_view key,
                  const google::protobuf::MessageLite& message) {
    batch.Put(column, key, message.SerializeAsString());
  }
  void Delete(Column column, std::string_view key) {
    batch.Delete(column, key);
  }

  Batch batch;
  Totals delta;
  std::optional<proto::RoundJournal> journal;
  std::map<std::string, int64_t> host_pages;  // Change in number, by host.
  int64_t earliest_ready_ms = std::numeric_limits<int64_t>::max();
  std::string last_target;    // The greatest outlink that was added.
  proto::RoundCounts counts;  // Added to the journal's.

  // Carried into memory once the batch is written.
  std::vector<std::string> claimed;
  std::vector<std::string> unclaimed;
  std::vector<std::pair<std::string, int64_t>> resting;  // Host, until.
  std::vector<std::string> awake;
  std::set<std::string> aside;  // Hosts of which pages were put aside.
};

// What the edit drops is counted for the open round.
inline void CountDropped(Edit& edit) {
  edit.counts.set_dropped_urls(edit.delta.dropped_urls);
  for (const auto& [reason, cash] : edit.delta.dropped) {
    (*edit.counts.mutable_dropped())[reason] = cash;
  }
}

}  // namespace gannet::storage
