// ScriptedRunner is a real RoundRunner whose rounds are a script: every second
// time it looks there is a round, which ends at once. So whoever asks for
// rounds is soon done, unless they wait for what is due in an hour. For tests
// of what may be asked, not of rounds. Thread-safe.
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

  // Nobody reads it; errors would be the caller's.
  Log log_{{.level = LogLevel::kError},
           STDERR_FILENO,
           false,
           storage::SystemClock()};
  ScriptedRounds rounds_;
  RoundRunner runner_;
};

}  // namespace gannet::sites
