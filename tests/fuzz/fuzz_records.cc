// Any bytes as rows of the crawl DB: keys either are refused or have exactly
// one meaning, and records either are refused or can be written and read again.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "proto/crawl_db.pb.h"
#include "storage/crawl_db/keys.h"
#include "storage/crawl_db/score.h"
#include "storage/crawl_db/totals.h"
#include "storage/engine/count.h"
#include "storage/engine/ordered_store.h"

namespace {

using namespace gannet;           // NOLINT
using namespace gannet::storage;  // NOLINT

void Require(bool truth) {
  if (!truth) abort();
}

void FuzzKeys(std::string_view key) {
  uint8_t step = 0;
  int64_t ready_ms = 0;
  std::string_view view;
  std::string page;
  if (keys::ParseActiveFrontier(key, step, view)) {
    Require(keys::ActiveFrontier(step, view) == key);
  }
  // A key without ')' is not a page key, and has no clear end of the host.
  if (keys::ParseRestingFrontier(key, step, page) &&
      HostPartOf(page).ends_with(')')) {
    Require(keys::RestingFrontier(step, page) == key);
  }
  if (keys::ParseSchedule(key, ready_ms, view)) {
    Require(key == (key[0] == 'p' ? keys::ScheduledPage(ready_ms, view)
                                  : keys::ScheduledHost(ready_ms, view)));
  }
  int64_t cash = 0;
  if (keys::ParseDeferredByCash(key, cash, view)) {
    Require(keys::DeferredByCash(cash, view) == key);
  }
  SiteId site{};
  if (keys::ParseOutbox(key, site, view)) {
    Require(key == (key[0] == 'u' ? keys::Outbox(site, view)
                    : key[0] == 'g'
                        ? keys::Gains(site, view)
                        : keys::Sending(site, ReadBigEndian64(view))));
  }
  // A valid page key can be read back from the row of every index.
  if (IsPageKey(key)) {
    Require(IsHostKey(HostPartOf(key)));
    const std::string active = keys::ActiveFrontier(9, key);
    Require(keys::ParseActiveFrontier(active, step, view));
    Require(view == key && step == 9);
    Require(
        keys::ParseRestingFrontier(keys::RestingFrontier(9, key), step, page));
    Require(page == key && step == 9);
  }
  Require(HostPartOf(key).size() <= key.size());
  Require(SurtOf(key).size() <= key.size());
  const std::string after = AfterPrefix(key);
  Require(after.empty() || after > key);
  DecodeCount(key);
}

template <typename Message>
void FuzzMessage(std::string_view bytes) {
  Message message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return;
  }
  Message again;
  Require(again.ParseFromString(message.SerializeAsString()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  FuzzKeys(bytes);
  FuzzMessage<proto::PageRecord>(bytes);
  FuzzMessage<proto::HostRecord>(bytes);
  FuzzMessage<proto::OutlinkSegment>(bytes);
  FuzzMessage<proto::RoundJournal>(bytes);
  FuzzMessage<proto::OutboxBatch>(bytes);
  FuzzMessage<proto::FoundUrl>(bytes);
  FuzzMessage<proto::ArchiveState>(bytes);
  FuzzMessage<proto::SiteIdentity>(bytes);
  proto::Totals stored;
  if (stored.ParseFromString(std::string(bytes))) {
    const Totals totals = Totals::FromProto(stored);
    const Totals again = Totals::FromProto(totals.ToProto());
    Require(again == totals);
  }
  return 0;
}
