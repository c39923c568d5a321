#include "storage/crawl_db/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "storage/crawl_db/page_record.h"

namespace gannet::storage {

absl::StatusOr<std::unique_ptr<Store>> Store::Open(const std::string& folder,
                                                   const StoreMemory& memory,
                                                   std::optional<Order> order) {
  absl::StatusOr<DataFolder> data_folder = DataFolder::Open(folder);
  if (!data_folder.ok()) return data_folder.status();
  auto engine = OpenRocksStore(folder, MakeColumns(), memory);
  if (!engine.ok()) return engine.status();
  return Finish(std::unique_ptr<Store>(
                    new Store(*std::move(data_folder), *std::move(engine))),
                order);
}

absl::StatusOr<std::unique_ptr<Store>> Store::OpenOn(
    std::unique_ptr<OrderedStore> engine, std::optional<Order> order) {
  return Finish(
      std::unique_ptr<Store>(new Store(std::nullopt, std::move(engine))),
      order);
}

absl::StatusOr<std::unique_ptr<Store>> Store::Finish(
    std::unique_ptr<Store> store, std::optional<Order> order) {
  if (absl::Status loaded = store->Load(); !loaded.ok()) return loaded;
  if (absl::Status s = store->SetOrder(order); !s.ok()) return s;
  return store;
}

absl::Status Store::Load() {
  MutexLock lock(&commit_mu_);
  if (auto bytes = Get(Column::kMeta, keys::kTotals); bytes.ok()) {
    proto::Totals stored;
    if (!stored.ParseFromString(*bytes)) return BadRecord("the ledger");
    totals_ = Totals::FromProto(stored);
  } else if (!absl::IsNotFound(bytes.status())) {
    return bytes.status();
  }
  if (auto bytes = Get(Column::kRounds, keys::Journal()); bytes.ok()) {
    if (!journal_.ParseFromString(*bytes)) return BadRecord("the journal");
  } else if (!absl::IsNotFound(bytes.status())) {
    return bytes.status();
  }

  if (auto bytes = Get(Column::kMeta, keys::kBlockList); bytes.ok()) {
    proto::BlockList list;
    if (!list.ParseFromString(*bytes)) return BadRecord("the block list");
    blocked_.Set(list);
  } else if (!absl::IsNotFound(bytes.status())) {
    return bytes.status();
  }

  if (absl::Status s = LoadClaims(); !s.ok()) return s;
  return LoadRests();
}

absl::Status Store::LoadClaims() {
  return ForEachRow(*engine_, Column::kRounds, PrefixRange("f"),
                    [&](std::string_view key, std::string_view /*value*/) {
                      claims_.Add(key.substr(1));
                      return true;
                    });
}

absl::Status Store::LoadRests() {
  // A host rests while the schedule holds it, even after its time has passed:
  // only WakeDue ends a rest.
  const auto rest = Scan(Column::kSchedule, "h");
  for (rest->Seek("h"); rest->Valid(); rest->Next()) {
    int64_t until_ms = 0;
    std::string_view host;
    if (!keys::ParseSchedule(rest->key(), until_ms, host)) {
      return BadRecord("a schedule entry");
    }
    rests_.Begin(host, until_ms);
  }
  if (!rest->status().ok()) return rest->status();

  const auto aside = Scan(Column::kFrontier, "r");
  for (aside->Seek("r"); aside->Valid();) {
    const std::string host(HostPartOf(aside->key().substr(1)));
    rests_.NotePagesAside(host);
    aside->Seek(AfterPrefix(keys::RestingPrefix(host)));
  }
  return aside->status();
}

// A DB without the row is OPIC's.
absl::Status Store::SetOrder(std::optional<Order> wanted) {
  if (auto name = Get(Column::kMeta, keys::kOrder); name.ok()) {
    const std::optional<Order> stored = OrderFromName(*name);
    if (!stored.has_value()) return BadRecord("the frontier's order");
    order_ = *stored;
  } else if (!absl::IsNotFound(name.status())) {
    return name.status();
  }
  if (!wanted.has_value() || *wanted == order_) return absl::OkStatus();
  if (totals().KnownPages() > 0) {
    return absl::FailedPreconditionError(fmt::format(
        "this crawl DB has the order '{}', and crawl.order asks for '{}': the "
        "order is fixed with the first page. Leave crawl.order out, or choose "
        "another data folder",
        OrderName(order_), OrderName(*wanted)));
  }
  Batch batch;
  batch.Put(Column::kMeta, keys::kOrder, OrderName(*wanted));
  absl::Status status = engine_->Write(batch);
  if (status.ok()) status = engine_->Sync();
  if (!status.ok()) return status;
  order_ = *wanted;
  return absl::OkStatus();
}

absl::StatusOr<proto::PageRecord> Store::GetPage(std::string_view page,
                                                 const Snapshot* at) {
  absl::StatusOr<std::string> bytes = Get(Column::kPages, page, at);
  if (!bytes.ok()) return bytes.status();
  return DecodePage(*bytes);
}

absl::StatusOr<std::vector<std::optional<proto::PageRecord>>> Store::GetPages(
    const std::vector<std::string_view>& pages) {
  auto rows = engine_->MultiGet(Column::kPages, pages);
  if (!rows.ok()) return rows.status();
  std::vector<std::optional<proto::PageRecord>> records(pages.size());
  for (size_t i = 0; i < pages.size(); ++i) {
    if (!(*rows)[i].has_value()) continue;
    absl::StatusOr<proto::PageRecord> record = DecodePage(*(*rows)[i]);
    if (!record.ok()) return record.status();
    records[i] = *std::move(record);
  }
  return records;
}

namespace {

void AddCounts(const proto::RoundCounts& more, proto::RoundCounts& counts) {
  counts.set_fetched(counts.fetched() + more.fetched());
  counts.set_unchanged(counts.unchanged() + more.unchanged());
  counts.set_moved(counts.moved() + more.moved());
  counts.set_gone(counts.gone() + more.gone());
  counts.set_failed(counts.failed() + more.failed());
  counts.set_blocked(counts.blocked() + more.blocked());
  counts.set_released(counts.released() + more.released());
  counts.set_bytes(counts.bytes() + more.bytes());
  counts.set_found(counts.found() + more.found());
  counts.set_added(counts.added() + more.added());
  counts.set_deferred(counts.deferred() + more.deferred());
  counts.set_dropped_urls(counts.dropped_urls() + more.dropped_urls());
  counts.set_sent(counts.sent() + more.sent());
  counts.set_sent_cash(counts.sent_cash() + more.sent_cash());
  counts.set_sent_before(counts.sent_before() + more.sent_before());
  counts.set_gained_cash(counts.gained_cash() + more.gained_cash());
  counts.set_max_lag_us(std::max(counts.max_lag_us(), more.max_lag_us()));
  counts.set_held_back_us(counts.held_back_us() + more.held_back_us());
  counts.set_released_awake(counts.released_awake() + more.released_awake());
  for (const auto& [reason, cash] : more.dropped()) {
    (*counts.mutable_dropped())[reason] += cash;
  }
  for (const auto& [kind, page] : more.failed_page()) {
    if (counts.failed_page().contains(kind)) continue;  // The first stays.
    (*counts.mutable_failed_page())[kind] = page;
  }
  for (const auto& [kind, pages] : more.failures()) {
    (*counts.mutable_failures())[kind] += pages;
  }
  for (const auto& [site, urls] : more.sent_to()) {
    (*counts.mutable_sent_to())[site] += urls;
  }
  for (const auto& [phase, us] : more.phase_us()) {
    (*counts.mutable_phase_us())[phase] += us;
  }
}

}  // namespace

void Store::AddHostCounts(Edit& edit) {
  for (const auto& [host, change] : edit.host_pages) {
    if (change == 0) continue;
    edit.batch.AddCount(Column::kHosts, keys::HostPages(host), change);
  }
}

void Store::AddJournal(Edit& edit) {
  const bool has_counts = edit.counts.ByteSizeLong() > 0;
  const bool has_targets = edit.last_target > journal_.last_target();
  if (has_counts || has_targets) {
    if (!edit.journal.has_value()) edit.journal = journal_;
    if (has_targets) edit.journal->set_last_target(edit.last_target);
    AddCounts(edit.counts, *edit.journal->mutable_counts());
  }
  if (edit.journal.has_value()) {
    edit.PutMessage(Column::kRounds, keys::Journal(), *edit.journal);
  }
}

void Store::SetBroken(const absl::Status& why) {
  if (!broken_.ok()) return;
  broken_ = absl::Status(
      why.code(),
      std::string(why.message()) +
          " (nothing more is written until the crawl DB is opened again)");
}

void Store::UpdateClaimsAndRests(const Edit& edit) {
  for (const auto& page : edit.claimed) claims_.Add(page);
  for (const auto& page : edit.unclaimed) claims_.Remove(page);
  for (const auto& [host, until_ms] : edit.resting) {
    rests_.Begin(host, until_ms);
  }
  for (const auto& host : edit.awake) rests_.End(host);
  for (const auto& host : edit.aside) rests_.NotePagesAside(host);
}

absl::Status Store::Commit(Edit& edit) {
  AddHostCounts(edit);
  MutexLock lock(&commit_mu_);
  if (!broken_.ok()) return broken_;
  Totals next = totals_;
  next.Add(edit.delta);
  if (next != totals_) {
    edit.PutMessage(Column::kMeta, keys::kTotals, next.ToProto());
  }
  AddJournal(edit);
  if (!edit.batch.empty()) {
    if (absl::Status status = engine_->Write(edit.batch); !status.ok()) {
      SetBroken(status);
      return status;
    }
    ++written_;
  }
  totals_ = std::move(next);
  if (edit.journal.has_value()) journal_ = *std::move(edit.journal);
  schedule_floor_ms_ = std::min(schedule_floor_ms_, edit.earliest_ready_ms);
  UpdateClaimsAndRests(edit);
  return absl::OkStatus();
}

uint64_t Store::written() const {
  MutexLock lock(&commit_mu_);
  return written_;
}

absl::Status Store::Sync() {
  const uint64_t mine = written();
  if (synced_ >= mine) return absl::OkStatus();
  MutexLock one_at_a_time(&sync_mu_);
  if (synced_ >= mine) return absl::OkStatus();
  // After a failure it is unknown what reached the disk, and asking once more
  // may say yes without having written anything.
  if (absl::Status s = broken(); !s.ok()) return s;
  const uint64_t written = this->written();
  if (absl::Status status = engine_->Sync(); !status.ok()) {
    MutexLock lock(&commit_mu_);
    SetBroken(status);
    return status;
  }
  synced_ = written;
  return absl::OkStatus();
}

Totals Store::totals() const {
  MutexLock lock(&commit_mu_);
  return totals_;
}

proto::RoundJournal Store::journal() const {
  MutexLock lock(&commit_mu_);
  return journal_;
}

int64_t Store::root_share() const {
  MutexLock lock(&commit_mu_);
  return journal_.root_share();
}

int64_t Store::schedule_floor_ms() const {
  MutexLock lock(&commit_mu_);
  return schedule_floor_ms_;
}

void Store::SetScheduleFloor(int64_t ms) {
  MutexLock lock(&commit_mu_);
  schedule_floor_ms_ = ms;
}

}  // namespace gannet::storage
