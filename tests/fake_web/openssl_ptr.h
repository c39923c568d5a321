// Owning pointers to OpenSSL's objects. Thread-safe as far as the objects are.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>

namespace gannet::fake_web {

struct OpensslFree {
  void operator()(BIO* p) const { BIO_free_all(p); }
  void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
  void operator()(SSL* p) const { SSL_free(p); }
  void operator()(SSL_CTX* p) const { SSL_CTX_free(p); }
  void operator()(X509* p) const { X509_free(p); }
};
template <typename T>
using OpensslPtr = std::unique_ptr<T, OpensslFree>;

}  // namespace gannet::fake_web
