// LocalAdmin does an operator's verbs (admin.h) on a data folder that this
// process has open: a command's own, or the agent's, beside the rounds that run
// there. It asks RoundsControl what is going on right now. Thread-safe.
//
// Memory is bounded in every verb: exports walk, hosts keep the first N.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "sites/admin/admin.h"
#include "sites/admin/federation_control.h"
#include "sites/admin/rounds_control.h"
#include "sites/config/site_config.h"
#include "storage/clock.h"
#include "storage/mutex.h"
#include "storage/site_store/site_store.h"

namespace gannet::sites {

class LocalAdmin : public Admin {
 public:
  // `config_file` is where it came from, for people; empty: flags and defaults.
  // `rounds` is null if this process runs no rounds. It, `store` and `clock`
  // must outlive this.
  LocalAdmin(SiteConfig config, std::string config_file,
             storage::SiteStore& store, RoundsControl* rounds,
             storage::Clock& clock);

  // The configuration in force; after a reload, later verbs see the new one.
  std::shared_ptr<const SiteConfig> config() const ABSL_LOCKS_EXCLUDED(mu_);
  void SetConfig(SiteConfig config) ABSL_LOCKS_EXCLUDED(mu_);

  // Each in the local_*.cc of its topic.
  GANNET_ADMIN_VERBS(GANNET_DECLARE_ASK, GANNET_DECLARE_LISTEN)

  // The site is in a federation from now on; null: no longer. The control must
  // live until it is replaced.
  void SetFederation(FederationControl* federation) {
    federation_ = federation;
  }

 private:
  storage::CrawlDb& db() { return store_.crawl_db(); }
  // Parts of Block(), with the others of the federation.
  absl::Status TellOthersToBlock(const std::string& domain);
  absl::StatusOr<int64_t> Unblock(const std::string& domain);
  // In a federation the scope is a rule of the map.
  bool ScopeIsOfMap() const;
  absl::StatusOr<std::optional<storage::ScopeRule>> RuleOf(
      const admin::InjectRequest::Seed& seed, std::string_view url,
      const std::string& default_scope);

  const std::string config_file_;
  storage::SiteStore& store_;
  RoundsControl* const rounds_;
  storage::Clock& clock_;
  std::atomic<FederationControl*> federation_ = nullptr;
  // One backup at a time.
  storage::Mutex backup_mu_;
  mutable storage::Mutex mu_;
  std::shared_ptr<const SiteConfig> config_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gannet::sites
