// What the clients of admin_hammer ask: every verb of the admin API that leaves
// a site that crawls as good as it was. Forget and ReleaseArchiveFile take
// something away, so nobody asks them here; a backup is the soak test's own.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "sites/admin/admin.h"

namespace gannet::sites {

// A client, and what it has learnt.
struct Asker {
  std::string seed;  // A URL that the site knows.
  std::mt19937 random;
  std::vector<std::string> urls;  // Others; they are never forgotten.

  const std::string& AnyUrl() {
    return urls.empty() ? seed : urls[random() % urls.size()];
  }
};

struct Question {
  const char* verb;
  int weight;  // How often it is asked, compared with others.
  // OK also for what a good agent may say instead of an answer; kInternal for
  // an answer that is wrong.
  absl::Status (*ask)(Admin&, Asker&);
};

// What anybody asks at any time, and what one operator does after the other:
// rounds that are stopped or paused are let go on by the next.
const std::vector<Question>& Questions();
const std::vector<Question>& OperatorsSteps();

}  // namespace gannet::sites
