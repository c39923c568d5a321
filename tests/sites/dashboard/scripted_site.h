// ScriptedSite is a site that answers what a test tells it to, and counts how
// often it is asked. Verbs that the dashboard must not use return
// kUnimplemented. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "storage/mutex.h"
#include "tests/sites/admin/one_answer_admin.h"

namespace gannet::sites {

class ScriptedSite : public OneAnswerAdmin {
 public:
  struct Script {
    absl::Status all_verbs;  // If not OK, the answer of every verb.
    admin::Status status;
    std::vector<std::string> reports;           // Oldest first.
    std::map<std::string, admin::Hosts> hosts;  // By `by`.
    admin::Frontier frontier;
    admin::Federation federation;
    std::map<std::string, admin::Page> pages;  // By URL.
    std::map<std::string, int> asked;          // By verb.
  };
  // Runs `change` while no verb runs.
  void Change(const std::function<void(Script&)>& change)
      ABSL_LOCKS_EXCLUDED(mu_) {
    storage::MutexLock lock(&mu_);
    change(script_);
  }
  int Asked(const std::string& verb) ABSL_LOCKS_EXCLUDED(mu_) {
    storage::MutexLock lock(&mu_);
    return script_.asked[verb];
  }

  absl::Status GetStatus(const admin::GetStatusRequest&,
                         admin::Status& reply) override {
    return Reply("GetStatus", [&] { reply = script_.status; });
  }
  absl::Status ListRounds(const admin::ListRoundsRequest& request,
                          admin::RoundReports& reply) override {
    return Reply("ListRounds", [&] {
      const size_t most = request.most() == 0 ? 10 : request.most();
      const size_t all = script_.reports.size();
      for (size_t i = all > most ? all - most : 0; i < all; ++i) {
        reply.add_reports(script_.reports[i]);
      }
    });
  }
  absl::Status ListHosts(const admin::ListHostsRequest& request,
                         admin::Hosts& reply) override {
    return Reply("ListHosts", [&] { reply = script_.hosts[request.by()]; });
  }
  absl::Status GetFederation(const admin::GetFederationRequest&,
                             admin::Federation& reply) override {
    return Reply("GetFederation", [&] { reply = script_.federation; });
  }
  absl::Status GetFrontier(const admin::GetFrontierRequest&,
                           admin::Frontier& reply) override {
    return Reply("GetFrontier", [&] { reply = script_.frontier; });
  }
  absl::Status GetPage(const admin::GetPageRequest& request,
                       admin::Page& reply) override {
    bool known = false;
    absl::Status answer = Reply("GetPage", [&] {
      const auto page = script_.pages.find(request.url());
      known = page != script_.pages.end();
      if (known) reply = page->second;
      if (!request.links()) reply.clear_outlinks();
    });
    if (answer.ok() && !known) {
      return absl::NotFoundError("no page " + request.url() + " is known");
    }
    return answer;
  }

 protected:
  absl::Status Answer() override {
    return absl::UnimplementedError("not a dashboard's verb");
  }

 private:
  // Clang's thread-safety analysis does not follow a lock into a lambda.
  template <typename Fill>
  absl::Status Reply(const char* verb,
                     const Fill& fill) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    storage::MutexLock lock(&mu_);
    ++script_.asked[verb];
    if (script_.all_verbs.ok()) fill();
    return script_.all_verbs;
  }

  storage::Mutex mu_;
  Script script_;
};

}  // namespace gannet::sites
