// What `gannet verify` and `gannet federation verify` have in common: the
// flags, the question, and how the answer is shown.
#pragma once

#include "sites/admin/admin.h"
#include "sites/console/command.h"

namespace gannet::sites {

// Makes `command` one that asks `verb`. Exit codes: kFailed if an invariant is
// broken, kNotReachable if none is, but a site did not answer.
void MakeVerification(Command& command,
                      absl::Status (Admin::*verb)(const admin::VerifyRequest&,
                                                  admin::Verification&));

}  // namespace gannet::sites
