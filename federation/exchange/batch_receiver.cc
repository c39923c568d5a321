#include "federation/exchange/batch_receiver.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "federation/ownership/owner_finder.h"
#include "storage/url/surt.h"

namespace gannet::federation {
namespace {

using storage::FoundUrl;

// Why a URL that another site sent was dropped. On disk: never change it.
constexpr char kNotAccepted[] = "not accepted from a peer";

// The key that this site gives to the URL of `page`, which may have been stored
// under older rules or an older public suffix list. Nullopt if it is no URL, or
// not one that is crawled.
std::optional<std::string> KeyHere(const storage::Canonicaliser& canonicaliser,
                                   std::string_view page) {
  storage::SurtReader reader;
  storage::Url url;
  if (!reader.Read(storage::SurtOf(page), url) ||
      canonicaliser.Canonicalise(url) != storage::UrlOutcome::kOk) {
    return std::nullopt;
  }
  return storage::PageKeyOf(url).bytes;
}

// What this site's own rules make of a URL.
struct Judged {
  bool is_accepted = false;
  std::optional<uint32_t> max_depth;  // `nullopt`: out of scope.
  // Only where it differs from the key that came, which is rare.
  std::optional<storage::PageKey> page;
};

// Judges URL after URL. Not thread-safe.
class Judge {
 public:
  Judge(const storage::Canonicaliser& canonicaliser,
        const storage::UrlFilter& filter,
        std::shared_ptr<const storage::Scope> scope)
      : canonicaliser_(canonicaliser),
        filter_(filter),
        scope_(std::move(scope)) {}

  Judged operator()(const storage::Url& as_it_came) {
    url_ = as_it_came;
    Judged judged;
    judged.is_accepted =
        canonicaliser_.Canonicalise(url_) == storage::UrlOutcome::kOk &&
        filter_.Judge(url_) == storage::UrlVerdict::kAllowed;
    if (!judged.is_accepted) return judged;
    judged.max_depth = scope_->MaxDepth(url_);
    if (url_.href() != as_it_came.href()) {
      judged.page = storage::PageKeyOf(url_);
    }
    return judged;
  }

