#include "sites/agent/call_watcher.h"

#include <fmt/format.h>
#include <grpcpp/server_context.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "sites/admin/admin_verbs.h"
#include "sites/admin/utf8.h"

namespace gannet::sites {
namespace {

constexpr size_t kMostMessageBytes = 2000;
constexpr std::string_view kCut = " [...] ";

namespace grpcx = grpc::experimental;

constexpr std::string_view kPrefix = "/gannet.admin.Admin/";

bool Changes(std::string_view method) {
#define GANNET_VERB(Verb, Request, Reply, effect, ...) \
  if (method == #Verb) return Effect::effect == Effect::kChanges;
  GANNET_ADMIN_VERBS(GANNET_VERB, GANNET_VERB)
#undef GANNET_VERB
  return false;
}

// It travels in a trailer, of which gRPC takes 8 KB. A message that quotes a
// huge request says at its end what is wrong with it.
std::string WithoutItsMiddle(const std::string& message) {
  if (message.size() <= kMostMessageBytes) return message;
  const size_t half = kMostMessageBytes / 2 - kCut.size();
  return fmt::format("{}{}{}", message.substr(0, half), kCut,
                     message.substr(message.size() - half));
}

class Watcher : public grpcx::Interceptor {
 public:
  Watcher(std::string method, AdminCalls& calls, Log& log,
          storage::Clock& clock)
      : method_(std::move(method)),
        clock_(clock),
        started_(clock.SteadyNow()),
        calls_(calls),
        log_(log) {}

  void Intercept(grpcx::InterceptorBatchMethods* batch) override {
    if (batch->QueryInterceptionHookPoint(
            grpcx::InterceptionHookPoints::PRE_SEND_STATUS)) {
      grpc::Status status = batch->GetSendStatus();
      if (MakeReadable(status)) batch->ModifySendStatus(status);
      Note(status);
    }
    batch->Proceed();
  }

 private:
  // True if it was changed.
  bool MakeReadable(grpc::Status& status) const {
    if (status.ok()) return false;
    if (status.error_code() == grpc::StatusCode::INTERNAL &&
        status.error_message().empty()) {
      status = grpc::Status(
          grpc::StatusCode::INVALID_ARGUMENT,
          fmt::format("this is not a request of {}: not the message that "
                      "proto/admin.proto names, or text that is not UTF-8",
                      method_));
      return true;
    }
    const std::string text = Utf8(WithoutItsMiddle(status.error_message()));
    if (text == status.error_message()) return false;
    status = grpc::Status(status.error_code(), text);
    return true;
  }

  void Note(const grpc::Status& status) {
    // A caller that stops watching is not a failure.
    const bool failed =
        !status.ok() && status.error_code() != grpc::StatusCode::CANCELLED;
    calls_.Count(method_, failed);
    const LogLevel level =
        Changes(method_) ? LogLevel::kInfo : LogLevel::kDebug;
    if (!log_.Shows(level)) return;
    log_.Write(
        level, "admin_call",
        {{"method", method_},
         {"code", absl::StatusCodeToString(
                      static_cast<absl::StatusCode>(status.error_code()))},
         {"seconds", absl::ToDoubleSeconds(clock_.SteadyNow() - started_)},
         {"message", status.error_message()}});
  }

  const std::string method_;
  storage::Clock& clock_;
  const absl::Time started_;
  AdminCalls& calls_;
  Log& log_;
};

}  // namespace

grpcx::Interceptor* CallWatcher::CreateServerInterceptor(
    grpcx::ServerRpcInfo* info) {
  const std::string_view method =
      info->method() == nullptr ? "" : info->method();
  if (!method.starts_with(kPrefix)) return nullptr;
  return new Watcher(std::string(method.substr(kPrefix.size())), calls_, log_,
                     clock_);
}

}  // namespace gannet::sites
