// What the agent asks of certificates: is this caller an administrator, which
// site is it, and are the site's own files in order? Functions only; safe from
// any thread.
//
// An administrator's certificate is signed by tls.ca and has OU=administrators
// in its Subject, or the URI gannet:administrator among its alternative names.
// Others of the same CA, such as those of sites, are not let in. A site's has
// the URI gannet:site:NAME. (certificate_authority.h makes both.)
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "sites/config/site_config.h"

namespace gannet::sites {

inline constexpr std::string_view kAdministratorsUnit = "administrators";
inline constexpr std::string_view kAdministratorUri = "gannet:administrator";
inline constexpr std::string_view kSiteUriPrefix = "gannet:site:";

// Of the first certificate in the PEM text; that it is signed was checked
// before.
bool IsAdministrator(std::string_view pem);

// The name in the certificate's URI gannet:site:NAME. Nullopt if there is none,
// or more than one: no caller is two sites. That the certificate is signed was
// checked before; that the map knows the name, is not.
std::optional<std::string> SiteNameOf(std::string_view pem);

// Whether the first certificate of `pem` is signed, by way of those of `chain`
// if need be, by one of `ca`, and good for a TLS client today.
// kUnauthenticated says why not.
absl::Status CheckClientCertificate(std::string_view ca, std::string_view pem,
                                    std::string_view chain);

// Until when the site's certificate is good. kInvalidArgument says which file
// cannot be used and why: unreadable, no PEM, a key of another certificate.
absl::StatusOr<absl::Time> CheckTlsFiles(const TlsSection& tls);

}  // namespace gannet::sites
