// How a command asks a site: it opens the data folder, or finds the agent that
// has it open, calls one verb of Admin, and prints the answer, as text for
// people or as JSON. Most commands are one such question.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "sites/admin/admin.h"
#include "sites/admin/message_json.h"
#include "sites/console/exit_code.h"
#include "sites/console/open_site.h"
#include "sites/console/site_flags.h"

namespace gannet::sites {

// A site that can be asked, as long as this lives. Not thread-safe.
class ReachedSite {
 public:
  // Errors are those of OpenSite(), kAborted if another process still has the
  // folder after a while; kUnavailable if an agent has the folder and does not
  // answer.
  static absl::StatusOr<std::unique_ptr<ReachedSite>> Reach(
      const ChosenSite& site, IfMissing if_missing = IfMissing::kSayWhatToDo);

  Admin& admin() { return *admin_; }
  // Null if an agent has it.
  storage::SiteStore* store() { return store_.get(); }

 private:
  std::unique_ptr<storage::SiteStore> store_;
  std::unique_ptr<Admin> admin_;
};

// Report(), of an answer: that there is no such page, host or file is no wrong
// usage.
ExitCode ReportAnswer(const absl::Status& status);

// Prints it as text or as JSON.
ExitCode Print(const SiteFlags& flags,
               const std::function<nlohmann::json()>& for_machines,
               const std::function<std::string()>& for_people);

// Asks with `request` and prints the reply.
template <typename Request, typename Reply>
ExitCode AskSite(
    const SiteFlags& flags, absl::Status (Admin::*verb)(const Request&, Reply&),
    const Request& request,
    const std::function<std::string(const Reply&)>& for_people,
    const std::function<nlohmann::json(const Reply&)>& for_machines =
        [](const Reply& reply) { return MessageJson(reply); }) {
  const absl::StatusOr<ChosenSite> site = flags.Site();
  if (!site.ok()) return Report(site.status());
  const auto reached = ReachedSite::Reach(*site);
  if (!reached.ok()) return Report(reached.status());
  Reply reply;
  const absl::Status asked = ((*reached)->admin().*verb)(request, reply);
  if (!asked.ok()) return ReportAnswer(asked);
  return Print(
      flags, [&] { return for_machines(reply); },
      [&] { return for_people(reply); });
}

}  // namespace gannet::sites
