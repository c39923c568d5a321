// The verbs of the admin API, each a line. Whoever has all of them (the
// interface, the client, the service, the counters and tests) expands this
// list, so a new verb is an RPC in proto/admin.proto, a line here and an
// implementation in a local_*.cc.
//
//   ASK(Verb, Request, Reply, patience, effect)       one answer
//   LISTEN(Verb, Request, Message, patience, effect)  a stream of messages
//
// `patience`: kSoon, the agent is taken for dead if there is no answer within
// RemoteAdminSettings::deadline; kHowever, for verbs that copy or look through
// everything, wait for others, or stream. `effect`: kLooks or kChanges; calls
// that change something are in the log.
#pragma once

namespace gannet::sites {

enum class Patience { kSoon, kHowever };
enum class Effect { kLooks, kChanges };

// clang-format off
#define GANNET_ADMIN_VERBS(ASK, LISTEN)                                                      \
  ASK(GetStatus, GetStatusRequest, Status, kSoon, kLooks)                                    \
  LISTEN(WatchStatus, WatchStatusRequest, Status, kHowever, kLooks)                          \
  ASK(ListRounds, ListRoundsRequest, RoundReports, kSoon, kLooks)                            \
  ASK(ListHosts, ListHostsRequest, Hosts, kHowever, kLooks)                                  \
  ASK(GetFrontier, GetFrontierRequest, Frontier, kSoon, kLooks)                              \
  ASK(GetPage, GetPageRequest, Page, kSoon, kLooks)                                          \
  LISTEN(GetPageBody, GetPageRequest, PageBody, kHowever, kLooks)                            \
  LISTEN(Export, ExportRequest, ExportedLines, kHowever, kLooks)                             \
  ASK(CheckUrl, CheckUrlRequest, UrlCheck, kSoon, kLooks)                                    \
  ASK(GetRobots, GetRobotsRequest, StoredRobots, kSoon, kLooks)                              \
  ASK(GetConfiguration, GetConfigurationRequest, Configuration, kSoon, kLooks)               \
  ASK(Verify, VerifyRequest, Verification, kHowever, kLooks)                                 \
  ASK(Inject, InjectRequest, Injected, kSoon, kChanges)                                      \
  ASK(Block, BlockRequest, BlockChange, kHowever, kChanges)                                  \
  ASK(ListBlocked, ListBlockedRequest, BlockedDomains, kSoon, kLooks)                        \
  ASK(Forget, ForgetRequest, Forgotten, kSoon, kChanges)                                     \
  ASK(ListArchive, ListArchiveRequest, ArchiveFiles, kSoon, kLooks)                          \
  ASK(FinishArchiveFile, FinishArchiveFileRequest, FinishedArchiveFiles, kHowever, kChanges) \
  ASK(ReleaseArchiveFile, ReleaseArchiveFileRequest, ReleasedArchiveFile, kHowever, kChanges) \
  ASK(Backup, BackupRequest, BackupDone, kHowever, kChanges)                                 \
  LISTEN(RunRounds, RunRoundsRequest, RunProgress, kHowever, kChanges)                       \
  ASK(StopRounds, StopRoundsRequest, RoundsState, kSoon, kChanges)                           \
  ASK(PauseRounds, PauseRoundsRequest, RoundsState, kSoon, kChanges)                         \
  ASK(ResumeRounds, ResumeRoundsRequest, RoundsState, kSoon, kChanges)                       \
  ASK(Reload, ReloadRequest, Reloaded, kSoon, kChanges)                                      \
  ASK(GetFederation, GetFederationRequest, Federation, kSoon, kLooks)                        \
  ASK(ChangeFederation, ChangeFederationRequest, FederationChange, kHowever, kChanges)       \
  ASK(PlanFederation, ChangeFederationRequest, FederationPlan, kHowever, kLooks)             \
  ASK(VerifyFederation, VerifyRequest, Verification, kHowever, kLooks)
// clang-format on

// The functions of all verbs in a class that implements Admin.
#define GANNET_DECLARE_ASK(Verb, Request, Reply, patience, effect)      \
  absl::Status Verb(const admin::Request& request, admin::Reply& reply) \
      override;
#define GANNET_DECLARE_LISTEN(Verb, Request, Message, patience, effect) \
  absl::Status Verb(const admin::Request& request,                      \
                    const Sink<admin::Message>& sink) override;

}  // namespace gannet::sites
