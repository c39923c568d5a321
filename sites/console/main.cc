// The binary `gannet`: one command line for operators and admins.
#include <CLI/CLI.hpp>

#include "sites/console/exit_code.h"
#include "sites/console/verify_command.h"

int main(int argc, char** argv) {
  CLI::App app(
      "Gannet, a geo-distributed, multi-site, round-based web crawler");
  app.set_version_flag("--version", std::string("gannet ") + GANNET_VERSION);
  app.require_subcommand(1);
  app.footer(
      "'gannet COMMAND --help' tells more of a command, with an example.");

  gannet::sites::ExitCode exit_code = gannet::sites::kDone;
  gannet::sites::AddVerifyCommand(app, exit_code);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? gannet::sites::kDone
                                : gannet::sites::kWrongUsage;
  }
  return exit_code;
}
