// ScriptedRunner is a real RoundRunner whose rounds are a script: every second
// time that it checks for work there is a round, which ends at once. So
// requests for rounds soon end, unless they wait for a page that is due in an
// hour. For tests of requests, not of rounds. Thread-safe.
#pragma once

#include <unistd.h>

#include <string>

#include "sites/agent/log.h"
#include "sites/agent/round_runner.h"
#include "tests/sites/agent/scripted_rounds.h"

namespace gannet::sites {

class ScriptedRunner {
 public:
  explicit ScriptedRunner(const std::string& data_folder)
      : runner_(Settings(data_folder), rounds_, log_, storage::SystemClock()) {
    rounds_.due_ms = absl::ToUnixMillis(absl::Now() + absl::Hours(1));
    rounds_.always = [this](const std::atomic<bool>&) {
      return rounds_.looks % 2 == 1;
    };
    runner_.Start();
  }

  RoundsControl& control() { return runner_; }

 private:
  static RoundRunnerSettings Settings(const std::string& data_folder) {
    RoundRunnerSettings settings;
    settings.data_folder = data_folder;
    settings.schedule = Schedule::Parse("by-hand").value();
    settings.progress_every = absl::Milliseconds(1);
    settings.reload = [](admin::Reloaded& reply) {
      reply.add_changed("crawl.width");
      return absl::OkStatus();
    };
    return settings;
  }

  // Not read by any test.
  Log log_{{.level = LogLevel::kError},
           STDERR_FILENO,
           false,
           storage::SystemClock()};
  ScriptedRounds rounds_;
  RoundRunner runner_;
};

}  // namespace gannet::sites
