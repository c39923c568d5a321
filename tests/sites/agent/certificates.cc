#include "tests/sites/agent/certificates.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace gannet::sites {
namespace {

void Name(X509_NAME* name, const char* part, const std::string& text) {
  if (text.empty()) return;
  X509_NAME_add_entry_by_txt(
      name, part, MBSTRING_ASC,
      reinterpret_cast<const unsigned char*>(text.data()),
      static_cast<int>(text.size()), -1, 0);
}

void Extend(X509* certificate, int kind, const std::string& value) {
  if (value.empty()) return;
  X509_EXTENSION* extension =
      X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

X509* Make(EVP_PKEY* key, long serial, const std::string& name,
           const std::string& unit, int days) {
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate), days * 86400L);
  X509_set_pubkey(certificate, key);
  Name(X509_get_subject_name(certificate), "CN", name);
  Name(X509_get_subject_name(certificate), "OU", unit);
  return certificate;
}

template <typename Write>
std::string Text(Write write) {
  BIO* bio = BIO_new(BIO_s_mem());
  write(bio);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<size_t>(size));
  BIO_free(bio);
  return text;
}

}  // namespace

Authority::Authority(const std::string& name)
    : key_(EVP_EC_gen("P-256")),
      certificate_(Make(key_.get(), serial_++, name, "", 10)) {
  X509_set_issuer_name(certificate_.get(),
                       X509_get_subject_name(certificate_.get()));
  Extend(certificate_.get(), NID_basic_constraints, "critical,CA:TRUE");
  X509_sign(certificate_.get(), key_.get(), EVP_sha256());
  pem_ = Text([&](BIO* bio) { PEM_write_bio_X509(bio, certificate_.get()); });
}

Authority::Pem Authority::Issue(const std::string& name,
                                const std::string& unit,
                                const std::string& names, int days) {
  const std::unique_ptr<EVP_PKEY, Free> key(EVP_EC_gen("P-256"));
  const std::unique_ptr<X509, Free> certificate(
      Make(key.get(), serial_++, name, unit, days));
  X509_set_issuer_name(certificate.get(),
                       X509_get_subject_name(certificate_.get()));
  Extend(certificate.get(), NID_subject_alt_name, names);
  X509_sign(certificate.get(), key_.get(), EVP_sha256());
  return {Text([&](BIO* bio) { PEM_write_bio_X509(bio, certificate.get()); }),
          Text([&](BIO* bio) {
            PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0,
                                     nullptr, nullptr);
          })};
}

}  // namespace gannet::sites
