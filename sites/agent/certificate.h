// What the agent asks of certificates: is this caller an administrator, and are
// the site's own files in order? Functions only; safe from any thread.
//
// An administrator's certificate is signed by tls.ca and has OU=administrators
// in its Subject, or the URI gannet:administrator among its alternative names.
// Others of the same CA, such as those of sites, are not let in.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "sites/config/site_config.h"

namespace gannet::sites {

inline constexpr std::string_view kAdministratorsUnit = "administrators";
inline constexpr std::string_view kAdministratorUri = "gannet:administrator";

// Of the first certificate in the PEM text; that it is signed was checked
// before.
bool IsAdministrator(std::string_view pem);

// Until when the site's certificate is good. kInvalidArgument says which file
// cannot be used and why: unreadable, no PEM, a key of another certificate.
absl::StatusOr<absl::Time> CheckTlsFiles(const TlsSection& tls);

}  // namespace gannet::sites
