// The binary `gannet`: one command line for operators and admins.
#include <signal.h>

#include <string>

#include "sites/console/archive_command.h"
#include "sites/console/backup_command.h"
#include "sites/console/block_command.h"
#include "sites/console/check_command.h"
#include "sites/console/command.h"
#include "sites/console/config_command.h"
#include "sites/console/crawl_command.h"
#include "sites/console/export_command.h"
#include "sites/console/federation_command.h"
#include "sites/console/forget_command.h"
#include "sites/console/hosts_command.h"
#include "sites/console/init_command.h"
#include "sites/console/inject_command.h"
#include "sites/console/page_command.h"
#include "sites/console/round_command.h"
#include "sites/console/rounds_command.h"
#include "sites/console/serve_command.h"
#include "sites/console/status_command.h"
#include "sites/console/verify_command.h"

int main(int argc, char** argv) {
  // A reader that goes away (`| head`, a peer) is an error of the write, which
  // ends quietly; not a signal.
  signal(SIGPIPE, SIG_IGN);
  gannet::sites::Command line(
      "Gannet, a geo-distributed, multi-site, round-based web crawler");
  line.Version(std::string("gannet ") + GANNET_VERSION);
  line.Footer(
      "A site is one crawler with a data folder of its own. It crawls in\n"
      "rounds: each chooses pages that are ready, fetches them, and takes in\n"
      "their links. Several sites that share the web between them are a\n"
      "federation. 'gannet COMMAND --help' explains a command, with an\n"
      "example.");

  gannet::sites::AddCrawlCommand(line);
  gannet::sites::AddInitCommand(line);
  gannet::sites::AddInjectCommand(line);
  gannet::sites::AddRoundCommand(line);
  gannet::sites::AddServeCommand(line);
  gannet::sites::AddStatusCommand(line);
  gannet::sites::AddRoundsCommand(line);
  gannet::sites::AddHostsCommand(line);
  gannet::sites::AddPageCommand(line);
  gannet::sites::AddExportCommand(line);
  gannet::sites::AddCheckCommand(line);
  gannet::sites::AddBlockCommand(line);
  gannet::sites::AddForgetCommand(line);
  gannet::sites::AddArchiveCommand(line);
  gannet::sites::AddVerifyCommand(line);
  gannet::sites::AddBackupCommand(line);
  gannet::sites::AddRestoreCommand(line);
  gannet::sites::AddConfigCommand(line);
  gannet::sites::AddFederationCommand(line);
  return line.Parse(argc, argv);
}
