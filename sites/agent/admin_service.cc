#include "sites/agent/admin_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

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
  using Verbs = sites::Admin;

 public:
  Service(Verbs& admin, storage::Clock& clock) : admin_(admin), clock_(clock) {}

  void EndStreams() {
    storage::MutexLock lock(&mu_);
    is_ending_ = true;
    ending_.SignalAll();
  }

#define GANNET_ASK(Verb, Request, Reply, ...)                \
  grpc::Status Verb(Context*, const admin::Request* request, \
                    admin::Reply* reply) override {          \
    return ToGrpc(admin_.Verb(*request, *reply));            \
  }
#define GANNET_LISTEN(Verb, Request, Message, ...)                         \
  grpc::Status Verb(Context* context, const admin::Request* request,       \
                    grpc::ServerWriter<admin::Message>* writer) override { \
    return Stream(context, &Verbs::Verb, *request, writer);                \
  }
  GANNET_ADMIN_VERBS(GANNET_ASK, GANNET_LISTEN)
#undef GANNET_ASK
#undef GANNET_LISTEN

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
                      absl::Status (Verbs::*verb)(const Request&,
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

  // WatchStatus, which has this signature, does not use Admin's: that one
  // sleeps between two looks, while this one ends soon after the caller goes
  // away or the agent stops.
  grpc::Status Stream(Context* context,
                      absl::Status (Verbs::*)(const admin::WatchStatusRequest&,
                                              const Sink<admin::Status>&),
                      const admin::WatchStatusRequest& request,
                      grpc::ServerWriter<admin::Status>* writer) {
    const Place place(streams_);
    if (!place.has_one()) return TooManyStreams();
    absl::Duration every =
        request.has_every() ? FromMessage(request.every()) : absl::Seconds(1);
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
      const absl::Time next = clock_.SteadyNow() + every;
      storage::MutexLock lock(&mu_);
      for (absl::Time now; (now = clock_.SteadyNow()) < next && !is_ending_;) {
        if (context->IsCancelled()) return grpc::Status::CANCELLED;
        clock_.WaitUntil(ending_, &mu_, std::min(now + kLookForCaller, next));
      }
      if (is_ending_) return Ending();
    }
  }

  Verbs& admin_;
  storage::Clock& clock_;
  std::atomic<int> streams_ = 0;
  storage::Mutex mu_;
  storage::Condition ending_;
  bool is_ending_ ABSL_GUARDED_BY(mu_) = false;
};

AdminService::AdminService(Admin& admin, storage::Clock& clock)
    : service_(std::make_unique<Service>(admin, clock)) {}
AdminService::~AdminService() = default;

grpc::Service* AdminService::service() { return service_.get(); }
void AdminService::EndStreams() { service_->EndStreams(); }

}  // namespace gannet::sites
