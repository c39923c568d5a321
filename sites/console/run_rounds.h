// Runs rounds for a person: with progress while they run, Ctrl-C that is safe,
// and the result at the end. Shared by `gannet crawl` and `gannet round`.
#pragma once

#include "sites/console/exit_code.h"
#include "sites/console/site_flags.h"
#include "storage/site_store/site_store.h"

namespace gannet::sites {

// Prints the result on standard output; with --json one object (DESIGN, section
// 10). kInterrupted after Ctrl-C: the state is safe, and a second Ctrl-C ends
// the process at once, which is as safe and loses a moment's work.
ExitCode RunRounds(const ChosenSite& site, const SiteFlags& flags,
                   storage::SiteStore& store);

}  // namespace gannet::sites
