#include "storage/crawl_db/block_list.h"

#include <fmt/format.h>

#include "absl/strings/string_view.h"
#include "storage/crawl_db/keys.h"
#include "storage/url/canonical.h"
#include "storage/url/domain.h"
#include "storage/url/surt.h"

namespace gannet::storage {

absl::StatusOr<std::string> BlockedPrefix(std::string_view domain) {
  Url url;
  if (Canonicaliser().Canonicalise(fmt::format("http://{}/", domain), nullptr,
                                   url) != UrlOutcome::kOk ||
      url.host() != domain) {
    return absl::InvalidArgumentError(
        fmt::format("'{}' is not the name of a domain or host", domain));
  }
  std::string prefix(
      1, static_cast<char>(DomainBucket(RegistrableDomain(domain))));
  AppendSurtDomainPrefix(domain, prefix);
  if (!RegistrableDomainIfAny(domain).has_value()) prefix.push_back(')');
  return prefix;
}

void BlockedPrefixes::Set(const proto::BlockList& list) {
  prefixes_.clear();
  for (const proto::BlockList::Entry& entry : list.entries()) {
    if (entry.stage() == proto::BlockList::PUTTING_BACK) continue;
    absl::StatusOr<std::string> prefix = BlockedPrefix(entry.domain());
    if (prefix.ok()) prefixes_.insert(*std::move(prefix));
  }
}

bool BlockedPrefixes::Has(std::string_view page) const {
  if (prefixes_.empty()) return false;
  const std::string_view part = HostPartOf(page);
  const absl::string_view host(part.data(), part.size());
  if (prefixes_.contains(host)) return true;
  for (size_t comma = host.find(',', 1); comma != absl::string_view::npos;
       comma = host.find(',', comma + 1)) {
    if (prefixes_.contains(host.substr(0, comma + 1))) return true;
  }
  return false;
}

}  // namespace gannet::storage
