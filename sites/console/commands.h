// Every command of `gannet`, in the order of its help, which main.cc keeps.
// Each adds itself to the one that it belongs to, and is in the file of its
// name.
#pragma once

#include "sites/console/command.h"

namespace gannet::sites {

using AddCommand = void(Command& parent);

AddCommand AddCrawlCommand;    // Make a site or go on, until nothing is left.
AddCommand AddInitCommand;     // Write a commented site.yaml.
AddCommand AddInjectCommand;   // Add seeds.
AddCommand AddRoundCommand;    // Run rounds now.
AddCommand AddServeCommand;    // The site as a service.
AddCommand AddStatusCommand;   // What the site knows, and what it is doing.
AddCommand AddRoundsCommand;   // The reports of the last rounds.
AddCommand AddHostsCommand;    // Which hosts, how many pages, who rests.
AddCommand AddPageCommand;     // One page: its record and its content.
AddCommand AddExportCommand;   // Take data out.
AddCommand AddCheckCommand;    // What would be done, and why.
AddCommand AddBlockCommand;    // A webmaster complained.
AddCommand AddForgetCommand;   // A page is no longer known.
AddCommand AddArchiveCommand;  // Finished WARC files.
AddCommand AddVerifyCommand;   // Are the invariants of the data folder true?
AddCommand AddBackupCommand;   // A copy of a site, also of one that crawls.
AddCommand AddRestoreCommand;  // A site made from a copy (backup_command.cc).
AddCommand AddConfigCommand;   // The configuration in force.
AddCommand AddFederationCommand;

// Of `check`.
AddCommand AddCheckPageCommand;    // Fetches one page, and stores nothing.
AddCommand AddCheckRobotsCommand;  // May an agent fetch it, by which line?

// Of `federation`.
AddCommand AddFederationStatusCommand;   // How the federation is doing.
AddCommand AddFederationPlanCommand;     // What a change would move.
AddCommand AddFederationChangeCommands;  // What changes the map.
AddCommand AddFederationVerifyCommand;   // The invariants of all sites.
AddCommand AddFederationCertsCommand;    // Of sites and administrators.

}  // namespace gannet::sites
