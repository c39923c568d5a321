#include "sites/agent/admin_calls.h"

#include <google/protobuf/descriptor.h>

#include "proto/admin.pb.h"

namespace gannet::sites {

AdminCalls::AdminCalls() {
  const auto* file = admin::GetStatusRequest::descriptor()->file();
  const auto* service = file->FindServiceByName("Admin");
  storage::MutexLock lock(&mu_);
  for (int i = 0; i < service->method_count(); ++i) {
    counts_[service->method(i)->name()] = {};
  }
}

void AdminCalls::Count(std::string_view method, bool failed) {
  storage::MutexLock lock(&mu_);
  const auto it = counts_.find(method);
  if (it == counts_.end()) return;
  ++it->second.requests;
  if (failed) ++it->second.failures;
}

std::map<std::string, AdminCalls::Counts> AdminCalls::counts() const {
  storage::MutexLock lock(&mu_);
  return {counts_.begin(), counts_.end()};
}

}  // namespace gannet::sites
