#include "sites/agent/admin_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "jobs/fetch/steady_now.h"
#include "proto/admin.grpc.pb.h"
#include "sites/admin/message_times.h"
#include "storage/mutex.h"

namespace gannet::sites {
namespace {

constexpr absl::Duration kLeastBetweenLooks = absl::Milliseconds(100);
constexpr absl::Duration kMostBetweenLooks = absl::Hours(24);
// A caller that goes away is noticed within this.
constexpr absl::Duration kLookForCaller = absl::Milliseconds(250);

// The numbers of gRPC's codes and Abseil's are the same.
grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()),
                      std::string(status.message()));
}

}  // namespace

class AdminService::Service final : public admin::Admin::Service {
  using Context = grpc::ServerContext;
  using Verb = sites::Admin;

 public:
  explicit Service(Verb& admin) : admin_(admin) {}

  void EndStreams() {
    storage::MutexLock lock(&mu_);
    is_ending_ = true;
    ending_.SignalAll();
  }

  // --- Looking ---
  grpc::Status GetStatus(Context*, const admin::GetStatusRequest* request,
                         admin::Status* reply) override {
    return ToGrpc(admin_.GetStatus(*request, *reply));
  }
  grpc::Status WatchStatus(Context* context,
                           const admin::WatchStatusRequest* request,
                           grpc::ServerWriter<admin::Status>* writer) override;
  grpc::Status ListRounds(Context*, const admin::ListRoundsRequest* request,
                          admin::RoundReports* reply) override {
    return ToGrpc(admin_.ListRounds(*request, *reply));
  }
  grpc::Status ListHosts(Context*, const admin::ListHostsRequest* request,
                         admin::Hosts* reply) override {
    return ToGrpc(admin_.ListHosts(*request, *reply));
  }
  grpc::Status GetFrontier(Context*, const admin::GetFrontierRequest* request,
                           admin::Frontier* reply) override {
    return ToGrpc(admin_.GetFrontier(*request, *reply));
  }
  grpc::Status GetPage(Context*, const admin::GetPageRequest* request,
                       admin::Page* reply) override {
    return ToGrpc(admin_.GetPage(*request, *reply));
  }
  grpc::Status GetPageBody(
      Context* context, const admin::GetPageRequest* request,
      grpc::ServerWriter<admin::PageBody>* writer) override {
    return Stream(context, &Verb::GetPageBody, *request, writer);
  }
  grpc::Status Export(
      Context* context, const admin::ExportRequest* request,
      grpc::ServerWriter<admin::ExportedLines>* writer) override {
    return Stream(context, &Verb::Export, *request, writer);
  }
  grpc::Status CheckUrl(Context*, const admin::CheckUrlRequest* request,
                        admin::UrlCheck* reply) override {
    return ToGrpc(admin_.CheckUrl(*request, *reply));
  }
  grpc::Status GetRobots(Context*, const admin::GetRobotsRequest* request,
                         admin::StoredRobots* reply) override {
    return ToGrpc(admin_.GetRobots(*request, *reply));
  }
  grpc::Status GetConfiguration(Context*,
                                const admin::GetConfigurationRequest* request,
                                admin::Configuration* reply) override {
    return ToGrpc(admin_.GetConfiguration(*request, *reply));
  }
  grpc::Status Verify(Context*, const admin::VerifyRequest* request,
                      admin::Verification* reply) override {
    return ToGrpc(admin_.Verify(*request, *reply));
  }

  // --- Changing ---
  grpc::Status Inject(Context*, const admin::InjectRequest* request,
                      admin::Injected* reply) override {
    return ToGrpc(admin_.Inject(*request, *reply));
  }
  grpc::Status Block(Context*, const admin::BlockRequest* request,
                     admin::BlockChange* reply) override {
    return ToGrpc(admin_.Block(*request, *reply));
  }
  grpc::Status ListBlocked(Context*, const admin::ListBlockedRequest* request,
                           admin::BlockedDomains* reply) override {
    return ToGrpc(admin_.ListBlocked(*request, *reply));
  }
  grpc::Status Forget(Context*, const admin::ForgetRequest* request,
                      admin::Forgotten* reply) override {
    return ToGrpc(admin_.Forget(*request, *reply));
  }
  grpc::Status ListArchive(Context*, const admin::ListArchiveRequest* request,
                           admin::ArchiveFiles* reply) override {
    return ToGrpc(admin_.ListArchive(*request, *reply));
  }
  grpc::Status FinishArchiveFile(Context*,
                                 const admin::FinishArchiveFileRequest* request,
                                 admin::FinishedArchiveFiles* reply) override {
    return ToGrpc(admin_.FinishArchiveFile(*request, *reply));
  }
  grpc::Status ReleaseArchiveFile(
      Context*, const admin::ReleaseArchiveFileRequest* request,
      admin::ReleasedArchiveFile* reply) override {
    return ToGrpc(admin_.ReleaseArchiveFile(*request, *reply));
  }
  grpc::Status Backup(Context*, const admin::BackupRequest* request,
                      admin::BackupDone* reply) override {
    return ToGrpc(admin_.Backup(*request, *reply));
  }

