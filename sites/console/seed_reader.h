// SeedReader turns what `gannet inject` was given into seeds: a URL is itself,
// a file holds one a line ('#' begins a comment line), '-' is standard input. A
// bad line is named and skipped, for one typo must not keep out 10,000 good
// seeds. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sites/config/site_config.h"
#include "storage/crawl_db/keys.h"
#include "storage/url/canonical.h"
#include "storage/url/filter.h"

namespace gannet::sites {

class SeedReader {
 public:
  // Each returns false or an error to stop.
  using TakeSeed = std::function<absl::Status(storage::PageKey seed)>;
  // "seeds.txt:7" or the URL's place on the command line, and why.
  using TakeBad =
      std::function<void(const std::string& where, const std::string& why)>;

  static absl::StatusOr<std::unique_ptr<SeedReader>> Create(
      const SiteConfig& config, TakeSeed take_seed, TakeBad take_bad);

  // A URL, a file's path, or "-". kNotFound if it is no URL and there is no
  // such file; otherwise an error of TakeSeed.
  absl::Status Read(const std::string& file_or_url);

 private:
  SeedReader(storage::Canonicaliser canonicaliser,
             std::unique_ptr<storage::UrlFilter> filter, TakeSeed take_seed,
             TakeBad take_bad);
  absl::Status ReadLines(std::istream& in, const std::string& name);
  absl::Status TakeUrl(std::string_view text, const std::string& where);

  const storage::Canonicaliser canonicaliser_;
  const std::unique_ptr<storage::UrlFilter> filter_;
  const TakeSeed take_seed_;
  const TakeBad take_bad_;
};

}  // namespace gannet::sites
