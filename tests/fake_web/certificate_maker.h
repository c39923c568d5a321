// Makes the certificates of a fake web: one CA, and for each host a certificate
// that the CA has signed, or one that is wrong in the way that a TLS kind says.
//
// The keys (P-256) are hashes of the web's seed, so that every process with the
// same seed has the same CA: a crawler that trusts what `gannet-fakeweb ca`
// printed trusts a server that starts later. Names, serial numbers and days are
// functions of the seed and the host too; only the signatures differ, as ECDSA
// signs with random numbers. That makes the keys public: trust this CA for
// tests and for nothing else.
//
// All hosts share one key, so that a certificate costs one signature (0.3 ms).
// Certificates are made when they are first asked for and kept, up to a bound.
// Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "storage/mutex.h"
#include "tests/fake_web/nasty.h"
#include "tests/fake_web/openssl_ptr.h"

namespace gannet::fake_web {

class CertificateMaker {
 public:
  explicit CertificateMaker(uint64_t seed);
  CertificateMaker(const CertificateMaker&) = delete;
  CertificateMaker& operator=(const CertificateMaker&) = delete;

  // The CA's certificate, which a crawler has to trust.
  std::string CaPem() const;

  // The certificate that `host` shows. `kind` is its TLS kind; kNone, and kinds
  // that do not concern the certificate, get a good one.
  OpensslPtr<X509> Certificate(std::string_view host, Nasty kind)
      ABSL_LOCKS_EXCLUDED(mu_);
  // For clients that name no host; good for "localhost" and 127.0.0.1.
  OpensslPtr<X509> DefaultCertificate() const;

  // The private key of all hosts' certificates; not the CA's.
  EVP_PKEY* host_key() const { return host_key_.get(); }

 private:
  OpensslPtr<X509> Make(std::string_view host, Nasty kind) const;

  const uint64_t seed_;
  const OpensslPtr<EVP_PKEY> ca_key_;
  const OpensslPtr<EVP_PKEY> unknown_ca_key_;
  const OpensslPtr<EVP_PKEY> host_key_;
  const OpensslPtr<X509> ca_;
  const OpensslPtr<X509> unknown_ca_;

  storage::Mutex mu_;
  absl::flat_hash_map<std::pair<std::string, Nasty>, OpensslPtr<X509>> made_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace gannet::fake_web
