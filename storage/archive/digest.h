// SHA-1 in base32, as WARC digests are written by convention ("sha1:" and 32
// letters; WARC 1.1, 5.8). SHA-1 is chosen because every other archive tool
// writes it and compares by it, not for its strength.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace gannet::storage {

// Hashes one thing after the other. It exists because setting up an OpenSSL
// digest costs as much as hashing a small record: keep one per writer. Not
// thread-safe.
class Sha1 {
 public:
  Sha1();
  ~Sha1();
  Sha1(Sha1&&) noexcept;
  Sha1& operator=(Sha1&&) noexcept;

  void Add(std::string_view bytes);

  // The digest of what was added since the last Digest(), with "sha1:".
  std::string Digest();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// One digest, with a hasher kept per thread. For the payload digest by which
// a page is found unchanged, before its record is written. Thread-safe.
std::string Sha1Digest(std::string_view bytes);

}  // namespace gannet::storage
