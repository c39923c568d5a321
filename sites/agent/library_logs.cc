#include "sites/agent/library_logs.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>

#include <string>

#include "storage/mutex.h"

namespace gannet::sites {
namespace {

storage::Mutex mu;
Log* current ABSL_GUARDED_BY(mu) = nullptr;

// Their errors are a caller's faults, or a broken network's: not the agent's.
void Pass(LogLevel level, const char* library, const std::string& message) {
  storage::MutexLock lock(&mu);
  if (current != nullptr) {
    current->Write(level, "library", {{"name", library}, {"message", message}});
  }
}

void OnGrpc(gpr_log_func_args* args) {
  Pass(LogLevel::kDebug, "grpc", args->message);
}

void OnProtobuf(google::protobuf::LogLevel level, const char*, int,
                const std::string& message) {
  Pass(level == google::protobuf::LOGLEVEL_FATAL ? LogLevel::kError
                                                 : LogLevel::kDebug,
       "protobuf", message);
}

}  // namespace

LibraryLogs::LibraryLogs(Log& log) {
  {
    storage::MutexLock lock(&mu);
    current = &log;
  }
  gpr_set_log_function(OnGrpc);
  google::protobuf::SetLogHandler(OnProtobuf);
}

LibraryLogs::~LibraryLogs() {
  storage::MutexLock lock(&mu);
  current = nullptr;
}

}  // namespace gannet::sites
