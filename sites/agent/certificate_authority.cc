#include "sites/agent/certificate_authority.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <utility>

#include "federation/map/map_check.h"
#include "jobs/fetch/address.h"
#include "sites/agent/certificate.h"
#include "sites/config/value_checks.h"

namespace gannet::sites {
namespace {

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;

absl::Status OpenSslError(const char* doing) {
  char why[256] = "no reason given";
  if (const unsigned long error = ERR_get_error(); error != 0) {
    ERR_error_string_n(error, why, sizeof(why));
  }
  ERR_clear_error();
  return absl::InternalError(fmt::format("OpenSSL: {}: {}", doing, why));
}

template <typename Write>
std::string Text(Write write) {
  const Bio bio(BIO_new(BIO_s_mem()), BIO_free);
  write(bio.get());
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<size_t>(size));
}

std::string CertificateText(X509* certificate) {
  return Text([&](BIO* bio) { PEM_write_bio_X509(bio, certificate); });
}

std::string KeyText(EVP_PKEY* key) {
  return Text([&](BIO* bio) {
    PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
  });
}

bool AddName(X509_NAME* subject, const char* part, std::string_view text) {
  return X509_NAME_add_entry_by_txt(
             subject, part, MBSTRING_ASC,
             reinterpret_cast<const unsigned char*>(text.data()),
             static_cast<int>(text.size()), -1, 0) == 1;
}

bool AddExtension(X509* certificate, X509* issuer, int kind,
                  const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension =
      X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  if (extension == nullptr) return false;
  const bool added = X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

// RFC 5280, 4.1.2.2: positive, at most 20 bytes; random, because no count is
// kept.
bool SetRandomSerial(X509* certificate) {
  unsigned char bytes[16];
  if (RAND_bytes(bytes, sizeof(bytes)) != 1) return false;
  bytes[0] = static_cast<unsigned char>((bytes[0] & 0x7f) | 0x40);
  const std::unique_ptr<BIGNUM, decltype(&BN_free)> number(
      BN_bin2bn(bytes, sizeof(bytes), nullptr), BN_free);
  return number != nullptr &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) !=
             nullptr;
}

bool SetTime(ASN1_TIME* to, absl::Time time) {
  return ASN1_TIME_set(to, absl::ToTimeT(time)) != nullptr;
}

std::optional<absl::Time> TimeOf(const ASN1_TIME* time) {
  std::tm parts = {};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return std::nullopt;
  return absl::FromTM(parts, absl::UTCTimeZone());
}

// "DNS:tokyo.example" or "IP:192.0.2.7"; nothing if it is neither. It becomes
// part of a list with commas, so nothing else may pass.
std::optional<std::string> HostName(const std::string& host) {
  if (const auto address = jobs::Address::Parse(host); address.has_value()) {
    return "IP:" + address->ToString();
  }
  if (host.find(':') != std::string::npos || !IsHostPort(host + ":1")) {
    return std::nullopt;
  }
  return "DNS:" + host;
}

// Of sites and administrators alike: it becomes a file's name, too.
absl::Status CheckName(const char* what, const std::string& name) {
  if (federation::CheckSiteName(name).ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("found '{}' as the name of {}, allowed is a name of letters, "
                  "digits, '_', '.' and '-', which begins with none of the "
                  "last two, up to 63",
                  name, what));
}

}  // namespace

// What a certificate shall say.
struct CertificateAuthority::Wish {
  std::string name;
  std::string_view unit = {};
  std::string alternative_names = {};
  std::string extended_usage = {};  // Empty: an authority's.
  absl::Time begins, expires;
};

absl::StatusOr<CertificateAuthority::Key> CertificateAuthority::ReadKey(
    std::string_view pem) {
  const Bio text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())),
                 BIO_free);
  // An empty password rather than a question on the terminal.
  char no_password[] = "";
  Key key(PEM_read_bio_PrivateKey(text.get(), nullptr, nullptr, no_password));
  ERR_clear_error();
  if (key == nullptr) {
    return absl::InvalidArgumentError("it holds no key without a password");
  }
  return key;
}

absl::StatusOr<CertificateAuthority::Certificate> CertificateAuthority::Sign(
    const Wish& wish, EVP_PKEY* key, X509* issuer, EVP_PKEY* issuer_key) {
  Certificate certificate(X509_new());
  X509* x = certificate.get();
  X509* signs = issuer == nullptr ? x : issuer;
  const bool is_authority = issuer == nullptr;
  X509_NAME* subject = X509_get_subject_name(x);
  const bool made =
      X509_set_version(x, X509_VERSION_3) == 1 && SetRandomSerial(x) &&
      SetTime(X509_getm_notBefore(x), wish.begins) &&
      SetTime(X509_getm_notAfter(x), wish.expires) &&
      X509_set_pubkey(x, key) == 1 && AddName(subject, "CN", wish.name) &&
      (wish.unit.empty() || AddName(subject, "OU", wish.unit)) &&
      X509_set_issuer_name(x, X509_get_subject_name(signs)) == 1 &&
      AddExtension(
          x, signs, NID_basic_constraints,
          is_authority ? "critical,CA:TRUE,pathlen:0" : "critical,CA:FALSE") &&
      AddExtension(x, signs, NID_key_usage,
                   is_authority ? "critical,keyCertSign,cRLSign"
                                : "critical,digitalSignature") &&
      AddExtension(x, signs, NID_subject_key_identifier, "hash") &&
      AddExtension(x, signs, NID_authority_key_identifier, "keyid:always") &&
      (wish.extended_usage.empty() ||
       AddExtension(x, signs, NID_ext_key_usage, wish.extended_usage)) &&
      (wish.alternative_names.empty() ||
       AddExtension(x, signs, NID_subject_alt_name, wish.alternative_names));
  if (!made) return OpenSslError("making a certificate");
  if (X509_sign(x, issuer_key, EVP_sha256()) == 0) {
    return OpenSslError("signing a certificate");
  }
  return certificate;
}

