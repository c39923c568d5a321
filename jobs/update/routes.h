// Routes says which way a found URL goes: into this site's crawl DB (way 0), or
// to another site of the federation (a way for each). Without a federation all
// go way 0. One object serves one update, by one map: if the owner changes
// meanwhile, the site that gets the URL forwards it. Not thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "federation/exchange/sent_url_cache.h"
#include "federation/map/map_view.h"
#include "federation/ownership/ownership.h"
#include "storage/crawl_db/crawl_db.h"

namespace gannet::jobs {

class Routes {
 public:
  static constexpr size_t kHere = 0;

  Routes() = default;
  // `sent` must outlive this; null only if `map` is.
  Routes(std::shared_ptr<const federation::MapView> map,
         federation::SentUrlCache* sent)
      : map_(std::move(map)), sent_(sent) {
    if (map_ == nullptr) return;
    for (const proto::MapSite* peer : map_->peers()) {
      way_of_site_[storage::SiteId{peer->id()}] = sites_.size();
      sites_.push_back(storage::SiteId{peer->id()});
    }
  }

  size_t ways() const { return sites_.size(); }
  // What a URL gains after it was sent is sent, too.
  bool cash_mode() const {
    return map_ != nullptr &&
           map_->map().rules().exchange() == proto::EXCHANGE_CASH;
  }
  storage::SiteId site(size_t way) const { return sites_[way]; }

  // Cheap for pages in key order: one look-up for each host.
  size_t WayOf(std::string_view page) {
    if (sites_.size() == 1) return kHere;
    const std::string_view host = storage::HostPartOf(page);
    if (host == host_) return way_;
    host_ = host;
    const std::optional<storage::SiteId> owner =
        federation::Ownership(*map_).OwnerOf(page);
    const auto way =
        owner.has_value() ? way_of_site_.find(*owner) : way_of_site_.end();
    return way_ = way == way_of_site_.end() ? kHere : way->second;
  }

  // The other site has it, or will: it need not be sent again.
  bool WasSent(size_t way, const storage::PageKey& page) {
    return way != kHere && sent_->Contains(sites_[way], page);
  }
  // REQUIRES: it is in the outbox, committed.
  void Remember(size_t way, const storage::PageKey& page) {
    sent_->Remember(sites_[way], page);
  }

 private:
  std::shared_ptr<const federation::MapView> map_;
  federation::SentUrlCache* sent_ = nullptr;
  std::vector<storage::SiteId> sites_ = {storage::SiteId{}};  // By way.
  absl::flat_hash_map<storage::SiteId, size_t> way_of_site_;
  std::string host_;  // The last that was asked for, and its way.
  size_t way_ = kHere;
};

}  // namespace gannet::jobs