  // --- Rounds ---
  grpc::Status RunRounds(
      Context* context, const admin::RunRoundsRequest* request,
      grpc::ServerWriter<admin::RunProgress>* writer) override {
    return Stream(context, &Verb::RunRounds, *request, writer);
  }
  grpc::Status StopRounds(Context*, const admin::StopRoundsRequest* request,
                          admin::RoundsState* reply) override {
    return ToGrpc(admin_.StopRounds(*request, *reply));
  }
  grpc::Status PauseRounds(Context*, const admin::PauseRoundsRequest* request,
                           admin::RoundsState* reply) override {
    return ToGrpc(admin_.PauseRounds(*request, *reply));
  }
  grpc::Status ResumeRounds(Context*, const admin::ResumeRoundsRequest* request,
                            admin::RoundsState* reply) override {
    return ToGrpc(admin_.ResumeRounds(*request, *reply));
  }
  grpc::Status Reload(Context*, const admin::ReloadRequest* request,
                      admin::Reloaded* reply) override {
    return ToGrpc(admin_.Reload(*request, *reply));
  }

  // --- The federation ---
  grpc::Status GetFederation(Context*,
                             const admin::GetFederationRequest* request,
                             admin::Federation* reply) override {
    return ToGrpc(admin_.GetFederation(*request, *reply));
  }
  grpc::Status ChangeFederation(Context*,
                                const admin::ChangeFederationRequest* request,
                                admin::FederationChange* reply) override {
    return ToGrpc(admin_.ChangeFederation(*request, *reply));
  }
  grpc::Status PlanFederation(Context*,
                              const admin::ChangeFederationRequest* request,
                              admin::FederationPlan* reply) override {
    return ToGrpc(admin_.PlanFederation(*request, *reply));
  }
  grpc::Status VerifyFederation(Context*, const admin::VerifyRequest* request,
                                admin::Verification* reply) override {
    return ToGrpc(admin_.VerifyFederation(*request, *reply));
  }

 private:
  // A place among the streams, for as long as it lives.
  class Place {
   public:
    explicit Place(std::atomic<int>& taken)
        : taken_(taken), has_one_(taken.fetch_add(1) < kMostStreams) {}
    ~Place() { --taken_; }
    bool has_one() const { return has_one_; }

   private:
    std::atomic<int>& taken_;
    const bool has_one_;
  };

  static grpc::Status TooManyStreams() {
    return grpc::Status(
        grpc::StatusCode::ABORTED,
        fmt::format("{} callers watch or export already, the most allowed; "
                    "try again when one has ended",
                    kMostStreams));
  }
  static grpc::Status Ending() {
    return grpc::Status(grpc::StatusCode::UNAVAILABLE,
                        "the agent is stopping; ask again when it runs again");
  }

  bool is_ending() {
    storage::MutexLock lock(&mu_);
    return is_ending_;
  }

  template <typename Request, typename Message>
  grpc::Status Stream(Context* context,
                      absl::Status (Verb::*verb)(const Request&,
                                                 const Sink<Message>&),
                      const Request& request,
                      grpc::ServerWriter<Message>* writer) {
    const Place place(streams_);
    if (!place.has_one()) return TooManyStreams();
    bool was_ended = false;
    const absl::Status status = (admin_.*
                                 verb)(request, [&](const Message& message) {
      was_ended = is_ending();
      return !was_ended && !context->IsCancelled() && writer->Write(message);
    });
    if (was_ended) return Ending();
    if (context->IsCancelled()) return grpc::Status::CANCELLED;
    return ToGrpc(status);
  }

  Verb& admin_;
  std::atomic<int> streams_ = 0;
  storage::Mutex mu_;
  storage::Condition ending_;
  bool is_ending_ ABSL_GUARDED_BY(mu_) = false;
};

// Does not use Admin::WatchStatus(), which sleeps between two looks: this one
// ends soon after the caller goes away or the agent stops.
grpc::Status AdminService::Service::WatchStatus(
    Context* context, const admin::WatchStatusRequest* request,
    grpc::ServerWriter<admin::Status>* writer) {
  const Place place(streams_);
  if (!place.has_one()) return TooManyStreams();
  absl::Duration every =
      request->has_every() ? FromMessage(request->every()) : absl::Seconds(1);
  if (every < absl::ZeroDuration()) {
    return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT,
                        "'every' must not be negative");
  }
  every = std::clamp(every, kLeastBetweenLooks, kMostBetweenLooks);
  for (;;) {
    admin::Status status;
    if (absl::Status s = admin_.GetStatus({}, status); !s.ok()) {
      return ToGrpc(s);
    }
    if (!writer->Write(status)) return grpc::Status::CANCELLED;
    const absl::Time next = jobs::SteadyNow() + every;
    storage::MutexLock lock(&mu_);
    for (absl::Time now; (now = jobs::SteadyNow()) < next && !is_ending_;) {
      if (context->IsCancelled()) return grpc::Status::CANCELLED;
      ending_.WaitFor(&mu_, std::min(kLookForCaller, next - now));
    }
    if (is_ending_) return Ending();
  }
}

AdminService::AdminService(Admin& admin)
    : service_(std::make_unique<Service>(admin)) {}
AdminService::~AdminService() = default;

grpc::Service* AdminService::service() { return service_.get(); }
void AdminService::EndStreams() { service_->EndStreams(); }

}  // namespace gannet::sites
