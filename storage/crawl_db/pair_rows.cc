#include "storage/crawl_db/pair_rows.h"

namespace gannet::storage {
namespace {

std::string SendingPrefix(SiteId destination) {
  const std::string first = keys::Sending(destination, 0);
  return first.substr(0, first.size() - 8);
}

}  // namespace

absl::StatusOr<proto::SiteIdentity> GetIdentity(Store& store) {
  return store.GetMessage<proto::SiteIdentity>(Column::kMeta, keys::kIdentity);
}

absl::StatusOr<proto::SentPair> GetSentPair(Store& store, SiteId to) {
  return store.GetMessage<proto::SentPair>(Column::kMeta, keys::SentPair(to));
}

absl::StatusOr<proto::SentPair> GetOpenedPair(Store& store, const Peer& to) {
  const auto identity = GetIdentity(store);
  if (!identity.ok()) return identity.status();
  auto pair = GetSentPair(store, to.site);
  if (pair.ok() && (pair->my_incarnation() != identity->incarnation() ||
                    pair->their_incarnation() != to.incarnation)) {
    return absl::FailedPreconditionError(
        "batches are numbered for another incarnation of that site, or of "
        "this one");
  }
  return pair;
}

absl::StatusOr<proto::ReceivedPair> GetReceivedPair(Store& store,
                                                    const Peer& from) {
  return store.GetMessage<proto::ReceivedPair>(
      Column::kMeta, keys::ReceivedPair(from.site, from.incarnation));
}

absl::StatusOr<proto::OutboxBatch> ParseBatch(std::string_view value) {
  proto::OutboxBatch batch;
  if (!batch.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
    return absl::DataLossError("a batch being sent cannot be decoded");
  }
  return batch;
}

absl::StatusOr<std::vector<OutboxCut>> GetSending(Store& store,
                                                  SiteId destination,
                                                  uint64_t after, size_t most) {
  std::vector<OutboxCut> cuts;
  // Only these: otherwise a look behind the last batch would step over all that
  // was ever cut out of the outbox that begins there.
  const auto it = store.Scan(Column::kOutbox, SendingPrefix(destination));
  for (it->Seek(keys::Sending(destination, after + 1));
       it->Valid() && cuts.size() < most; it->Next()) {
    OutboxCut& cut = cuts.emplace_back();
    SiteId site{};
    std::string_view sequence;
    if (!keys::ParseOutbox(it->key(), site, sequence)) {
      return absl::DataLossError("a row of the outbox cannot be decoded");
    }
    cut.sequence = ReadBigEndian64(sequence);
    auto batch = ParseBatch(it->value());
    if (!batch.ok()) return batch.status();
    cut.batch = *std::move(batch);
  }
  if (!it->status().ok()) return it->status();
  return cuts;
}

void AddCut(Store& /*store*/, Edit& edit, SiteId to, proto::SentPair pair,
            OutboxCut& cut) {
  cut.sequence = pair.cut() + 1;
  cut.batch.set_cash_so_far(Sum(pair.cut_cash(), cut.batch.cash()));
  pair.set_cut(cut.sequence);
  pair.set_cut_cash(cut.batch.cash_so_far());
  if (cut.batch.complete_for() != 0) {
    pair.set_completed_for(cut.batch.complete_for());
    pair.set_completed_at(cut.sequence);
  }
  edit.PutMessage(Column::kMeta, keys::SentPair(to), pair);
  edit.PutMessage(Column::kOutbox, keys::Sending(to, cut.sequence), cut.batch);
}

}  // namespace gannet::storage
