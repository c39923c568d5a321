#include "federation/exchange/batch_format.h"

#include <fmt/format.h>

#include "storage/url/domain.h"

namespace gannet::federation {

absl::Status BucketFinder::Find(std::string_view surt, uint8_t& bucket) {
  // All of the key is checked, not only its host: a key that leads to no URL
  // would be a page that nobody can fetch or name.
  if (!reader_.Read(surt, url_)) {
    return absl::InvalidArgumentError(
        fmt::format("not a SURT key: {:.200}", surt));
  }
  const std::string_view surt_host = storage::SurtHost(surt);
  if (surt_host != surt_host_) {
    bucket_ = storage::DomainBucket(storage::RegistrableDomain(url_.host()));
    surt_host_ = surt_host;
  }
  bucket = bucket_;
  return absl::OkStatus();
}

}  // namespace gannet::federation
