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
      "A site is one crawler with a data folder of its own. It crawls in\n"
      "rounds: each chooses pages that are ready, fetches them, and takes in\n"
      "their links. Several sites that share the web between them are a\n"
      "federation. 'gannet COMMAND --help' explains a command, with an\n"
      "example.");

#define GANNET_ADD_COMMAND(Name) gannet::sites::Add##Name##Command(line);
  GANNET_COMMANDS(GANNET_ADD_COMMAND)
#undef GANNET_ADD_COMMAND
  return line.Parse(argc, argv);
}
