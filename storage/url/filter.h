// UrlFilter says which canonical URLs a crawl wants, and of the others why not.
// It holds the operator's lists (by domain, host, prefix, regular expression)
// and the limits that keep a crawler out of endless sites: calendars that link
// to the next year for ever, /a/b/a/b/a/b, queries that grow by a parameter a
// click.
//
// What is denied is denied. If there is any allow list, a URL must be on one of
// them. Lists may be large (100,000 domains are ordinary): domains and hosts
// are hash sets, prefixes a sorted list, regular expressions one RE2::Set; none
// is read from end to end. Thread-safe: immutable once created.
#pragma once

#include <re2/set.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "storage/url/canonical.h"
#include "storage/url/url.h"

namespace gannet::storage {

// One kind of list, for allowing or denying.
struct UrlList {
  // A name and all names below it: example.com, but also a whole platform
  // (blogspot.com), a country (uk) or a part of a domain (docs.example.com).
  // Whether a name is registrable does not matter: who denies blogspot.com
  // means the blogs.
  std::vector<std::string> domains;
  std::vector<std::string> hosts;     // Exactly this host.
  std::vector<std::string> prefixes;  // https://example.com/private/
  std::vector<std::string> regexes;   // RE2, found anywhere in the URL.

  bool empty() const {
    return domains.empty() && hosts.empty() && prefixes.empty() &&
           regexes.empty();
  }
};

struct UrlFilterRules {
  UrlList allow;
  UrlList deny;
  bool allow_http = true;
  bool allow_https = true;
  size_t max_url_bytes = 2048;
  size_t max_path_depth = 32;  // Segments that are not empty.
  // How often a group of up to kMaxGroup segments may stand in a row: with two,
  // /a/b/a/b passes and /a/b/a/b/a/b does not.
  size_t max_segment_repeats = 2;
  size_t max_query_parameters = 24;
  size_t max_query_bytes = 1024;
};

enum class UrlVerdict : uint8_t {
  kAllowed,
  kScheme,
  kTooLong,
  kTooDeep,
  kRepeatedSegments,
  kTooManyParameters,
  kQueryTooLong,
  kDeniedDomain,
  kDeniedHost,
  kDeniedPrefix,
  kDeniedRegex,
  kNotAllowed,  // There are allow lists, and it is on none.
  kOutOfScope,  // No seed's scope has it (scope.h).
  kTooFar,      // Too many links from the seeds.
  kScopeDenies,
};

// "allowed", "scheme", ...: bounded, fit for a metric's label.
std::string_view UrlVerdictName(UrlVerdict verdict);
inline constexpr int kUrlVerdictCount = 15;

class UrlFilter {
 public:
  // The longest group of segments whose repetition is noticed.
  static constexpr size_t kMaxGroup = 8;

  // kInvalidArgument, naming the entry and what is wrong with it. The
  // canonicaliser is that of the URLs to come: entries must be written its way.
  static absl::StatusOr<std::unique_ptr<UrlFilter>> Create(
      const UrlFilterRules& rules,
      const Canonicaliser& canonicaliser = Canonicaliser());

  // REQUIRES: url is canonical (canonical.h).
  UrlVerdict Judge(const Url& url) const;

 private:
  // A UrlList made fast.
  struct Matcher {
    bool HasDomainOf(std::string_view host) const;
    bool HasHost(std::string_view host) const;
    bool HasPrefixOf(std::string_view url) const;
    // `if_unknown` is the answer when RE2 runs out of memory and cannot say: it
    // is better not fetched than fetched against a deny list. No test, for no
    // list is known that does so: Compile() refuses those too large to search.
    bool HasRegexFor(const std::string& url, bool if_unknown) const;
    // For an allow list, unknown means not allowed.
    bool Has(const Url& url) const;

    bool empty = true;
    absl::flat_hash_set<std::string> domains;
    absl::flat_hash_set<std::string> hosts;
    // Sorted, and none a prefix of another: then the only candidate is the
    // last that is not greater than the URL.
    std::vector<std::string> prefixes;
    std::unique_ptr<RE2::Set> regexes;
  };
  static absl::Status Fill(const UrlList& list, std::string_view name,
                           const Canonicaliser& canonicaliser,
                           Matcher& matcher);

  explicit UrlFilter(const UrlFilterRules& rules);
  UrlVerdict JudgeShape(const Url& url) const;
  UrlVerdict JudgePath(std::string_view path) const;

  const UrlFilterRules limits_;  // Its lists are empty.
  Matcher allow_;
  Matcher deny_;
};

}  // namespace gannet::storage
