// RemoteAdmin asks the agent that has a site open, over gRPC: on the socket in
// the data folder, or over TCP with an administrator's certificate. Errors are
// the agent's own; kUnavailable says that it does not answer, and what to do.
// Thread-safe. gRPC's headers, slow to compile, stay in remote_admin.cc.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "sites/admin/admin.h"
#include "sites/config/site_config.h"

namespace gannet::sites {

struct RemoteAdminSettings {
  // An answer takes no longer, or the agent is taken for dead. Streams, and the
  // verbs that admin_verbs.h marks so, take as long as they take.
  absl::Duration deadline = absl::Minutes(1);
  // How long to wait for the first answer: of an agent on this machine, and of
  // one elsewhere, with which certificates are exchanged first.
  absl::Duration connect_deadline = absl::Seconds(5);
  absl::Duration far_deadline = absl::Seconds(15);
};

// The agent of that data folder. kNotFound: there is none, and the folder may
// be opened. kUnavailable: a process listens on its socket and does not answer,
// or not to this user.
absl::StatusOr<std::unique_ptr<Admin>> ConnectToAgent(
    const std::string& data_folder, const RemoteAdminSettings& settings = {});

// An agent's listen.admin, "tokyo.example:7791". `tls` has the paths of the
// federation's CA and of the administrator's certificate and key. The agent's
// certificate must be for that host. kUnavailable: no answer;
// kPermissionDenied: the certificate is not an administrator's.
absl::StatusOr<std::unique_ptr<Admin>> ConnectToAddress(
    const std::string& address, const TlsSection& tls,
    const RemoteAdminSettings& settings = {});

}  // namespace gannet::sites
