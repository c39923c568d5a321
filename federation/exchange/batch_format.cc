#include "federation/exchange/batch_format.h"

#include "storage/url/domain.h"
#include "storage/url/surt.h"

namespace gannet::federation {

absl::Status BucketFinder::Find(std::string_view surt, uint8_t& bucket) {
  // All of the key is looked at, not only its host: one that leads to no URL
  // would be a page that nobody can fetch and nobody can name.
  if (const auto url = storage::UrlFromSurt(surt); !url.ok()) {
    return url.status();
  }
  const std::string_view surt_host = storage::SurtHost(surt);
  if (surt_host != surt_host_) {
    std::string host;
    storage::AppendHostFromSurt(surt, host);
    bucket_ = storage::DomainBucket(storage::RegistrableDomain(host));
    surt_host_ = surt_host;
  }
  bucket = bucket_;
  return absl::OkStatus();
}

}  // namespace gannet::federation