absl::StatusOr<CertificateAuthority> CertificateAuthority::Create(
    absl::Time now, int64_t days) {
  CertificateAuthority authority;
  authority.key_.reset(EVP_EC_gen("P-256"));
  if (authority.key_ == nullptr) return OpenSslError("making a key");
  const Wish wish = {.name = "Gannet federation",
                     .begins = now - absl::Hours(1),
                     .expires = now + days * absl::Hours(24)};
  absl::StatusOr<Certificate> made =
      Sign(wish, authority.key_.get(), nullptr, authority.key_.get());
  if (!made.ok()) return made.status();
  authority.certificate_ = *std::move(made);
  authority.pem_ = {CertificateText(authority.certificate_.get()),
                    KeyText(authority.key_.get()), wish.expires};
  return authority;
}

absl::StatusOr<CertificateAuthority> CertificateAuthority::Read(
    std::string_view cert, std::string_view key) {
  const Bio text(BIO_new_mem_buf(cert.data(), static_cast<int>(cert.size())),
                 BIO_free);
  CertificateAuthority authority;
  authority.certificate_.reset(
      PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  X509* x = authority.certificate_.get();
  if (x == nullptr) {
    return absl::InvalidArgumentError("there is no certificate in PEM");
  }
  absl::StatusOr<Key> read = ReadKey(key);
  if (!read.ok()) return read.status();
  authority.key_ = *std::move(read);
  const std::optional<absl::Time> expires = TimeOf(X509_get0_notAfter(x));
  const bool fits = X509_check_private_key(x, authority.key_.get()) == 1;
  ERR_clear_error();
  if (!fits) {
    return absl::InvalidArgumentError("the key is not the certificate's");
  }
  if (X509_check_ca(x) == 0 || !expires.has_value()) {
    return absl::InvalidArgumentError(
        "the certificate is not one of an authority");
  }
  authority.pem_ = {CertificateText(x), KeyText(authority.key_.get()),
                    *expires};
  return authority;
}

absl::StatusOr<CertificateAuthority::Pem> CertificateAuthority::Issue(
    Wish wish, absl::Time now, int64_t days, std::string_view key) const {
  if (pem_.expires <= now) {
    return absl::FailedPreconditionError(
        "the authority's own certificate has expired");
  }
  // Machines' clocks differ.
  wish.begins = now - absl::Hours(1);
  wish.expires = std::min(now + days * absl::Hours(24), pem_.expires);
  Key own;
  if (key.empty()) {
    own.reset(EVP_EC_gen("P-256"));
    if (own == nullptr) return OpenSslError("making a key");
  } else {
    absl::StatusOr<Key> read = ReadKey(key);
    if (!read.ok()) return read.status();
    own = *std::move(read);
  }
  const absl::StatusOr<Certificate> made =
      Sign(wish, own.get(), certificate_.get(), key_.get());
  if (!made.ok()) return made.status();
  return Pem{CertificateText(made->get()),
             key.empty() ? KeyText(own.get()) : std::string(key), wish.expires};
}

absl::StatusOr<CertificateAuthority::Pem> CertificateAuthority::IssueSite(
    const std::string& name, const std::vector<std::string>& hosts,
    absl::Time now, int64_t days, std::string_view key) const {
  if (absl::Status s = CheckName("a site", name); !s.ok()) return s;
  Wish wish = {.name = name, .extended_usage = "serverAuth,clientAuth"};
  wish.alternative_names = fmt::format("URI:{}{}", kSiteUriPrefix, name);
  for (const std::string& host : HostsWithOwn(hosts)) {
    const std::optional<std::string> text = HostName(host);
    if (!text.has_value()) {
      return absl::InvalidArgumentError(
          fmt::format("found '{}' as a host of {}, allowed is a DNS name or an "
                      "IP address, without a port",
                      host, name));
    }
    wish.alternative_names += "," + *text;
  }
  return Issue(std::move(wish), now, days, key);
}

absl::StatusOr<CertificateAuthority::Pem>
CertificateAuthority::IssueAdministrator(const std::string& name,
                                         absl::Time now, int64_t days,
                                         std::string_view key) const {
  if (absl::Status s = CheckName("an administrator", name); !s.ok()) return s;
  Wish wish = {.name = name,
               .unit = kAdministratorsUnit,
               .extended_usage = "clientAuth"};
  wish.alternative_names = fmt::format("URI:{}", kAdministratorUri);
  return Issue(std::move(wish), now, days, key);
}

std::vector<std::string> CertificateAuthority::HostsWithOwn(
    std::vector<std::string> hosts) {
  for (const char* own : {"localhost", "127.0.0.1", "::1"}) {
    if (std::find(hosts.begin(), hosts.end(), own) == hosts.end()) {
      hosts.emplace_back(own);
    }
  }
  return hosts;
}

}  // namespace gannet::sites
