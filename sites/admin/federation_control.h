// FederationControl is a site's part in the federation, as an operator sees it:
// the agent's. LocalAdmin asks it. Thread-safe.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "proto/admin.pb.h"
#include "sites/admin/admin_verbs.h"

namespace gannet::sites {

class FederationControl {
 public:
  virtual ~FederationControl() = default;

  // Epoch, and the sites' names for their numbers. Cheap: asked with every
  // status.
  virtual void AddTo(admin::Status& status) = 0;
  // All sites are to block the domain, or no longer (kNotFound: they do not).
  virtual absl::Status Block(std::string_view domain, bool undo) = 0;
  // Seeds were added here; those that other sites own are handed over.
  virtual void OnInjected() = 0;

  // The verbs of Admin with these names.
  GANNET_FEDERATION_VERBS(GANNET_PURE_ASK, GANNET_PURE_LISTEN)
};

}  // namespace gannet::sites
