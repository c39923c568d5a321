// ScopeFlags are the flags of commands that add seeds: how far the crawl goes
// from them. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "sites/admin/admin.h"
#include "sites/config/site_config.h"
#include "sites/console/command.h"

namespace gannet::sites {

class ScopeFlags {
 public:
  // --scope, --max-depth, --allow, --deny. `default_scope` is what --help says
  // of --scope.
  void AddTo(Command& command, const std::string& default_scope);

  // kInvalidArgument: --scope is none of those that there are.
  absl::Status Check() const;
  // What seeds get that say nothing themselves; empty: the site decides.
  const std::string& scope() const { return scope_; }
  // Where neither flag nor site.yaml says: the domains of the seeds, unless
  // urls.allow bounds the crawl already, or the scope is the federation's.
  void DefaultToDomains(const SiteConfig& config);
  // Of seeds that have no scope yet; empty: the site decides.
  const std::string& default_scope() const { return default_scope_; }
  std::optional<uint32_t> max_depth() const;
  const std::vector<std::string>& allow() const { return allow_; }
  const std::vector<std::string>& deny() const { return deny_; }

  // Tells the site of --allow and --deny, if there are any.
  absl::Status Send(Admin& site) const;

 private:
  std::string scope_, default_scope_;
  int64_t max_depth_ = 0;
  std::vector<std::string> allow_, deny_;
};

}  // namespace gannet::sites
