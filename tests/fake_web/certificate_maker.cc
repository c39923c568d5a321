#include "tests/fake_web/certificate_maker.h"

#include <fmt/format.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509v3.h>

#include <array>
#include <cstdlib>

namespace gannet::fake_web {
namespace {

// Certificates take some four kilobytes each.
constexpr size_t kMostKept = 10'000;

// Fixed days, so that certificates are the same in every process (but for the
// signature), and good for decades.
constexpr char kFirstDay[] = "20200101000000Z";
constexpr char kExpiredDay[] = "20210101000000Z";
constexpr char kLastDay[] = "20991231235959Z";

constexpr std::string_view kCaName = "Gannet fake web CA";
constexpr std::string_view kUnknownCaName = "A CA that nobody trusts";

// Nothing here depends on input from outside, so a failure means that OpenSSL's
// build is broken or memory is short.
void Check(bool ok) {
  if (ok) return;
  fmt::print(stderr, "fake web: OpenSSL cannot make certificates\n");
  abort();
}

std::array<unsigned char, SHA256_DIGEST_LENGTH> Hash(uint64_t seed,
                                                     std::string_view use,
                                                     std::string_view name) {
  const std::string text =
      fmt::format("gannet fake web {} {} {}", seed, use, name);
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         digest.data());
  return digest;
}

// The P-256 key whose private number is a hash of the seed.
OpensslPtr<EVP_PKEY> MakeKey(uint64_t seed, std::string_view use) {
  const auto digest = Hash(seed, use, "key");
  EC_GROUP* group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
  Check(group != nullptr);
  // In [1, order): the hash modulo order - 1, plus 1.
  BIGNUM* scalar = BN_bin2bn(digest.data(), digest.size(), nullptr);
  BIGNUM* bound = BN_dup(EC_GROUP_get0_order(group));
  BN_CTX* scratch = BN_CTX_new();
  Check(scalar && bound && scratch && BN_sub_word(bound, 1) &&
        BN_mod(scalar, scalar, bound, scratch) && BN_add_word(scalar, 1));
  EC_POINT* point = EC_POINT_new(group);
  std::array<unsigned char, 65> public_key;
  Check(point &&
        EC_POINT_mul(group, point, scalar, nullptr, nullptr, scratch) &&
        EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED,
                           public_key.data(), public_key.size(),
                           scratch) == public_key.size());
  OSSL_PARAM_BLD* builder = OSSL_PARAM_BLD_new();
  Check(builder &&
        OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME,
                                        "prime256v1", 0) &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_PRIV_KEY, scalar) &&
        OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY,
                                         public_key.data(), public_key.size()));
  OSSL_PARAM* parameters = OSSL_PARAM_BLD_to_param(builder);
  EVP_PKEY_CTX* context = EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr);
  EVP_PKEY* key = nullptr;
  Check(parameters && context && EVP_PKEY_fromdata_init(context) == 1 &&
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, parameters) == 1);
  EVP_PKEY_CTX_free(context);
  OSSL_PARAM_free(parameters);
  OSSL_PARAM_BLD_free(builder);
  EC_POINT_free(point);
  BN_CTX_free(scratch);
  BN_free(bound);
  BN_free(scalar);
  EC_GROUP_free(group);
  return OpensslPtr<EVP_PKEY>(key);
}

void AddExtension(X509* certificate, X509* issuer, int nid,
                  const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension =
      X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  Check(extension && X509_add_ext(certificate, extension, -1));
  X509_EXTENSION_free(extension);
}

// Makes a certificate without issuer, extensions and signature.
OpensslPtr<X509> Begin(uint64_t seed, std::string_view name, Nasty kind,
                       const char* last_day, EVP_PKEY* key) {
  OpensslPtr<X509> certificate(X509_new());
  X509* const c = certificate.get();
  auto serial = Hash(seed, Name(kind), name);
  serial[0] &= 0x7f;  // Positive; RFC 5280 allows 20 bytes.
  BIGNUM* number = BN_bin2bn(serial.data(), 16, nullptr);
  // RFC 5280: a common name has at most 64 characters. Clients do not use it:
  // the host's name is in the extension.
  const std::string common_name(name.substr(0, 64));
  X509_NAME* subject = X509_get_subject_name(c);
  auto add = [subject](const char* field, const std::string& value) {
    return X509_NAME_add_entry_by_txt(
        subject, field, MBSTRING_UTF8,
        reinterpret_cast<const unsigned char*>(value.data()),
        static_cast<int>(value.size()), -1, 0);
  };
  Check(c && number && X509_set_version(c, X509_VERSION_3) &&
        BN_to_ASN1_INTEGER(number, X509_get_serialNumber(c)) &&
        ASN1_TIME_set_string_X509(X509_getm_notBefore(c), kFirstDay) &&
        ASN1_TIME_set_string_X509(X509_getm_notAfter(c), last_day) &&
        add("O", "Gannet's fake web, for tests only") &&
        add("CN", common_name) && X509_set_pubkey(c, key));
  BN_free(number);
  return certificate;
}

