#include "federation/exchange/pump.h"

#include <fmt/format.h>

#include <deque>
#include <utility>

#include "federation/exchange/greeting.h"
#include "federation/exchange/moved_codec.h"

namespace gannet::federation {

// One stream's life.
class Pump::Session {
 public:
  Session(Pump& pump, std::shared_ptr<const MapView> view, PutStream& stream)
      : pump_(pump), view_(std::move(view)), stream_(stream) {}

  absl::Status Greet();
  absl::Status Send(const std::atomic<bool>& stop);

 private:
  struct Flying {
    uint64_t sequence = 0;
    uint64_t urls = 0;
    uint64_t pages = 0;
  };

  absl::Status Ended() { return stream_.Finish(); }
  bool HasOutbox() const {
    return pump_.crawl_db_.totals().outbox_urls.contains(pump_.to_);
  }
  absl::Status Write(const storage::OutboxCut& cut);
  // Waits for the receiver's next answer.
  absl::Status Hear();
  absl::Status Heed(uint64_t last);

  Pump& pump_;
  const std::shared_ptr<const MapView> view_;
  PutStream& stream_;
  storage::Peer peer_;
  uint64_t written_ = 0;  // The last batch.
  std::string cursor_;    // Where in the outbox it was cut.
  std::deque<Flying> flying_;
};

absl::Status Pump::Session::Greet() {
  const auto identity = pump_.crawl_db_.records().PromisedIdentity();
  if (!identity.ok()) return identity.status();
  auto greeting = MakeGreeting(*view_, identity->incarnation());
  if (!greeting.ok()) return greeting.status();
  peers::PutRequest request;
  *request.mutable_greeting() = *std::move(greeting);
  request.mutable_greeting()->set_process(pump_.settings_.process);
  if (!stream_.Write(request)) return Ended();
  peers::PutReply reply;
  if (!stream_.Read(reply)) return Ended();
  absl::StatusOr<storage::Peer> peer = CheckGreeting(*view_, reply.greeting());
  if (!peer.ok()) return peer.status();
  if (peer->site != pump_.to_) {
    return absl::PermissionDeniedError(fmt::format(
        "site {} answers instead of site {}", static_cast<uint32_t>(peer->site),
        static_cast<uint32_t>(pump_.to_)));
  }
  peer_ = *peer;
  if (absl::Status s = pump_.crawl_db_.outgoing().OpenPair(peer_); !s.ok())
    return s;
  written_ = reply.last();
  return pump_.crawl_db_.outgoing().Acknowledge(peer_, reply.last());
}

absl::Status Pump::Session::Write(const storage::OutboxCut& cut) {
  peers::PutRequest request;
  peers::Batch& batch = *request.mutable_batch();
  batch.set_sequence(cut.sequence);
  batch.set_term(view_->map().term());
  batch.set_epoch(view_->map().epoch());
  batch.set_cash_so_far(cut.batch.cash_so_far());
  if (cut.batch.urls_size() > 0) {
    auto urls = EncodeBatch(cut.batch, pump_.settings_.compression);
    if (!urls.ok()) return urls.status();
    *batch.mutable_urls() = *std::move(urls);
  }
  *batch.mutable_moved() =
      EncodeMoved(cut.batch, pump_.settings_.compression.level);
  batch.set_complete_for(cut.batch.complete_for());
  written_ = cut.sequence;
  flying_.push_back({cut.sequence, static_cast<uint64_t>(cut.batch.urls_size()),
                     static_cast<uint64_t>(cut.batch.pages_size())});
  const BatchBytes bytes = BytesOf(batch);
  pump_.url_bytes_ += bytes.urls;
  pump_.page_bytes_ += bytes.pages;
  return stream_.Write(request) ? absl::OkStatus() : Ended();
}

absl::Status Pump::Session::Heed(uint64_t last) {
  if (absl::Status s = pump_.crawl_db_.outgoing().Acknowledge(peer_, last);
      !s.ok()) {
    return s;
  }
  while (!flying_.empty() && flying_.front().sequence <= last) {
    ++pump_.batches_;
    pump_.urls_ += flying_.front().urls;
    pump_.pages_ += flying_.front().pages;
    flying_.pop_front();
  }
  return absl::OkStatus();
}

absl::Status Pump::Session::Hear() {
  peers::PutReply reply;
  if (!stream_.Read(reply)) return Ended();
  return Heed(reply.last());
}

absl::Status Pump::Session::Send(const std::atomic<bool>& stop) {
  const PumpSettings& settings = pump_.settings_;
  while (!stop && pump_.maps_.view() == view_) {
    if (flying_.size() < settings.most_unacknowledged) {
      auto cuts = pump_.crawl_db_.outgoing().Sending(
          pump_.to_, written_, settings.most_unacknowledged - flying_.size());
      if (!cuts.ok()) return cuts.status();
      for (const storage::OutboxCut& cut : *cuts) {
        if (absl::Status s = Write(cut); !s.ok()) return s;
      }
      if (!cuts->empty()) continue;
      // Most looks find nothing, and need not cut.
      auto cut = HasOutbox() ? pump_.crawl_db_.outgoing().CutOutbox(
                                   peer_, settings.urls_of_batch,
                                   settings.bytes_of_batch, &cursor_)
                             : absl::NotFoundError("the outbox is empty");
      if (cut.ok()) {
        // If another thread has cut a batch in between, the next turn reads
        // both: batches are sent in the order of their numbers.
        if (cut->sequence != written_ + 1) continue;
        if (absl::Status s = Write(*cut); !s.ok()) return s;
        continue;
      }
      if (!absl::IsNotFound(cut.status())) return cut.status();
    }
    if (flying_.empty()) {
      (void)pump_.maps_.Await(view_, settings.look_every, stop);
    } else if (absl::Status s = Hear(); !s.ok()) {
      return s;
    }
  }
  while (!flying_.empty()) {
    if (absl::Status s = Hear(); !s.ok()) return s;
  }
  return absl::OkStatus();
}

Pump::Pump(PumpSettings settings, storage::CrawlDb& crawl_db,
           const MapHolder& maps, storage::SiteId to)
    : settings_(std::move(settings)),
      crawl_db_(crawl_db),
      maps_(maps),
      to_(to) {}

absl::Status Pump::Run(PutStream& stream, const std::atomic<bool>& stop) {
  const std::shared_ptr<const MapView> view = maps_.view();
  if (view == nullptr) {
    return absl::FailedPreconditionError("this site is in no federation");
  }
  Session session(*this, view, stream);
  if (absl::Status s = session.Greet(); !s.ok()) return s;
  return session.Send(stop);
}

Pump::Counts Pump::counts() const {
  Counts counts;
  counts.batches = batches_;
  counts.urls = urls_;
  counts.pages = pages_;
  counts.bytes.urls = url_bytes_;
  counts.bytes.pages = page_bytes_;
  return counts;
}

}  // namespace gannet::federation
