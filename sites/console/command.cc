#include "sites/console/command.h"

#include <CLI/CLI.hpp>
#include <utility>

namespace gannet::sites {
namespace {

template <typename T>
void AddValue(CLI::App& app, const std::string& name, T& to,
              const std::string& help, const ValueRules& rules) {
  CLI::Option* option = app.add_option(name, to, help);
  if (!rules.type.empty()) option->type_name(rules.type);
  if (rules.required) option->required();
  if (rules.positive) option->check(CLI::PositiveNumber);
  if (rules.most != 0) option->check(CLI::Range(rules.least, rules.most));
  if (!rules.one_of.empty()) option->check(CLI::IsMember(rules.one_of));
  if (rules.show_default) option->capture_default_str();
}

}  // namespace

Command::Command(const std::string& description)
    : whole_(std::make_unique<CLI::App>(description)),
      app_(*whole_),
      exit_code_(own_exit_code_) {}

Command::Command(CLI::App& app, ExitCode& exit_code)
    : app_(app), exit_code_(exit_code) {}

Command::~Command() = default;

Command& Command::Add(const std::string& name, const std::string& help) {
  app_.require_subcommand(1);
  commands_.push_back(std::unique_ptr<Command>(
      new Command(*app_.add_subcommand(name, help), exit_code_)));
  return *commands_.back();
}

void Command::Version(const std::string& text) {
  app_.set_version_flag("--version", text);
}

void Command::Footer(const std::string& text) { app_.footer(text); }

void Command::Example(const std::string& line, const std::string& more) {
  Footer("Example:\n  " + line + (more.empty() ? "" : "\n\n" + more));
}

void Command::Flag(const std::string& name, bool& to, const std::string& help) {
  app_.add_flag(name, to, help);
}

void Command::Value(const std::string& name, std::string& to,
                    const std::string& help, const ValueRules& rules) {
  AddValue(app_, name, to, help, rules);
}

void Command::Value(const std::string& name, std::vector<std::string>& to,
                    const std::string& help, const ValueRules& rules) {
  AddValue(app_, name, to, help, rules);
}

void Command::Value(const std::string& name, int64_t& to,
                    const std::string& help, const ValueRules& rules) {
  AddValue(app_, name, to, help, rules);
}

void Command::Value(const std::string& name, uint64_t& to,
                    const std::string& help, const ValueRules& rules) {
  AddValue(app_, name, to, help, rules);
}

void Command::Run(std::function<ExitCode()> run) {
  app_.callback([this, run = std::move(run)] { exit_code_ = run(); });
}

ExitCode Command::Parse(int argc, const char* const* argv) {
  exit_code_ = kDone;
  try {
    app_.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app_.exit(error) == 0 ? kDone : kWrongUsage;
  }
  return exit_code_;
}

}  // namespace gannet::sites
