// SeedJudge says whether a line may be a seed, and gives its canonical form:
// filters of the site, not its scope, which the seed may widen. Thread-safe.
#pragma once

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "sites/config/site_config.h"
#include "storage/url/canonical.h"
#include "storage/url/filter.h"

namespace gannet::sites {

class SeedJudge {
 public:
  static absl::StatusOr<SeedJudge> Create(const SiteConfig& config);

  // kInvalidArgument says why it is none.
  absl::StatusOr<storage::Url> Judge(std::string_view text) const;

 private:
  SeedJudge(storage::Canonicaliser canonicaliser,
            std::unique_ptr<storage::UrlFilter> filter)
      : canonicaliser_(std::move(canonicaliser)), filter_(std::move(filter)) {}

  storage::Canonicaliser canonicaliser_;
  std::unique_ptr<storage::UrlFilter> filter_;
};

}  // namespace gannet::sites
