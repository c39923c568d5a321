#include "federation/member/losses.h"

#include <string>

#include "proto/federation.pb.h"

namespace gannet::federation {
namespace {

constexpr char kNote[] = "losses";  // On disk.

}  // namespace

absl::Status Losses::Load() {
  const absl::StatusOr<std::string> note = crawl_db_.GetNote(kNote);
  if (absl::IsNotFound(note.status())) return absl::OkStatus();
  if (!note.ok()) return note.status();
  proto::LossesState state;
  if (!state.ParseFromString(*note)) {
    return absl::DataLossError(
        "the list of what is to be sent again cannot be decoded");
  }
  storage::MutexLock lock(&mu_);
  for (const uint32_t site : state.reborn()) {
    list_.reborn.insert(storage::SiteId{site});
  }
  list_.somebody_is_gone = state.somebody_is_gone();
  return absl::OkStatus();
}

Losses::List Losses::Get() const {
  storage::MutexLock lock(&mu_);
  return list_;
}

absl::Status Losses::Add(const Map& before, const Map& after,
                         std::string_view self) {
  List news;
  for (const proto::MapSite& site : before.sites()) {
    if (!IsActive(site) || site.name() == self) continue;
    const proto::MapSite* now = FindSite(after, site.id());
    if (now == nullptr) {
      news.somebody_is_gone = true;
    } else if (now->incarnation() != site.incarnation()) {
      news.reborn.insert(storage::SiteId{site.id()});
    }
  }
  uint32_t come = 0;
  for (const proto::MapSite& site : after.sites()) {
    if (site.id() > before.last_site_id()) ++come;
  }
  if (after.last_site_id() > before.last_site_id() + come) {
    news.somebody_is_gone = true;
  }
  if (news.empty()) return absl::OkStatus();
  storage::MutexLock lock(&mu_);
  list_.reborn.merge(news.reborn);
  list_.somebody_is_gone |= news.somebody_is_gone;
  ++list_.version;
  return Keep();
}

absl::Status Losses::Forget(const List& sent) {
  storage::MutexLock lock(&mu_);
  if (sent.version != list_.version) return absl::OkStatus();
  const List before = list_;
  list_.reborn.clear();
  list_.somebody_is_gone = false;
  absl::Status status = Keep();
  if (!status.ok()) list_ = before;
  return status;
}

absl::Status Losses::Keep() {
  proto::LossesState state;
  for (const storage::SiteId site : list_.reborn) {
    state.add_reborn(static_cast<uint32_t>(site));
  }
  state.set_somebody_is_gone(list_.somebody_is_gone);
  return crawl_db_.PutNote(kNote, state.SerializeAsString());
}

}  // namespace gannet::federation
