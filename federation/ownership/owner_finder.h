// OwnerFinder finds the owners of many pages by one map. Pages come in key
// order, so the answer is mostly that of the page before: a channel is never
// less than a host, so another page of the same host costs one comparison. Not
// thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "federation/ownership/ownership.h"
#include "storage/crawl_db/keys.h"

namespace gannet::federation {

class OwnerFinder {
 public:
  // REQUIRES: view.self() is not null. Must outlive this.
  explicit OwnerFinder(const MapView& view)
      : ownership_(view), self_{view.self()->id()} {}

  // Nothing if it is this site's.
  std::optional<storage::SiteId> operator()(std::string_view page) {
    const std::string_view host = storage::HostPartOf(page);
    if (host == host_) return owner_;
    host_ = host;
    owner_ = ownership_.OwnerOf(page);
    if (owner_ == self_) owner_.reset();
    return owner_;
  }

 private:
  const Ownership ownership_;
  const storage::SiteId self_;
  std::string host_;
  std::optional<storage::SiteId> owner_;
};

}  // namespace gannet::federation