void Sign(X509* certificate, EVP_PKEY* key) {
  Check(X509_sign(certificate, key, EVP_sha256()) > 0);
}

OpensslPtr<X509> MakeCa(uint64_t seed, std::string_view name, EVP_PKEY* key) {
  OpensslPtr<X509> ca = Begin(seed, name, Nasty::kNone, kLastDay, key);
  X509* const c = ca.get();
  Check(X509_set_issuer_name(c, X509_get_subject_name(c)));
  AddExtension(c, c, NID_basic_constraints, "critical,CA:TRUE");
  AddExtension(c, c, NID_key_usage, "critical,keyCertSign,cRLSign");
  AddExtension(c, c, NID_subject_key_identifier, "hash");
  Sign(c, key);
  return ca;
}

// `names` as an extension has them: "DNS:www.a.example".
void FinishLeaf(const std::string& names, X509* issuer, EVP_PKEY* issuer_key,
                X509* c) {
  Check(X509_set_issuer_name(c, X509_get_subject_name(issuer)));
  AddExtension(c, issuer, NID_basic_constraints, "critical,CA:FALSE");
  AddExtension(c, issuer, NID_key_usage, "critical,digitalSignature");
  AddExtension(c, issuer, NID_ext_key_usage, "serverAuth");
  AddExtension(c, issuer, NID_subject_key_identifier, "hash");
  AddExtension(c, issuer, NID_authority_key_identifier, "keyid:always");
  AddExtension(c, issuer, NID_subject_alt_name, names);
  Sign(c, issuer_key);
}

OpensslPtr<X509> Share(X509* certificate) {
  X509_up_ref(certificate);
  return OpensslPtr<X509>(certificate);
}

}  // namespace

CertificateMaker::CertificateMaker(uint64_t seed)
    : seed_(seed),
      ca_key_(MakeKey(seed, "CA")),
      unknown_ca_key_(MakeKey(seed, "unknown CA")),
      host_key_(MakeKey(seed, "hosts")),
      ca_(MakeCa(seed, kCaName, ca_key_.get())),
      unknown_ca_(MakeCa(seed, kUnknownCaName, unknown_ca_key_.get())) {}

std::string CertificateMaker::CaPem() const {
  const OpensslPtr<BIO> bio(BIO_new(BIO_s_mem()));
  Check(bio && PEM_write_bio_X509(bio.get(), ca_.get()));
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<size_t>(size));
}

OpensslPtr<X509> CertificateMaker::Certificate(std::string_view host,
                                               Nasty kind) {
  const std::pair<std::string, Nasty> key(host, kind);
  {
    storage::MutexLock lock(&mu_);
    const auto found = made_.find(key);
    if (found != made_.end()) return Share(found->second.get());
  }
  // Without the lock, so that others need not wait for the signature. Two
  // threads may both make the same certificate.
  OpensslPtr<X509> made = Make(host, kind);
  storage::MutexLock lock(&mu_);
  if (made_.size() >= kMostKept)
    made_.clear();  // They are cheap to make again.
  made_[key] = Share(made.get());
  return made;
}

OpensslPtr<X509> CertificateMaker::DefaultCertificate() const {
  OpensslPtr<X509> made =
      Begin(seed_, "localhost", Nasty::kNone, kLastDay, host_key());
  FinishLeaf("DNS:localhost,IP:127.0.0.1", ca_.get(), ca_key_.get(),
             made.get());
  return made;
}

OpensslPtr<X509> CertificateMaker::Make(std::string_view host,
                                        Nasty kind) const {
  const std::string name =
      fmt::format("{}{}", kind == Nasty::kTlsWrongName ? "not-" : "", host);
  OpensslPtr<X509> made =
      Begin(seed_, name, kind,
            kind == Nasty::kTlsExpired ? kExpiredDay : kLastDay, host_key());
  const std::string names = "DNS:" + name;
  if (kind == Nasty::kTlsSelfSigned) {
    FinishLeaf(names, made.get(), host_key(), made.get());
  } else if (kind == Nasty::kTlsUnknownIssuer) {
    FinishLeaf(names, unknown_ca_.get(), unknown_ca_key_.get(), made.get());
  } else {
    FinishLeaf(names, ca_.get(), ca_key_.get(), made.get());
  }
  return made;
}

}  // namespace gannet::fake_web
