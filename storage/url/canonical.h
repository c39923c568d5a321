// The canonical form: of the many spellings of one page's URL, the one that the
// crawl DB holds. On top of what browsers do (url.h):
//
//   - credentials and fragment are dropped, and the host's trailing dot;
//   - percent-encoding is normalised (RFC 3986, 6.2.2): upper-case hex, and
//     what need not be encoded (letters, digits, - . _ ~) is not. A percent
//     sign that starts no %XX stays as it is, for browsers send it so; a digit
//     behind it stays encoded where it would make an escape ("%2%35" is not
//     "%25");
//   - an empty query loses its question mark;
//   - parameters that name a visitor and not a page are removed: of sessions
//     (also ";jsessionid=" in the path) and of advertising campaigns;
//   - hosts that DNS cannot hold (an empty label, a label above 63 bytes, or
//     more than 253 bytes in all) are refused: nobody can fetch them.
//
//   HTTP://Example.COM.:80/%7euser/./a;jsessionid=1?utm_source=x&b=%c3%a9#top
//   http://example.com/~user/a?b=%C3%A9
//
// Canonical form is a fixed point: the canonical form of one is itself. All
// sites of a federation must use the same rules, for receivers canonicalise
// again. Not done, because servers may tell them apart: sorting parameters,
// lower case of paths, index.html, "+" for %20.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/url/url.h"

namespace gannet::storage {

// Names are ASCII and compared without case; a * at the end, and only
// there, matches any rest.
struct CanonicalRules {
  bool drop_parameters = true;
  std::vector<std::string> query_parameters = {
      // Sessions. Not plain "sid": on many sites it is a story's, section's or
      // shop's number, and without it all of them would be one page.
      "phpsessid", "jsessionid", "aspsessionid*", "sessionid", "session_id",
      "cfid", "cftoken", "zenid", "oscsid",
      // Campaigns and click ids.
      "utm_*", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "fbclid",
      "msclkid", "yclid", "twclid", "ttclid", "igshid", "mc_cid", "mc_eid",
      "_ga", "_gl", "_hsenc", "_hsmi", "mkt_tok"};
  // ";name" and ";name=value" behind a segment of the path.
  std::vector<std::string> path_parameters = {"jsessionid", "phpsessid"};
};

// Thread-compatible: const methods may run in parallel.
class Canonicaliser {
 public:
  // kInvalidArgument, naming the entry, for a name that could not match.
  static absl::StatusOr<Canonicaliser> Create(const CanonicalRules& rules);

  // By the default rules.
  Canonicaliser();

  // Parses `input` against `base` and makes it canonical. Allocates nothing
  // once `out` has grown to its working size, hosts that are not plain ASCII
  // aside. After any outcome but kOk, `out` is empty.
  // REQUIRES: base is null or parsed (it need not be canonical), not &out.
  UrlOutcome Canonicalise(std::string_view input, const Url* base,
                          Url& out) const;

  // The same for a URL that was parsed before.
  UrlOutcome Canonicalise(Url& url) const;

 private:
  // Names by their first byte: most parameters are kept, and one look says so.
  class NameSet {
   public:
    absl::Status Add(const std::vector<std::string>& names);
    bool empty() const { return names_.empty(); }
    // `parameter` is "name" or "name=value".
    bool Matches(std::string_view parameter) const;

   private:
    struct Name {
      std::string text;
      bool is_prefix;
    };
    std::vector<Name> names_;           // Sorted by first byte.
    std::array<uint8_t, 257> first_{};  // names_ of byte b: [b, b + 1).
  };

  void Rewrite(Url& url) const;
  size_t WriteSegment(std::string& text, size_t from, size_t to,
                      size_t write) const;
  size_t WriteQuery(std::string& text, size_t from, size_t to,
                    size_t write) const;

  NameSet query_parameters_;
  NameSet path_parameters_;
};

}  // namespace gannet::storage
