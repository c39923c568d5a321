// What `gannet verify` and `gannet federation verify` have in common: the
// question, and how the answer is shown.
#pragma once

#include "sites/admin/admin.h"
#include "sites/console/exit_code.h"
#include "sites/console/site_flags.h"

namespace gannet::sites {

// kFailed if an invariant is broken.
ExitCode AskVerification(const SiteFlags& flags,
                         absl::Status (Admin::*verb)(
                             const admin::VerifyRequest&, admin::Verification&),
                         bool full);

}  // namespace gannet::sites
