// What the clients of admin_hammer ask: every verb of the admin API that does
// not harm a site that crawls. Forget and ReleaseArchiveFile are left out,
// because they take something away; the soak test itself makes a backup.
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
  std::vector<std::string> urls;  // Other URLs that it knows, for good.

  const std::string& AnyUrl() {
    return urls.empty() ? seed : urls[random() % urls.size()];
  }
};

struct Question {
  const char* verb;
  int weight;  // How often it is asked, compared with others.
  // Asks once. Errors that a correct agent may give are OK too; a wrong answer
  // is kInternal.
  absl::Status (*ask)(Admin&, Asker&);
};

// What all clients ask at any time; and what the operator does in this order,
// so that rounds that were stopped or paused go on with the next step.
const std::vector<Question>& Questions();
const std::vector<Question>& OperatorsSteps();

}  // namespace gannet::sites
