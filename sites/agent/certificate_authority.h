// CertificateAuthority makes the certificates of a federation: its own, those
// of sites and those of administrators, with ECDSA on P-256. For federations
// that have no authority of their own to ask; what Gannet asks of a certificate
// is in certificate.h, and any other that signs such ones will do. It touches
// no files. Not thread-safe.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace gannet::sites {

class CertificateAuthority {
 public:
  // Both in PEM; the key has no password.
  struct Pem {
    std::string cert, key;
    absl::Time expires;
  };

  // A new one, which is good for `days`.
  static absl::StatusOr<CertificateAuthority> Create(absl::Time now,
                                                     int64_t days);
  // kInvalidArgument: no PEM, a key of another, or not an authority's.
  static absl::StatusOr<CertificateAuthority> Read(std::string_view cert,
                                                   std::string_view key);

  const Pem& pem() const { return pem_; }

  // A certificate that is good for `days`, but for no longer than this one's.
  // With `key`, a certificate for that one: a renewal; else a new key is made.
  // kInvalidArgument: not a site's name, not hosts, not a key.
  //
  // `hosts` are where the site is reached, DNS names or IP addresses; those of
  // the machine itself come with it (HostsWithOwn()).
  absl::StatusOr<Pem> IssueSite(const std::string& name,
                                const std::vector<std::string>& hosts,
                                absl::Time now, int64_t days,
                                std::string_view key = {}) const;
  absl::StatusOr<Pem> IssueAdministrator(const std::string& name,
                                         absl::Time now, int64_t days,
                                         std::string_view key = {}) const;

  // What a site's certificate names: these, then the machine itself; each once.
  static std::vector<std::string> HostsWithOwn(std::vector<std::string> hosts);

 private:
  struct Free {
    void operator()(X509* x) const { X509_free(x); }
    void operator()(EVP_PKEY* k) const { EVP_PKEY_free(k); }
  };
  using Certificate = std::unique_ptr<X509, Free>;
  using Key = std::unique_ptr<EVP_PKEY, Free>;
  struct Wish;

  CertificateAuthority() = default;
  static absl::StatusOr<Key> ReadKey(std::string_view pem);
  // Signed by `issuer`, or by itself if there is none.
  static absl::StatusOr<Certificate> Sign(const Wish& wish, EVP_PKEY* key,
                                          X509* issuer, EVP_PKEY* issuer_key);
  absl::StatusOr<Pem> Issue(Wish wish, absl::Time now, int64_t days,
                            std::string_view key) const;

  Key key_;
  Certificate certificate_;
  Pem pem_;
};

}  // namespace gannet::sites
