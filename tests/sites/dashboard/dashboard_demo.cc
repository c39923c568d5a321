// A dashboard of a simulated site: prints its port, and obeys lines on standard
// input (demo_site.h) until that ends. For browser tests, and to look at the
// page by hand:
//   dashboard_demo [ADDRESS] [--fresh] [--federation]
//     --fresh       a new site, without history
//     --federation  one of several; lines "federation WORD" change it
//                   (demo_federation.h)
#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string>

#include "absl/time/clock.h"
#include "sites/dashboard/dashboard.h"
#include "tests/sites/dashboard/demo_federation.h"
#include "tests/sites/dashboard/demo_site.h"

int main(int argc, char** argv) {
  using namespace gannet::sites;
  DashboardSettings settings;
  settings.address = "127.0.0.1:0";
  bool fresh = false;
  DemoFederation federation(absl::Now());
  settings.federation = [&] { return federation.Json(absl::Now()); };
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--fresh") {
      fresh = true;
    } else if (argument == "--federation") {
      federation.Do("busy", absl::Now());
    } else {
      settings.address = argument;
    }
  }
  DemoSite site(absl::Now());
  // /metrics shows the federation as it is at the start.
  if (const std::string json = federation.Json(absl::Now()); !json.empty()) {
    google::protobuf::util::JsonParseOptions options;
    options.ignore_unknown_fields = true;
    site.admin().Change([&](ScriptedSite::Script& script) {
      (void)google::protobuf::util::JsonStringToMessage(
          json, &script.federation, options);
      for (const auto& other : script.federation.federation().sites()) {
        if (other.outbox() == 0) continue;
        (*script.status.mutable_outbox())[other.name()] = other.outbox();
      }
    });
  }
  if (fresh) {
    site.Do("empty", absl::Now());
  } else {
    settings.history = site.History();
  }
  auto dashboard = DashboardServer::Start(settings, site.admin(),
                                          gannet::storage::SystemClock());
  if (!dashboard.ok()) {
    fmt::print(stderr, "error: {}\n",
               std::string(dashboard.status().message()));
    return 1;
  }
  fmt::print("{}\n", (*dashboard)->port());
  std::fflush(stdout);
  std::string line;
  while (true) {
    pollfd input = {STDIN_FILENO, POLLIN, 0};
    if (poll(&input, 1, /*timeout_ms=*/100) > 0) {
      char c = 0;
      if (read(STDIN_FILENO, &c, 1) <= 0) return 0;
      if (c != '\n') {
        line += c;
        continue;
      }
      // Says when a command is done, so that a driver can wait for it.
      const std::string prefix = "federation ";
      const bool known =
          line.starts_with(prefix)
              ? federation.Do(line.substr(prefix.size()), absl::Now())
              : site.Do(line, absl::Now());
      fmt::print("{}\n", known ? "done" : "unknown");
      std::fflush(stdout);
      line.clear();
    }
    site.Advance(absl::Now());
  }
}
