#include "federation/member/losses.h"

#include <optional>
#include <string>
#include <utility>

#include "federation/ownership/ownership.h"
#include "proto/federation.pb.h"

namespace gannet::federation {
namespace {

constexpr char kNote[] = "losses";  // On disk.

// Whether the first map tells who owned what when the second came, with no
// other placement in between: either the site that left had handed over (what
// it had is in the first map's previous placement), or a site was removed while
// no channel moved.
bool SaysWhoHadWhat(const Map& before, const Map& after) {
  if (before.in_haste() || after.in_haste()) return false;
  if (PlacedStamp(before) == PlacedStamp(after)) return true;
  return !IsHandingOff(before) && IsHandingOff(after) &&
         IsSame(before.placement(), after.previous_placement());
}

}  // namespace

absl::Status Losses::Load() {
  const absl::StatusOr<std::string> note = crawl_db_.records().GetNote(kNote);
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
  for (const proto::LossesState::Gone& gone : state.gone()) {
    List::Gone& known = list_.gone.emplace_back();
    known.before = gone.before();
    for (const uint32_t site : gone.sites()) {
      known.sites.insert(storage::SiteId{site});
    }
  }
  return absl::OkStatus();
}

Losses::List Losses::Get() const {
  storage::MutexLock lock(&mu_);
  return list_;
}

absl::Status Losses::Add(const Map& before, const Map& after,
                         std::string_view self) {
  List news;
  List::Gone gone;
  bool is_known = SaysWhoHadWhat(before, after);
  for (const proto::MapSite& site : before.sites()) {
    if (!IsActive(site) || site.name() == self) continue;
    const proto::MapSite* now = FindSite(after, site.id());
    if (now == nullptr) {
      news.somebody_is_gone = true;
      gone.sites.insert(storage::SiteId{site.id()});
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
    is_known = false;
  }
  if (news.empty()) return absl::OkStatus();
  storage::MutexLock lock(&mu_);
  list_.reborn.merge(news.reborn);
  if (news.somebody_is_gone) {
    const bool was_known = !list_.somebody_is_gone || !list_.gone.empty();
    if (is_known && was_known) {
      gone.before = before;
      gone.before.clear_blocked();
      list_.gone.push_back(std::move(gone));
    } else {
      list_.gone.clear();
    }
    list_.somebody_is_gone = true;
  }
  ++list_.version;
  return Keep();
}

absl::Status Losses::Forget(const List& sent) {
  storage::MutexLock lock(&mu_);
  if (sent.version != list_.version) return absl::OkStatus();
  const List before = list_;
  list_.reborn.clear();
  list_.somebody_is_gone = false;
  list_.gone.clear();
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
  for (const List::Gone& known : list_.gone) {
    proto::LossesState::Gone& gone = *state.add_gone();
    *gone.mutable_before() = known.before;
    for (const storage::SiteId site : known.sites) {
      gone.add_sites(static_cast<uint32_t>(site));
    }
  }
  return crawl_db_.records().PutNote(kNote, state.SerializeAsString());
}

LostPages::LostPages(const Losses::List& list,
                     std::shared_ptr<const MapView> now)
    : reborn_(list.reborn),
      somebody_is_gone_(list.somebody_is_gone),
      now_(std::move(now)) {
  for (const Losses::List::Gone& gone : list.gone) {
    auto view = MapView::Create(gone.before, /*self=*/"");
    if (!view.ok()) {  // Unusable, from an old disk: not known.
      before_.clear();
      return;
    }
    before_.push_back({*std::move(view), gone.sites});
  }
}

bool LostPages::Contains(std::string_view page) const {
  const std::optional<storage::SiteId> owner = Ownership(*now_).OwnerOf(page);
  if (!owner.has_value()) return false;
  return reborn_.contains(*owner) ||
         (somebody_is_gone_ && WasOfWhoIsGone(page));
}

bool LostPages::WasOfWhoIsGone(std::string_view page) const {
  for (const Before& before : before_) {
    const Ownership then(*before.view);
    for (const auto& owner : {then.OwnerOf(page), then.PreviousOwnerOf(page)}) {
      if (owner.has_value() && before.gone.contains(*owner)) return true;
    }
  }
  if (!before_.empty()) return false;
  // What a gone site owned has no previous owner. If a second move began before
  // the first had ended, or when all has moved, the last owner is not known.
  return !IsHandingOff(now_->map()) || now_->map().in_haste() ||
         !Ownership(*now_).PreviousOwnerOf(page).has_value();
}

}  // namespace gannet::federation