 private:
  const storage::Canonicaliser& canonicaliser_;
  const storage::UrlFilter& filter_;
  const std::shared_ptr<const storage::Scope> scope_;
  storage::Url url_;
};

}  // namespace

BatchReceiver::BatchReceiver(BatchReceiverSettings settings,
                             storage::CrawlDb& crawl_db, const MapHolder& maps,
                             const storage::Canonicaliser& canonicaliser,
                             const storage::UrlFilter& filter,
                             storage::Clock& clock)
    : settings_(std::move(settings)),
      crawl_db_(crawl_db),
      maps_(maps),
      canonicaliser_(canonicaliser),
      filter_(filter),
      clock_(clock) {}

absl::Status BatchReceiver::CheckOwnRules(const MapView& view) const {
  const absl::Status status = CheckRules(view.map().rules(), settings_.rules);
  if (status.ok()) return status;
  return absl::UnavailableError(std::string(status.message()) +
                                "; it takes nothing until they are the same");
}

absl::Status BatchReceiver::CheckSender(const storage::Peer& from,
                                        const peers::Batch& batch,
                                        const MapView* view) const {
  if (view == nullptr || view->self() == nullptr) {
    return absl::PermissionDeniedError(
        "this site is not in the federation's map (any more)");
  }
  const proto::MapSite* sender =
      FindSite(view->map(), static_cast<uint32_t>(from.site));
  if (sender == nullptr || !IsActive(*sender) ||
      sender->incarnation() != from.incarnation) {
    return absl::PermissionDeniedError(
        fmt::format("the sender is not, or no longer, in the map of epoch {}",
                    view->map().epoch()));
  }
  if (IsNewer(batch.term(), batch.epoch(), view->map())) {
    return absl::AbortedError(fmt::format(
        "the batch is of epoch {}, but this site's map is of epoch {}: it has "
        "to fetch the newer one first",
        batch.epoch(), view->map().epoch()));
  }
  return CheckOwnRules(*view);
}

OpenedBatch BatchReceiver::Open(const storage::Peer& from,
                                const peers::Batch& batch) const {
  OpenedBatch opened{maps_.view(), storage::Delivery()};
  if (absl::Status s = CheckSender(from, batch, opened.view.get()); !s.ok()) {
    opened.delivery = s;
    return opened;
  }
  opened.delivery = Unpack(from, batch, *opened.view);
  if (!opened.delivery.ok()) return opened;
  const absl::StatusOr<uint64_t> foreign =
      UnpackMoved(batch, *opened.view, *opened.delivery);
  if (foreign.ok()) {
    opened.foreign = *foreign;
  } else {
    opened.delivery = foreign.status();
  }
  return opened;
}

absl::StatusOr<storage::Receipt> BatchReceiver::Store(const storage::Peer& from,
                                                      const peers::Batch& batch,
                                                      OpenedBatch opened,
                                                      uint64_t to_incarnation) {
  if (opened.view != maps_.view()) opened = Open(from, batch);
  absl::StatusOr<storage::Delivery>& delivery = opened.delivery;
  if (!delivery.ok()) {
    // What this site lacks (a newer map, a place in it, the rules) is no fault
    // of the sender's.
    const bool is_in_map =
        opened.view != nullptr && opened.view->self() != nullptr;
    if (is_in_map && !absl::IsAborted(delivery.status()) &&
        !absl::IsUnavailable(delivery.status())) {
      ++refused_;
    }
    return delivery.status();
  }
  delivery->to_incarnation = to_incarnation;
  uint64_t filtered = 0;
  for (const auto* drops : {&delivery->dropped, &delivery->dropped_moved}) {
    for (const auto& drop : *drops)
      filtered += static_cast<uint64_t>(drop.urls);
  }
  const uint64_t forwarded = delivery->forwarded.size();
  const uint64_t urls = delivery->mine.size() + forwarded;
  const absl::Time now = clock_.Now();
  absl::StatusOr<storage::Receipt> receipt = crawl_db_.incoming().Receive(
      *std::move(delivery), {now, now + settings_.soon});
  if (!receipt.ok()) {
    ++refused_;
    return receipt;
  }
  if (!receipt->is_new) {
    ++repeated_;
    return receipt;
  }
  ++batches_;
  urls_ += urls;
  forwarded_ += forwarded;
  filtered_ += filtered;
  pages_ += static_cast<uint64_t>(receipt->moved);
  foreign_ += opened.foreign;
  return receipt;
}

absl::StatusOr<storage::Delivery> BatchReceiver::Unpack(
    const storage::Peer& from, const peers::Batch& batch,
    const MapView& view) const {
  absl::StatusOr<std::vector<FoundUrl>> urls = std::vector<FoundUrl>{};
  std::vector<Judged> judged;
  if (!batch.urls().empty() ||
      (batch.moved().empty() && batch.complete_for() == 0)) {
    Judge judge(canonicaliser_, filter_, crawl_db_.scopes().scope());
    urls = DecodeBatch(
        batch.urls(), settings_.limits,
        [&](const storage::Url& url) { judged.push_back(judge(url)); });
  }
  if (!urls.ok()) return urls.status();
  storage::Delivery delivery;
  delivery.from = from;
  delivery.sequence = batch.sequence();
  delivery.cash_so_far = batch.cash_so_far();
  delivery.known_gain = view.map().rules().exchange() == proto::EXCHANGE_CASH;
  delivery.most_host_pages = settings_.most_host_pages;
  storage::Drop dropped{kNotAccepted, 0, 0};
  OwnerFinder owner_of(view);
  delivery.mine.reserve(urls->size());
  for (size_t i = 0; i < urls->size(); ++i) {
    FoundUrl& found = (*urls)[i];
    const auto& max_depth = judged[i].max_depth;
    if (!judged[i].is_accepted || !max_depth.has_value() ||
        found.depth > *max_depth) {
      dropped.cash += found.cash;
      ++dropped.urls;
      continue;
    }
    if (judged[i].page.has_value()) found.page = *std::move(judged[i].page);
    if (const auto owner = owner_of(found.page.bytes)) {
      delivery.forwarded.emplace_back(*owner, std::move(found));
    } else {
      delivery.mine.push_back(std::move(found));
    }
  }
  if (dropped.urls > 0) delivery.dropped.push_back(std::move(dropped));
  return delivery;
}

absl::StatusOr<uint64_t> BatchReceiver::UnpackMoved(
    const peers::Batch& batch, const MapView& view,
    storage::Delivery& delivery) const {
  // This site's map is not older than the sender's.
  if (batch.complete_for() > Stamp(view.map())) {
    return absl::InvalidArgumentError(
        "a batch says \"complete\" for a change that is not made yet");
  }
  const Ownership ownership(view);
  delivery.complete_for = batch.complete_for();
  uint64_t foreign = 0;
  if (batch.moved().empty()) return foreign;
  absl::StatusOr<peers::MovedPages> moved =
      DecodeMoved(batch.moved(), settings_.moved_limits);
  if (!moved.ok()) return moved.status();
  storage::Drop dropped{kNotAccepted, 0, 0};
  for (proto::MovedPage& page : *moved->mutable_pages()) {
    std::optional<std::string> key = KeyHere(canonicaliser_, page.page());
    if (!key.has_value()) {
      if (page.record().cash() < 0) {
        return absl::InvalidArgumentError("a page's cash is out of range");
      }
      dropped.cash = storage::Sum(dropped.cash, page.record().cash());
      ++dropped.urls;
      continue;
    }
    page.set_page(*std::move(key));
    if (!ownership.IsMine(page.page())) ++foreign;
    delivery.moved.push_back(std::move(page));
  }
  if (dropped.urls > 0) delivery.dropped_moved.push_back(std::move(dropped));
  std::set<storage::HostKey> hosts;
  for (proto::MovedHost& host : *moved->mutable_hosts()) {
    if (!storage::IsHostKey(host.host())) continue;
    const auto page = KeyHere(canonicaliser_, host.host() + "http/");
    if (!page.has_value()) continue;
    const storage::HostKey key{std::string(storage::HostPartOf(*page))};
    // Two keys may be of one host now. The first record is kept; what the other
    // said is learnt again when the host is crawled.
    if (!hosts.insert(key).second) continue;
    if (!ownership.IsMine(key.bytes)) ++foreign;
    delivery.hosts.push_back({key, std::move(*host.mutable_record())});
  }
  return foreign;
}

BatchReceiver::Counts BatchReceiver::counts() const {
  Counts counts;
  counts.batches = batches_;
  counts.repeated = repeated_;
  counts.refused = refused_;
  counts.urls = urls_;
  counts.forwarded = forwarded_;
  counts.filtered = filtered_;
  counts.pages = pages_;
  counts.foreign = foreign_;
  return counts;
}

}  // namespace gannet::federation
