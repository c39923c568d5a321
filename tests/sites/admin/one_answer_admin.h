// OneAnswerAdmin is an Admin all of whose verbs give the same answer. A test's
// own Admin derives from it and overrides the verbs that the test needs. As
// thread-safe as Answer() is.
#pragma once

#include "absl/status/status.h"
#include "sites/admin/admin.h"

namespace gannet::sites {

class OneAnswerAdmin : public Admin {
 public:
#define GANNET_SAYS_THE_ANSWER(Verb, Request, Reply) \
  absl::Status Verb(const admin::Request&, Reply) override { return Answer(); }
  GANNET_SAYS_THE_ANSWER(GetStatus, GetStatusRequest, admin::Status&)
  GANNET_SAYS_THE_ANSWER(WatchStatus, WatchStatusRequest,
                         const Sink<admin::Status>&)
  GANNET_SAYS_THE_ANSWER(ListRounds, ListRoundsRequest, admin::RoundReports&)
  GANNET_SAYS_THE_ANSWER(ListHosts, ListHostsRequest, admin::Hosts&)
  GANNET_SAYS_THE_ANSWER(GetFrontier, GetFrontierRequest, admin::Frontier&)
  GANNET_SAYS_THE_ANSWER(GetPage, GetPageRequest, admin::Page&)
  GANNET_SAYS_THE_ANSWER(GetPageBody, GetPageRequest,
                         const Sink<admin::PageBody>&)
  GANNET_SAYS_THE_ANSWER(Export, ExportRequest,
                         const Sink<admin::ExportedLines>&)
  GANNET_SAYS_THE_ANSWER(CheckUrl, CheckUrlRequest, admin::UrlCheck&)
  GANNET_SAYS_THE_ANSWER(GetRobots, GetRobotsRequest, admin::StoredRobots&)
  GANNET_SAYS_THE_ANSWER(GetConfiguration, GetConfigurationRequest,
                         admin::Configuration&)
  GANNET_SAYS_THE_ANSWER(Verify, VerifyRequest, admin::Verification&)
  GANNET_SAYS_THE_ANSWER(Inject, InjectRequest, admin::Injected&)
  GANNET_SAYS_THE_ANSWER(Block, BlockRequest, admin::BlockChange&)
  GANNET_SAYS_THE_ANSWER(ListBlocked, ListBlockedRequest,
                         admin::BlockedDomains&)
  GANNET_SAYS_THE_ANSWER(Forget, ForgetRequest, admin::Forgotten&)
  GANNET_SAYS_THE_ANSWER(ListArchive, ListArchiveRequest, admin::ArchiveFiles&)
  GANNET_SAYS_THE_ANSWER(FinishArchiveFile, FinishArchiveFileRequest,
                         admin::FinishedArchiveFiles&)
  GANNET_SAYS_THE_ANSWER(ReleaseArchiveFile, ReleaseArchiveFileRequest,
                         admin::ReleasedArchiveFile&)
  GANNET_SAYS_THE_ANSWER(Backup, BackupRequest, admin::BackupDone&)
  GANNET_SAYS_THE_ANSWER(RunRounds, RunRoundsRequest,
                         const Sink<admin::RunProgress>&)
  GANNET_SAYS_THE_ANSWER(StopRounds, StopRoundsRequest, admin::RoundsState&)
  GANNET_SAYS_THE_ANSWER(PauseRounds, PauseRoundsRequest, admin::RoundsState&)
  GANNET_SAYS_THE_ANSWER(ResumeRounds, ResumeRoundsRequest, admin::RoundsState&)
  GANNET_SAYS_THE_ANSWER(Reload, ReloadRequest, admin::Reloaded&)
  GANNET_SAYS_THE_ANSWER(GetFederation, GetFederationRequest,
                         admin::Federation&)
  GANNET_SAYS_THE_ANSWER(ChangeFederation, ChangeFederationRequest,
                         admin::FederationChange&)
  GANNET_SAYS_THE_ANSWER(PlanFederation, ChangeFederationRequest,
                         admin::FederationPlan&)
  GANNET_SAYS_THE_ANSWER(VerifyFederation, VerifyRequest, admin::Verification&)
#undef GANNET_SAYS_THE_ANSWER

 protected:
  virtual absl::Status Answer() = 0;
};

}  // namespace gannet::sites
