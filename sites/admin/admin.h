// Admin is everything that an operator can ask of a site, in the messages of
// proto/admin.proto: one door for the command line, the gRPC service and the
// dashboard, so that each verb is written once. LocalAdmin does them on a data
// folder of this process, RemoteAdmin asks the agent that has it open; callers
// need not know which.
//
// Errors are those that proto/admin.proto names, and kUnavailable: the agent
// does not answer. Thread-safe.
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "proto/admin.pb.h"

namespace gannet::sites {

// Takes each message of a streaming verb; false: no more are wanted, which is
// no error.
template <typename Message>
using Sink = std::function<bool(const Message&)>;

class Admin {
 public:
  virtual ~Admin() = default;

  // Looking.
  virtual absl::Status GetStatus(const admin::GetStatusRequest& request,
                                 admin::Status& reply) = 0;
  virtual absl::Status WatchStatus(const admin::WatchStatusRequest& request,
                                   const Sink<admin::Status>& sink) = 0;
  virtual absl::Status ListRounds(const admin::ListRoundsRequest& request,
                                  admin::RoundReports& reply) = 0;
  virtual absl::Status ListHosts(const admin::ListHostsRequest& request,
                                 admin::Hosts& reply) = 0;
  virtual absl::Status GetFrontier(const admin::GetFrontierRequest& request,
                                   admin::Frontier& reply) = 0;
  virtual absl::Status GetPage(const admin::GetPageRequest& request,
                               admin::Page& reply) = 0;
  virtual absl::Status GetPageBody(const admin::GetPageRequest& request,
                                   const Sink<admin::PageBody>& sink) = 0;
  virtual absl::Status Export(const admin::ExportRequest& request,
                              const Sink<admin::ExportedLines>& sink) = 0;
  virtual absl::Status CheckUrl(const admin::CheckUrlRequest& request,
                                admin::UrlCheck& reply) = 0;
  virtual absl::Status GetRobots(const admin::GetRobotsRequest& request,
                                 admin::StoredRobots& reply) = 0;
  virtual absl::Status GetConfiguration(
      const admin::GetConfigurationRequest& request,
      admin::Configuration& reply) = 0;
  virtual absl::Status Verify(const admin::VerifyRequest& request,
                              admin::Verification& reply) = 0;

  // Changing.
  virtual absl::Status Inject(const admin::InjectRequest& request,
                              admin::Injected& reply) = 0;
  virtual absl::Status Block(const admin::BlockRequest& request,
                             admin::BlockChange& reply) = 0;
  virtual absl::Status ListBlocked(const admin::ListBlockedRequest& request,
                                   admin::BlockedDomains& reply) = 0;
  virtual absl::Status Forget(const admin::ForgetRequest& request,
                              admin::Forgotten& reply) = 0;
  virtual absl::Status ListArchive(const admin::ListArchiveRequest& request,
                                   admin::ArchiveFiles& reply) = 0;
  virtual absl::Status FinishArchiveFile(
      const admin::FinishArchiveFileRequest& request,
      admin::FinishedArchiveFiles& reply) = 0;
  virtual absl::Status ReleaseArchiveFile(
      const admin::ReleaseArchiveFileRequest& request,
      admin::ReleasedArchiveFile& reply) = 0;
  virtual absl::Status Backup(const admin::BackupRequest& request,
                              admin::BackupDone& reply) = 0;

  // Rounds: kFailedPrecondition if no process runs rounds here.
  virtual absl::Status RunRounds(const admin::RunRoundsRequest& request,
                                 const Sink<admin::RunProgress>& sink) = 0;
  virtual absl::Status StopRounds(const admin::StopRoundsRequest& request,
                                  admin::RoundsState& reply) = 0;
  virtual absl::Status PauseRounds(const admin::PauseRoundsRequest& request,
                                   admin::RoundsState& reply) = 0;
  virtual absl::Status ResumeRounds(const admin::ResumeRoundsRequest& request,
                                    admin::RoundsState& reply) = 0;
  virtual absl::Status Reload(const admin::ReloadRequest& request,
                              admin::Reloaded& reply) = 0;

  // The federation: kFailedPrecondition where the site is in none.
  virtual absl::Status GetFederation(const admin::GetFederationRequest& request,
                                     admin::Federation& reply) = 0;
  virtual absl::Status ChangeFederation(
      const admin::ChangeFederationRequest& request,
      admin::FederationChange& reply) = 0;
  virtual absl::Status PlanFederation(
      const admin::ChangeFederationRequest& request,
      admin::FederationPlan& reply) = 0;
  virtual absl::Status VerifyFederation(const admin::VerifyRequest& request,
                                        admin::Verification& reply) = 0;
};

}  // namespace gannet::sites
