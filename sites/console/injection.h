// Injection adds seeds to a site, in batches, and counts what came of them:
// `gannet inject`, and the beginning of `gannet crawl`. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/admin.pb.h"
#include "sites/admin/admin.h"
#include "sites/config/site_config.h"
#include "sites/console/scope_flags.h"

namespace gannet::sites {

// A look at the sources before a site is made for them: an error of ReadAll()
// that can be known by then, or kInvalidArgument, and each bad one named, if
// there are URLs and none is good. A file is read to its first good line only;
// what can be read but once (standard input, a pipe) is not looked into.
absl::Status CheckSources(const SiteConfig& config,
                          const std::vector<std::string>& sources);

class Injection {
 public:
  // Both must outlive this. `scope`: of seeds that say nothing themselves.
  Injection(Admin& site, const ScopeFlags& scope)
      : site_(site), scope_(scope) {}

  // URLs, and files with a URL a line (seed_line.h); bad ones are named on
  // standard error, counted and skipped. What --allow and --deny name is sent
  // first.
  absl::Status ReadAll(const std::vector<std::string>& sources);

  // There was something, and all of it was bad.
  bool nothing_was_good() const {
    return counts_.added() == 0 && counts_.known() == 0 &&
           counts_.bad() + counts_.blocked() > 0;
  }
  // Of all batches, without the names of bad ones.
  const admin::Injected& counts() const { return counts_; }

 private:
  absl::Status Add(std::string_view text, const std::string& where);
  absl::Status Send();

  Admin& site_;
  const ScopeFlags& scope_;
  admin::InjectRequest batch_;
  size_t batch_bytes_ = 0;
  admin::Injected counts_;
  int64_t named_ = 0;
};

}  // namespace gannet::sites
