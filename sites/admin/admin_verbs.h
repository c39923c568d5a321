// The verbs of the admin API, each a line. The interface, the client, the
// service, the counters and tests expand this list.
//
//   ASK(Verb, Request, Reply, effect, deadline)  one answer
//   LISTEN(Verb, Request, Message, effect)       a stream of messages
//
// `effect`: calls that change something are in the log. `deadline`: with
// kShort, an agent that does not answer within RemoteAdminSettings::deadline is
// taken for dead; kNone is for verbs that copy or look through everything, or
// wait for others.
//
// A new verb is an RPC in proto/admin.proto, a line here, and an
// implementation: in a local_*.cc, or, of the two lists that LocalAdmin only
// passes on, in each class that implements RoundsControl or FederationControl.
#pragma once

namespace gannet::sites {

enum class Effect { kReads, kChanges };
enum class Deadline { kShort, kNone };

// clang-format off
#define GANNET_ADMIN_VERBS(ASK, LISTEN)                                                    \
  ASK(GetStatus, GetStatusRequest, Status, kReads, kShort)                                 \
  LISTEN(WatchStatus, WatchStatusRequest, Status, kReads)                                  \
  ASK(GetLater, GetLaterRequest, Later, kReads, kShort)                                    \
  ASK(ListRounds, ListRoundsRequest, RoundReports, kReads, kShort)                         \
  ASK(ListHosts, ListHostsRequest, Hosts, kReads, kNone)                                   \
  ASK(GetFrontier, GetFrontierRequest, Frontier, kReads, kShort)                           \
  ASK(GetPage, GetPageRequest, Page, kReads, kShort)                                       \
  LISTEN(GetPageBody, GetPageRequest, PageBody, kReads)                                    \
  LISTEN(Export, ExportRequest, ExportedLines, kReads)                                     \
  ASK(CheckUrl, CheckUrlRequest, UrlCheck, kReads, kShort)                                 \
  ASK(GetRobots, GetRobotsRequest, StoredRobots, kReads, kShort)                           \
  ASK(GetConfiguration, GetConfigurationRequest, Configuration, kReads, kShort)            \
  ASK(Verify, VerifyRequest, Verification, kReads, kNone)                                  \
  ASK(Inject, InjectRequest, Injected, kChanges, kShort)                                   \
  ASK(ChangeScope, ScopeRequest, ScopeRules, kChanges, kShort)                             \
  ASK(Block, BlockRequest, BlockChange, kChanges, kNone)                                   \
  ASK(ListBlocked, ListBlockedRequest, BlockedDomains, kReads, kShort)                     \
  ASK(Forget, ForgetRequest, Forgotten, kChanges, kShort)                                  \
  ASK(ListArchive, ListArchiveRequest, ArchiveFiles, kReads, kShort)                       \
  ASK(FinishArchiveFile, FinishArchiveFileRequest, FinishedArchiveFiles, kChanges, kNone)  \
  ASK(ReleaseArchiveFile, ReleaseArchiveFileRequest, ReleasedArchiveFile, kChanges, kNone) \
  ASK(Backup, BackupRequest, BackupDone, kChanges, kNone)                                  \
  GANNET_ROUNDS_VERBS(ASK, LISTEN)                                                         \
  GANNET_FEDERATION_VERBS(ASK, LISTEN)

// Of RoundsControl.
#define GANNET_ROUNDS_VERBS(ASK, LISTEN)                                \
  LISTEN(RunRounds, RunRoundsRequest, RunProgress, kChanges)            \
  ASK(StopRounds, StopRoundsRequest, RoundsState, kChanges, kShort)     \
  ASK(PauseRounds, PauseRoundsRequest, RoundsState, kChanges, kShort)   \
  ASK(ResumeRounds, ResumeRoundsRequest, RoundsState, kChanges, kShort) \
  ASK(Reload, ReloadRequest, Reloaded, kChanges, kShort)

// Of FederationControl.
#define GANNET_FEDERATION_VERBS(ASK, LISTEN)                                        \
  ASK(GetFederation, GetFederationRequest, Federation, kReads, kShort)              \
  ASK(ChangeFederation, ChangeFederationRequest, FederationChange, kChanges, kNone) \
  ASK(PlanFederation, ChangeFederationRequest, FederationPlan, kReads, kNone)       \
  ASK(VerifyFederation, VerifyRequest, Verification, kReads, kNone)
// clang-format on

// The functions of verbs, in an interface and in a class that implements it.
#define GANNET_PURE_ASK(Verb, Request, Reply, ...)         \
  virtual absl::Status Verb(const admin::Request& request, \
                            admin::Reply& reply) = 0;
#define GANNET_PURE_LISTEN(Verb, Request, Message, ...)    \
  virtual absl::Status Verb(const admin::Request& request, \
                            const Sink<admin::Message>& sink) = 0;
#define GANNET_DECLARE_ASK(Verb, Request, Reply, ...)                   \
  absl::Status Verb(const admin::Request& request, admin::Reply& reply) \
      override;
#define GANNET_DECLARE_LISTEN(Verb, Request, Message, ...) \
  absl::Status Verb(const admin::Request& request,         \
                    const Sink<admin::Message>& sink) override;

}  // namespace gannet::sites
