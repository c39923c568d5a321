// SiteFederation is the site's part in the federation, made from its
// configuration: federation/member with this site's certificates, rules and
// store. Rounds ask it for the current map (jobs::FederationPart), operators
// for everything else (FederationControl). Thread-safe, but for Snapshot(),
// OnSettled() and TakeBytesSent(), which are the rounds' thread's.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "jobs/round/federation_part.h"
#include "proto/federation.pb.h"
#include "sites/admin/federation_control.h"
#include "sites/agent/log.h"
#include "sites/config/site_config.h"
#include "storage/clock.h"
#include "storage/site_store/site_store.h"

namespace gannet::sites {

// What this site's configuration says of what all sites must do alike.
proto::MapRules RulesOf(const SiteConfig& config);

class SiteFederation : public FederationControl, public jobs::FederationPart {
 public:
  // Listens and begins. `store`, `log` and `clock` must outlive it. Errors
  // say what to do. REQUIRES: config.federation.map is not kNone.
  static absl::StatusOr<std::unique_ptr<SiteFederation>> Start(
      const SiteConfig& config, storage::SiteStore& store, Log& log,
      storage::Clock& clock);
  // Gives how many pages were fetched so far: other sites are told the rate.
  // Null: not known (any more).
  void CountPagesBy(std::function<int64_t()> fetched_pages);
  ~SiteFederation() override;

  jobs::FederationNow Snapshot() override;
  bool IsOut() const override;
  absl::Status OnSettled() override;
  federation::BatchBytes TakeBytesSent() override;

  void AddTo(admin::Status& status) override;
  absl::Status Block(std::string_view domain, bool undo) override;
  void OnInjected() override;
  GANNET_FEDERATION_VERBS(GANNET_DECLARE_ASK, GANNET_DECLARE_LISTEN)

  int port() const;  // Of listen.peers.

 private:
  class Impl;
  explicit SiteFederation(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace gannet::sites
