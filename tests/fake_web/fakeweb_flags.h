// The flags of gannet-fakeweb that several of its commands share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tests/fake_web/truth.h"
#include "tests/fake_web/web_options.h"

namespace gannet::fake_web {

// Adds a flag that takes "20ms", "1.5s", "2h".
CLI::Option* AddDuration(CLI::App* app, const std::string& name,
                         absl::Duration* value, const std::string& help);

// Which web: --seed, --hosts, --nasty, ... Filled in when the line is parsed.
void AddWebFlags(CLI::App* app, WebOptions* options);

// What a polite crawler does: --agent, --max-url-length, ...
void AddRuleFlags(CLI::App* app, CrawlRules* rules);

}  // namespace gannet::fake_web
