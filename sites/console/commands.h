// Every command of `gannet`, in the order of its help. Each adds itself to the
// one that it belongs to, and is in the file of its name.
#pragma once

#include "sites/console/command.h"

namespace gannet::sites {

// clang-format off
#define GANNET_COMMANDS(COMMAND)                                         \
  COMMAND(Crawl)      /* Make a site or go on, until nothing is left. */ \
  COMMAND(Init)       /* Write a commented site.yaml. */                 \
  COMMAND(Inject)     /* Add seeds. */                                   \
  COMMAND(Scope)      /* How far the crawl goes from its seeds. */      \
  COMMAND(Round)      /* Run rounds now. */                              \
  COMMAND(Serve)      /* The site as a service. */                       \
  COMMAND(Status)     /* What the site knows, and what it is doing. */   \
  COMMAND(Rounds)     /* The reports of the last rounds. */              \
  COMMAND(Hosts)      /* Which hosts, how many pages, who rests. */      \
  COMMAND(Page)       /* One page: its record and its content. */        \
  COMMAND(Export)     /* Take data out. */                               \
  COMMAND(Check)      /* What would be done, and why. */                 \
  COMMAND(Block)      /* A webmaster complained. */                      \
  COMMAND(Forget)     /* A page is no longer known. */                   \
  COMMAND(Archive)    /* Finished WARC files. */                         \
  COMMAND(Verify)     /* Are the invariants of the data folder true? */  \
  COMMAND(Backup)     /* A copy of a site, also of one that crawls. */   \
  COMMAND(Restore)    /* A site made from a copy (backup_command.cc). */ \
  COMMAND(Config)     /* The configuration in force. */                  \
  COMMAND(Federation) /* The federation that the site is in. */
// clang-format on

using AddCommand = void(Command& parent);

#define GANNET_DECLARE_COMMAND(Name) AddCommand Add##Name##Command;
GANNET_COMMANDS(GANNET_DECLARE_COMMAND)
#undef GANNET_DECLARE_COMMAND

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
