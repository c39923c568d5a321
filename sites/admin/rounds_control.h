// RoundsControl is the part of this process that runs a site's rounds: the
// agent by its schedule, or `gannet crawl` in the foreground. LocalAdmin asks
// it for what the crawl DB does not know: what is going on right now.
// Thread-safe.
#pragma once

#include "absl/status/status.h"
#include "proto/admin.pb.h"
#include "sites/admin/admin.h"

namespace gannet::sites {

class RoundsControl {
 public:
  virtual ~RoundsControl() = default;

  // Cheap: asked with every status.
  virtual admin::AgentStatus Status() = 0;

  // The verbs of Admin with these names.
  virtual absl::Status Run(const admin::RunRoundsRequest& request,
                           const Sink<admin::RunProgress>& sink) = 0;
  virtual absl::Status Stop(admin::RoundsState& reply) = 0;
  virtual absl::Status Pause(admin::RoundsState& reply) = 0;
  virtual absl::Status Resume(admin::RoundsState& reply) = 0;
  virtual absl::Status Reload(admin::Reloaded& reply) = 0;
};

}  // namespace gannet::sites
