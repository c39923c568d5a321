#include "sites/agent/admin_calls.h"

#include "sites/admin/admin_verbs.h"

namespace gannet::sites {

AdminCalls::AdminCalls() {
  storage::MutexLock lock(&mu_);
#define GANNET_VERB(Verb, ...) counts_[#Verb] = {};
  GANNET_ADMIN_VERBS(GANNET_VERB, GANNET_VERB)
#undef GANNET_VERB
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
