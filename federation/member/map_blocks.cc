#include "federation/member/map_blocks.h"

#include <set>
#include <string>

namespace gannet::federation {
namespace {

// A note in the crawl DB. On disk: never change it.
constexpr char kBlockedNote[] = "blocked_by_map";

}  // namespace

void MapBlocks::Apply(const std::shared_ptr<const MapView>& view) {
  if (view == applied_) return;
  if (absl::Status s = ApplyList(view->map()); !s.ok()) {
    return note_("block_failed", {{"error", std::string(s.message())}});
  }
  applied_ = view;
}

absl::Status MapBlocks::ApplyList(const Map& map) {
  std::set<std::string> applied;
  if (const auto note = crawl_db_.records().GetNote(kBlockedNote); note.ok()) {
    proto::FederationMap before;  // Its field `blocked` only.
    if (before.ParseFromString(*note)) {
      applied.insert(before.blocked().begin(), before.blocked().end());
    }
  }
  const std::set<std::string> wanted(map.blocked().begin(),
                                     map.blocked().end());
  if (applied == wanted) return absl::OkStatus();
  absl::Status status;
  for (const std::string& domain : wanted) {
    if (applied.contains(domain)) continue;
    if (const auto pages = crawl_db_.blocks().Block(domain); !pages.ok()) {
      status = pages.status();
    }
  }
  for (const std::string& domain : applied) {
    if (wanted.contains(domain)) continue;
    if (const auto pages = crawl_db_.blocks().Unblock(domain);
        !pages.ok() && !absl::IsNotFound(pages.status())) {
      status = pages.status();
    }
  }
  if (!status.ok()) return status;
  proto::FederationMap note;
  *note.mutable_blocked() = map.blocked();
  return crawl_db_.records().PutNote(kBlockedNote, note.SerializeAsString());
}

}  // namespace gannet::federation
