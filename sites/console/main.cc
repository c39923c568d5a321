// The binary `gannet`: one command line for operators and admins.
#include <signal.h>

#include <string>

#include "sites/console/commands.h"

int main(int argc, char** argv) {
  // A reader that goes away (`| head`, a peer) is an error of the write, which
  // ends quietly; not a signal.
  signal(SIGPIPE, SIG_IGN);
  gannet::sites::Command line(
      "Gannet, a geo-distributed, multi-site, round-based web crawler");
  line.Version(std::string("gannet ") + GANNET_VERSION);
  line.Footer(
      "'gannet COMMAND --help' tells more of a command, with an example.");

  using namespace gannet::sites;
  for (AddCommand* add :
       {AddCrawlCommand, AddInitCommand, AddInjectCommand, AddRoundCommand,
        AddServeCommand, AddStatusCommand, AddRoundsCommand, AddHostsCommand,
        AddPageCommand, AddExportCommand, AddCheckCommand, AddBlockCommand,
        AddForgetCommand, AddArchiveCommand, AddVerifyCommand, AddBackupCommand,
        AddRestoreCommand, AddConfigCommand, AddFederationCommand}) {
    add(line);
  }
  return line.Parse(argc, argv);
}
