// Command is a command of the command line, or the whole of it: its flags and
// values, its sub-commands, and what it runs. It hides CLI11, a library of
// headers that costs every file that includes it eight seconds to compile:
// command.cc is the only one. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sites/console/exit_code.h"

namespace CLI {
class App;
}  // namespace CLI

namespace gannet::sites {

// What is asked of a value, and how --help shows it.
struct ValueRules {
  std::string type = "";  // The word after the flag; empty: TEXT, INT, UINT.
  bool required = false;
  bool show_default = false;
  bool positive = false;
  uint64_t least = 0, most = 0;  // Of a uint64_t; a `most` of 0: no bounds.
  std::vector<std::string> one_of = {};  // Empty: any.
};

class Command {
 public:
  // The whole command line.
  explicit Command(const std::string& description);
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  // Adds a sub-command, which lives as long as this; from now on one of them
  // has to be chosen.
  Command& Add(const std::string& name, const std::string& help);

  // Adds --version, which prints `text`.
  void Version(const std::string& text);
  // What --help ends with: any text; or a line to try, and what more there is
  // to say.
  void Footer(const std::string& text);
  void Example(const std::string& line, const std::string& more = "");

  // What is read goes to `to`, which must outlive Parse(): let Run() hold it. A
  // value whose name has no dashes is told by its place, not by a flag.
  void Flag(const std::string& name, bool& to, const std::string& help);
  void Value(const std::string& name, std::string& to, const std::string& help,
             const ValueRules& rules = {});
  void Value(const std::string& name, std::vector<std::string>& to,
             const std::string& help, const ValueRules& rules = {});
  void Value(const std::string& name, int64_t& to, const std::string& help,
             const ValueRules& rules = {});
  void Value(const std::string& name, uint64_t& to, const std::string& help,
             const ValueRules& rules = {});

  // Called when this command is chosen and all flags were read.
  void Run(std::function<ExitCode()> run);

  // Of the whole command line: reads it and runs the command that it chose.
  // What is wrong with it is said on standard error, and is kWrongUsage.
  ExitCode Parse(int argc, const char* const* argv);

 private:
  Command(CLI::App& app, ExitCode& exit_code);

  const std::unique_ptr<CLI::App> whole_;  // None in a sub-command.
  CLI::App& app_;
  ExitCode own_exit_code_ = kDone;
  ExitCode& exit_code_;  // That of the whole.
  std::vector<std::unique_ptr<Command>> commands_;
};

}  // namespace gannet::sites
