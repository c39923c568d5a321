#include "federation/exchange/sent_urls.h"

#include <string>
#include <utility>

#include "proto/federation.pb.h"

namespace gannet::federation {
namespace {

constexpr char kNote[] = "sent_urls";  // On disk.

}  // namespace

SentUrls::SentUrls(SentUrlsSettings settings, storage::CrawlDb& crawl_db,
                   storage::Clock& clock)
    : settings_(std::move(settings)),
      crawl_db_(crawl_db),
      clock_(clock),
      cache_(settings_.bytes, settings_.random()),
      renewed_(clock_.Now()) {}

absl::StatusOr<std::unique_ptr<SentUrls>> SentUrls::Load(
    SentUrlsSettings settings, storage::CrawlDb& crawl_db,
    storage::Clock& clock, absl::Status* lost) {
  std::unique_ptr<SentUrls> sent(
      new SentUrls(std::move(settings), crawl_db, clock));
  absl::StatusOr<std::string> note = crawl_db.records().GetNote(kNote);
  if (absl::IsNotFound(note.status())) return sent;
  if (!note.ok()) return note.status();
  proto::SentUrlsState state;
  absl::Status status;
  if (state.ParseFromString(*note)) {
    for (const auto& [site, incarnation] : state.incarnations()) {
      sent->incarnations_[storage::SiteId{site}] = incarnation;
    }
    sent->renewed_ = absl::FromUnixMillis(state.renewed_ms());
    status = sent->cache_.Restore(state.snapshot());
  } else {
    status = absl::DataLossError("the sent-URL cache cannot be decoded");
  }
  if (lost != nullptr) *lost = status;
  return sent;
}

void SentUrls::Follow(const MapView& view) {
  std::map<storage::SiteId, uint64_t> now;
  for (const proto::MapSite* peer : view.peers()) {
    now[storage::SiteId{peer->id()}] = peer->incarnation();
  }
  for (const auto& [site, incarnation] : incarnations_) {
    const auto it = now.find(site);
    if (it != now.end() && it->second == incarnation) continue;
    cache_.Clear(site);
    must_save_ = true;
  }
  incarnations_ = std::move(now);
}

absl::Status SentUrls::Save(bool at_once) {
  const absl::Time now = clock_.Now();
  // A clock that was set back does not stop the renewals for good.
  if (now - renewed_ >= settings_.renew_every || now < renewed_) {
    cache_.Renew(settings_.random());
    renewed_ = now;
    must_save_ = true;
  }
  const bool is_recent = now - saved_ < settings_.save_every && now >= saved_;
  if (is_recent && !must_save_ && !at_once) return absl::OkStatus();
  proto::SentUrlsState state;
  for (const auto& [site, incarnation] : incarnations_) {
    (*state.mutable_incarnations())[static_cast<uint32_t>(site)] = incarnation;
  }
  state.set_renewed_ms(absl::ToUnixMillis(renewed_));
  *state.mutable_snapshot() = cache_.Snapshot();
  absl::Status status =
      crawl_db_.records().PutNote(kNote, state.SerializeAsString());
  if (status.ok()) {
    saved_ = now;
    must_save_ = false;
  }
  return status;
}

}  // namespace gannet::federation
