#include "storage/archive/digest.h"

#include <openssl/evp.h>

#include <array>
#include <cstdint>
#include <cstdlib>

namespace gannet::storage {
namespace {

// RFC 4648, 6: 20 bytes are exactly 32 letters, without padding.
std::string WithBase32(const std::array<unsigned char, 20>& bytes) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  std::string text = "sha1:";
  text.reserve(5 + 32);
  for (size_t i = 0; i < bytes.size(); i += 5) {
    uint64_t group = 0;
    for (size_t j = 0; j < 5; ++j) group = group << 8 | bytes[i + j];
    for (int shift = 35; shift >= 0; shift -= 5) {
      text += kAlphabet[group >> shift & 31];
    }
  }
  return text;
}

// Fetched once: OpenSSL 3 otherwise looks the algorithm up at each use.
const EVP_MD* Algorithm() {
  static const EVP_MD* const md = EVP_MD_fetch(nullptr, "SHA1", nullptr);
  return md;
}

}  // namespace

struct Sha1::Context {
  EVP_MD_CTX* ctx = EVP_MD_CTX_new();
  ~Context() { EVP_MD_CTX_free(ctx); }
};

Sha1::Sha1() : context_(std::make_unique<Context>()) {
  // Without SHA-1 (a locked-down OpenSSL) no record can be written at all.
  if (Algorithm() == nullptr ||
      EVP_DigestInit_ex2(context_->ctx, Algorithm(), nullptr) != 1) {
    std::abort();
  }
}
Sha1::~Sha1() = default;
Sha1::Sha1(Sha1&&) noexcept = default;
Sha1& Sha1::operator=(Sha1&&) noexcept = default;

void Sha1::Add(std::string_view bytes) {
  EVP_DigestUpdate(context_->ctx, bytes.data(), bytes.size());
}

std::string Sha1::Digest() {
  std::array<unsigned char, 20> bytes{};
  EVP_DigestFinal_ex(context_->ctx, bytes.data(), nullptr);
  EVP_DigestInit_ex2(context_->ctx, nullptr, nullptr);
  return WithBase32(bytes);
}

std::string Sha1Digest(std::string_view bytes) {
  thread_local Sha1 sha1;
  sha1.Add(bytes);
  return sha1.Digest();
}

}  // namespace gannet::storage
