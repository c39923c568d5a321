#include "sites/agent/certificate.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <ctime>
#include <fstream>
#include <memory>
#include <sstream>

namespace gannet::sites {
namespace {

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

Certificate ReadCertificate(std::string_view pem) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> text(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  return Certificate(PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr),
                     X509_free);
}

// Exactly: a name with a zero byte in it is another name.
bool Is(const ASN1_STRING* text, std::string_view word) {
  return text != nullptr &&
         std::string_view(
             reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
             static_cast<size_t>(ASN1_STRING_length(text))) == word;
}

absl::StatusOr<std::string> ReadFile(const char* key, const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) {
    return absl::InvalidArgumentError(
        fmt::format("tls.{}: {} cannot be read", key, path));
  }
  return text.str();
}

absl::Status NotPem(const char* key, const std::string& path,
                    const char* what) {
  return absl::InvalidArgumentError(
      fmt::format("tls.{}: {} holds no {} in PEM", key, path, what));
}

}  // namespace

bool IsAdministrator(std::string_view pem) {
  const Certificate certificate = ReadCertificate(pem);
  if (certificate == nullptr) return false;
  const X509_NAME* subject = X509_get_subject_name(certificate.get());
  for (int i = -1; (i = X509_NAME_get_index_by_NID(
                        subject, NID_organizationalUnitName, i)) >= 0;) {
    if (Is(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, i)),
           kAdministratorsUnit)) {
      return true;
    }
  }
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(
          certificate.get(), NID_subject_alt_name, nullptr, nullptr)),
      GENERAL_NAMES_free);
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_URI &&
        Is(name->d.uniformResourceIdentifier, kAdministratorUri)) {
      return true;
    }
  }
  return false;
}

absl::StatusOr<absl::Time> CheckTlsFiles(const TlsSection& tls) {
  absl::StatusOr<std::string> ca = ReadFile("ca", tls.ca);
  if (!ca.ok()) return ca.status();
  if (ReadCertificate(*ca) == nullptr) {
    return NotPem("ca", tls.ca, "certificate");
  }
  absl::StatusOr<std::string> cert = ReadFile("cert", tls.cert);
  if (!cert.ok()) return cert.status();
  const Certificate certificate = ReadCertificate(*cert);
  if (certificate == nullptr) return NotPem("cert", tls.cert, "certificate");
  absl::StatusOr<std::string> key = ReadFile("key", tls.key);
  if (!key.ok()) return key.status();
  const std::unique_ptr<BIO, decltype(&BIO_free)> text(
      BIO_new_mem_buf(key->data(), static_cast<int>(key->size())), BIO_free);
  // An empty password rather than a question on the terminal.
  char no_password[] = "";
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> private_key(
      PEM_read_bio_PrivateKey(text.get(), nullptr, nullptr, no_password),
      EVP_PKEY_free);
  if (private_key == nullptr) {
    return NotPem("key", tls.key, "key without a password");
  }
  if (X509_check_private_key(certificate.get(), private_key.get()) != 1) {
    return absl::InvalidArgumentError(
        fmt::format("tls.key: {} is not the key of {}", tls.key, tls.cert));
  }
  std::tm expires = {};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate.get()), &expires) != 1) {
    return NotPem("cert", tls.cert, "certificate with a last day");
  }
  return absl::FromTM(expires, absl::UTCTimeZone());
}

}  // namespace gannet::sites
