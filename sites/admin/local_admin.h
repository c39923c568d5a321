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

  // local_status.cc
  absl::Status GetStatus(const admin::GetStatusRequest& request,
                         admin::Status& reply) override;
  absl::Status WatchStatus(const admin::WatchStatusRequest& request,
                           const Sink<admin::Status>& sink) override;
  absl::Status ListRounds(const admin::ListRoundsRequest& request,
                          admin::RoundReports& reply) override;
  absl::Status GetFrontier(const admin::GetFrontierRequest& request,
                           admin::Frontier& reply) override;

  // local_hosts.cc
  absl::Status ListHosts(const admin::ListHostsRequest& request,
                         admin::Hosts& reply) override;
  absl::Status GetRobots(const admin::GetRobotsRequest& request,
                         admin::StoredRobots& reply) override;

  // local_pages.cc
  absl::Status GetPage(const admin::GetPageRequest& request,
                       admin::Page& reply) override;
  absl::Status GetPageBody(const admin::GetPageRequest& request,
                           const Sink<admin::PageBody>& sink) override;
  absl::Status CheckUrl(const admin::CheckUrlRequest& request,
                        admin::UrlCheck& reply) override;
  absl::Status Forget(const admin::ForgetRequest& request,
                      admin::Forgotten& reply) override;

  // local_export.cc
  absl::Status Export(const admin::ExportRequest& request,
                      const Sink<admin::ExportedLines>& sink) override;

  // local_seeds.cc
  absl::Status Inject(const admin::InjectRequest& request,
                      admin::Injected& reply) override;
  absl::Status Block(const admin::BlockRequest& request,
                     admin::BlockChange& reply) override;
  absl::Status ListBlocked(const admin::ListBlockedRequest& request,
                           admin::BlockedDomains& reply) override;

  // local_archive.cc
  absl::Status ListArchive(const admin::ListArchiveRequest& request,
                           admin::ArchiveFiles& reply) override;
  absl::Status FinishArchiveFile(const admin::FinishArchiveFileRequest& request,
                                 admin::FinishedArchiveFiles& reply) override;
  absl::Status ReleaseArchiveFile(
      const admin::ReleaseArchiveFileRequest& request,
      admin::ReleasedArchiveFile& reply) override;
  absl::Status Backup(const admin::BackupRequest& request,
                      admin::BackupDone& reply) override;

  // local_admin.cc
  absl::Status GetConfiguration(const admin::GetConfigurationRequest& request,
                                admin::Configuration& reply) override;
  absl::Status Verify(const admin::VerifyRequest& request,
                      admin::Verification& reply) override;
  absl::Status RunRounds(const admin::RunRoundsRequest& request,
                         const Sink<admin::RunProgress>& sink) override;
  absl::Status StopRounds(const admin::StopRoundsRequest& request,
                          admin::RoundsState& reply) override;
  absl::Status PauseRounds(const admin::PauseRoundsRequest& request,
                           admin::RoundsState& reply) override;
  absl::Status ResumeRounds(const admin::ResumeRoundsRequest& request,
                            admin::RoundsState& reply) override;
  absl::Status Reload(const admin::ReloadRequest& request,
                      admin::Reloaded& reply) override;

  // local_federation.cc
  absl::Status GetFederation(const admin::GetFederationRequest& request,
                             admin::Federation& reply) override;
  absl::Status ChangeFederation(const admin::ChangeFederationRequest& request,
                                admin::FederationChange& reply) override;
  absl::Status PlanFederation(const admin::ChangeFederationRequest& request,
                              admin::FederationPlan& reply) override;
  absl::Status VerifyFederation(const admin::VerifyRequest& request,
                                admin::Verification& reply) override;

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
