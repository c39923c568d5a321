// Makes a certificate authority and certificates that it signs, for tests. Not
// thread-safe.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

namespace gannet::sites {

class Authority {
 public:
  explicit Authority(const std::string& name);

  struct Pem {
    std::string cert, key;
  };
  // `unit` is the Subject's OU, `names` its alternative names, such as
  // "IP:127.0.0.1,URI:gannet:administrator"; either may be empty.
  Pem Issue(const std::string& name, const std::string& unit,
            const std::string& names, int days = 1);
  const std::string& pem() const { return pem_; }

 private:
  struct Free {
    void operator()(X509* x) const { X509_free(x); }
    void operator()(EVP_PKEY* k) const { EVP_PKEY_free(k); }
  };
  std::unique_ptr<EVP_PKEY, Free> key_;
  std::unique_ptr<X509, Free> certificate_;
  std::string pem_;
  long serial_ = 1;
};

}  // namespace gannet::sites
