#include "sites/agent/certificate.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <memory>
#include <sstream>
#include <vector>

#include "federation/map/map_check.h"

namespace gannet::sites {
namespace {

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

Certificate ReadCertificate(std::string_view pem) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> text(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  return Certificate(PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr),
                     X509_free);
}

std::vector<Certificate> ReadCertificates(std::string_view pem) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> text(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  std::vector<Certificate> certificates;
  while (X509* next =
             PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr)) {
    certificates.emplace_back(next, X509_free);
  }
  return certificates;
}

// Of borrowed certificates.
void FreeStack(STACK_OF(X509) * stack) { sk_X509_free(stack); }

// Compares all bytes: a name with a zero byte in it is another name.
std::string_view TextOf(const ASN1_STRING* text) {
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<size_t>(ASN1_STRING_length(text))};
}

std::vector<std::string> UrisOf(const X509* certificate) {
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(
          certificate, NID_subject_alt_name, nullptr, nullptr)),
      GENERAL_NAMES_free);
  std::vector<std::string> uris;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_URI) {
      uris.emplace_back(TextOf(name->d.uniformResourceIdentifier));
    }
  }
  return uris;
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
    if (TextOf(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, i))) ==
        kAdministratorsUnit) {
      return true;
    }
  }
  const std::vector<std::string> uris = UrisOf(certificate.get());
  return std::find(uris.begin(), uris.end(), kAdministratorUri) != uris.end();
}

std::optional<std::string> SiteNameOf(std::string_view pem) {
  const Certificate certificate = ReadCertificate(pem);
  if (certificate == nullptr) return std::nullopt;
  std::optional<std::string> name;
  for (const std::string& uri : UrisOf(certificate.get())) {
    if (!uri.starts_with(kSiteUriPrefix)) continue;
    if (name.has_value()) return std::nullopt;
    name = uri.substr(kSiteUriPrefix.size());
  }
  if (!name.has_value() || !federation::CheckSiteName(*name).ok()) {
    return std::nullopt;
  }
  return name;
}

absl::Status CheckClientCertificate(std::string_view ca, std::string_view pem,
                                    std::string_view chain) {
  const Certificate certificate = ReadCertificate(pem);
  if (certificate == nullptr) {
    return absl::UnauthenticatedError("it shows no certificate");
  }
  const std::unique_ptr<X509_STORE, decltype(&X509_STORE_free)> trusted(
      X509_STORE_new(), X509_STORE_free);
  for (const Certificate& signer : ReadCertificates(ca)) {
    X509_STORE_add_cert(trusted.get(), signer.get());
  }
  const std::vector<Certificate> between = ReadCertificates(chain);
  const std::unique_ptr<STACK_OF(X509), decltype(&FreeStack)> links(
      sk_X509_new_null(), FreeStack);
  for (const Certificate& link : between) {
    sk_X509_push(links.get(), link.get());
  }
  const std::unique_ptr<X509_STORE_CTX, decltype(&X509_STORE_CTX_free)> check(
      X509_STORE_CTX_new(), X509_STORE_CTX_free);
  if (X509_STORE_CTX_init(check.get(), trusted.get(), certificate.get(),
                          links.get()) != 1 ||
      X509_STORE_CTX_set_default(check.get(), "ssl_client") != 1) {
    return absl::UnauthenticatedError("its certificate cannot be checked");
  }
  if (X509_verify_cert(check.get()) == 1) return absl::OkStatus();
  return absl::UnauthenticatedError(fmt::format(
      "its certificate is not one of this federation's CA: {}",
      X509_verify_cert_error_string(X509_STORE_CTX_get_error(check.get()))));
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
