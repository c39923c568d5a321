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
  GANNET_ROUNDS_VERBS(GANNET_PURE_ASK, GANNET_PURE_LISTEN)
};

}  // namespace gannet::sites
