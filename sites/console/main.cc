// The binary `gannet`: one command line for operators and admins.
#include <signal.h>

#include <CLI/CLI.hpp>

#include "sites/console/archive_command.h"
#include "sites/console/block_command.h"
#include "sites/console/check_command.h"
#include "sites/console/crawl_command.h"
#include "sites/console/exit_code.h"
#include "sites/console/export_command.h"
#include "sites/console/forget_command.h"
#include "sites/console/hosts_command.h"
#include "sites/console/init_command.h"
#include "sites/console/inject_command.h"
#include "sites/console/page_command.h"
#include "sites/console/round_command.h"
#include "sites/console/rounds_command.h"
#include "sites/console/status_command.h"
#include "sites/console/verify_command.h"

int main(int argc, char** argv) {
  // A reader that goes away (`| head`, a peer) is an error of the write, which
  // ends quietly; not a signal.
  signal(SIGPIPE, SIG_IGN);
  CLI::App app(
      "Gannet, a geo-distributed, multi-site, round-based web crawler");
  app.set_version_flag("--version", std::string("gannet ") + GANNET_VERSION);
  app.require_subcommand(1);
  app.footer(
      "'gannet COMMAND --help' tells more of a command, with an example.");

  gannet::sites::ExitCode exit_code = gannet::sites::kDone;
  gannet::sites::AddCrawlCommand(app, exit_code);
  gannet::sites::AddInitCommand(app, exit_code);
  gannet::sites::AddInjectCommand(app, exit_code);
  gannet::sites::AddRoundCommand(app, exit_code);
  gannet::sites::AddStatusCommand(app, exit_code);
  gannet::sites::AddRoundsCommand(app, exit_code);
  gannet::sites::AddHostsCommand(app, exit_code);
  gannet::sites::AddPageCommand(app, exit_code);
  gannet::sites::AddExportCommand(app, exit_code);
  gannet::sites::AddCheckCommand(app, exit_code);
  gannet::sites::AddBlockCommand(app, exit_code);
  gannet::sites::AddForgetCommand(app, exit_code);
  gannet::sites::AddArchiveCommand(app, exit_code);
  gannet::sites::AddVerifyCommand(app, exit_code);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? gannet::sites::kDone
                                : gannet::sites::kWrongUsage;
  }
  return exit_code;
}
