// Admin is everything that an operator can ask of a site, in the messages of
// proto/admin.proto: one door for the command line, the gRPC service and the
// dashboard, so that each verb is written once. LocalAdmin does them on a data
// folder of this process, RemoteAdmin asks the agent that has it open; callers
// need not know which. admin_verbs.h lists the verbs.
//
// Errors are those that proto/admin.proto names, and kUnavailable: the agent
// does not answer. The verbs that run, stop and pause rounds return
// kFailedPrecondition if no process runs rounds here, and those that change,
// plan or verify the federation where the site is in none. Thread-safe.
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "proto/admin.pb.h"
#include "sites/admin/admin_verbs.h"

namespace gannet::sites {

// Takes each message of a streaming verb; false: no more are wanted, which is
// no error.
template <typename Message>
using Sink = std::function<bool(const Message&)>;

class Admin {
 public:
  virtual ~Admin() = default;

  GANNET_ADMIN_VERBS(GANNET_PURE_ASK, GANNET_PURE_LISTEN)
};

}  // namespace gannet::sites
