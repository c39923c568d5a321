// Url is one http or https URL, parsed, resolved and written as browsers do
// (the URL Standard, https://url.spec.whatwg.org/). Links are written for
// browsers: a crawler that reads them by other rules finds other pages.
//
// Only http and https are held. A URL of any other scheme is not an error but
// an outcome of its own, kOtherScheme, reached without looking further: a
// crawler counts mailto: and passes on. So the standard's state machine shrinks
// to: strip, scheme, authority, path, query, fragment, each one forward scan.
// tests/storage/url/reference_url.h is the state machine in full, and judges
// this one.
//
// The text is one string; the parts are offsets into it:
//
//   https://user:pass@example.com:8443/a/b?c=d#e
//           |   |     |          |    |   |   |
//           |   |     |  host_end_    |   |   query_end_
//           |   user_end_   path_begin_   path_end_
//
// Thread-compatible: const methods may run in parallel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace gannet::storage {

// What became of a piece of text. An enum and not a Status, because every link
// of every page asks, one in ten answers kOtherScheme, and a Status with a
// message costs an allocation.
enum class UrlOutcome : uint8_t {
  kOk,
  kOtherScheme,   // mailto:, javascript:, ftp:, ...
  kNoBase,        // A relative reference, and nothing to resolve it against.
  kEmptyHost,     // http:///, http://user@/
  kBadHost,       // A forbidden character, bad IDNA or a bad IP address.
  kBadPort,       // Not a number, or above 65535.
  kTooLong,       // Above kMaxInputBytes.
  kUnresolvable,  // Canonical form only: no DNS name (empty or long label).
};

// "ok", "other_scheme", ...: bounded, fit for a metric's label.
std::string_view UrlOutcomeName(UrlOutcome outcome);
inline constexpr int kUrlOutcomeCount = 8;

class Url {
 public:
  // Offsets have 32 bits and escaping may triple the text. Far above what any
  // filter lets through; it only keeps a hostile page from filling the memory.
  static constexpr size_t kMaxInputBytes = size_t{16} << 20;

  // Empty until parsed into.
  Url() = default;

  // Parses `input`, resolving it against `base` if there is one. Any bytes are
  // allowed; what is not UTF-8 reads as U+FFFD. Reuses out's memory; after any
  // outcome but kOk, `out` is empty. Time is linear in the two lengths.
  // REQUIRES: base is null or parsed, and is not &out.
  static UrlOutcome Parse(std::string_view input, const Url* base, Url& out);

  // The same for callers with time for a message. kInvalidArgument on failure.
  static absl::StatusOr<Url> Parse(std::string_view input,
                                   const Url* base = nullptr);

  bool empty() const { return href_.empty(); }

  // The whole, as a browser's location bar would copy it.
  const std::string& href() const { return href_; }

  std::string_view scheme() const { return Part(0, scheme_end_); }
  bool is_https() const { return scheme_end_ == 5; }
  std::string_view username() const;
  std::string_view password() const;
  // Without port; an IPv6 address has its brackets.
  std::string_view host() const { return Part(host_begin_, host_end_); }
  bool has_port() const { return host_end_ != path_begin_; }
  // The default of the scheme if none is written.
  uint16_t port() const { return port_; }
  // Starts with a slash.
  std::string_view path() const { return Part(path_begin_, path_end_); }
  bool has_query() const { return path_end_ != query_end_; }
  // Without the question mark.
  std::string_view query() const;
  std::string_view path_and_query() const {
    return Part(path_begin_, query_end_);
  }
  bool has_fragment() const { return query_end_ != href_.size(); }
  // Without the hash.
  std::string_view fragment() const;

  bool operator==(const Url& other) const { return href_ == other.href_; }

 private:
  friend class Canonicaliser;  // Rewrites the text in place.

  std::string_view Part(size_t begin, size_t end) const {
    return std::string_view(href_.data() + begin, end - begin);
  }
  void Clear();
  UrlOutcome ParseStripped(std::string_view input, const Url* base);
  // Each takes what is left of the input and appends to href_.
  UrlOutcome ParseAuthority(std::string_view rest);
  UrlOutcome ParseRelative(std::string_view rest, const Url& base);
  void ParseUserinfo(std::string_view userinfo);
  UrlOutcome ParseHostAndPort(std::string_view text);
  void ParsePath(std::string_view rest);
  void ParseQueryAndFragment(std::string_view rest);
  void CopyFrom(const Url& base, size_t end);
  void Shorten();

  std::string href_;
  uint32_t user_end_ = 0;
  uint32_t host_begin_ = 0;
  uint32_t host_end_ = 0;
  uint32_t path_begin_ = 0;
  uint32_t path_end_ = 0;
  uint32_t query_end_ = 0;
  uint16_t port_ = 0;
  uint8_t scheme_end_ = 0;
};

}  // namespace gannet::storage
