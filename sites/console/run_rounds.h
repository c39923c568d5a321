// Runs rounds for a person: with progress while they run, Ctrl-C that is safe,
// and the result at the end. Shared by `gannet crawl` and `gannet round`.
#pragma once

#include "sites/console/ask_site.h"
#include "sites/console/exit_code.h"
#include "sites/console/site_flags.h"

namespace gannet::sites {

// If nothing is left in the end, the archive file being written is finished.
// Prints the result on standard output; with --json one object (DESIGN, section
// 10). kInterrupted after Ctrl-C: the state is safe, and a second Ctrl-C ends
// the process at once, which is as safe and loses a moment's work.
//
// If an agent has the site, it runs them, by its own configuration; then Ctrl-C
// stops watching, not the rounds.
// kInvalidArgument if flags were given that only count where no agent runs the
// rounds; RunRounds() asks it, too.
absl::Status CheckFlags(const SiteFlags& flags, ReachedSite& reached);

ExitCode RunRounds(const ChosenSite& site, const SiteFlags& flags,
                   ReachedSite& reached);

}  // namespace gannet::sites
