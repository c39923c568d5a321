// Scope says how far from its seeds a crawl goes. Each seed brings a rule: its
// page only, what lies below its folder, its host, its domain, or everything;
// and how many links from a seed a page may be. A page is in scope if one of
// the rules wants it. Besides, an operator may allow further names (a host of
// pictures), and deny some. For example, with the seed
// https://docs.example.org/guide/index.html
//
//   page     https://docs.example.org/guide/index.html only
//   prefix   https://docs.example.org/guide/... (http as well)
//   host     docs.example.org
//   domain   example.org and all names below it
//
// Without rules everything is in scope: sites whose seeds came without one.
//
// UrlFilter (filter.h) is the operator's taste in URLs, from site.yaml; a scope
// belongs to the seeds, is kept with them in the crawl DB, and in a federation
// in the map. Thread-safe: immutable once created.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/url/filter.h"
#include "storage/url/url.h"

namespace gannet::storage {

struct ScopeRule {
  // On disk and between sites: never renumber.
  enum class Kind : uint8_t {
    kPage = 0,
    kPrefix = 1,
    kHost = 2,
    kDomain = 3,
    kAny = 4,
    kAllow = 5,  // A name and all names below it, besides the seeds' scope.
    kDeny = 6,   // The same, whatever else allows it.
  };

  Kind kind = Kind::kAny;
  // The seed's canonical URL; a name for the last two. Empty: seeds that came
  // before there was any rule.
  std::string name;
  // Links from the nearest seed; `nullopt`: as many as there are. Not for
  // kDeny.
  std::optional<uint32_t> max_depth = std::nullopt;

  bool operator==(const ScopeRule&) const = default;
};

// "page", "prefix", ...; `nullopt` if there is none of that name.
std::string_view ScopeKindName(ScopeRule::Kind kind);
std::optional<ScopeRule::Kind> ScopeKindOf(std::string_view name);
// Of those that a seed may bring: "page, prefix, host, domain or any".
inline constexpr std::string_view kSeedScopes =
    "page, prefix, host, domain or any";

class Scope {
 public:
  Scope() = default;

  // kInvalidArgument, naming the rule, if a name is not a canonical URL, or
  // host.
  static absl::StatusOr<Scope> Create(const std::vector<ScopeRule>& rules);
  // One more; where two say how deep, the greater counts.
  absl::Status Add(const ScopeRule& rule);

  // kAllowed, kOutOfScope, kTooFar or kScopeDenies. `depth`: links from the
  // nearest seed.
  // REQUIRES: url is canonical.
  UrlVerdict Judge(const Url& url, uint32_t depth) const;
  // The same for a depth that is not known yet: up to which it is allowed;
  // `nullopt`: it is not.
  std::optional<uint32_t> MaxDepth(const Url& url) const;

  // Whether seeds say what is in scope; if not, everything is.
  bool HasSeeds() const;
  // For people: "the domain example.org; at most 3 links from a seed".
  std::string Words() const;

 private:
  bool Denies(std::string_view host) const;

  // How deep; of a rule without limit the greatest number.
  using Limits = absl::flat_hash_map<std::string, uint32_t>;

  std::optional<uint32_t> any_;
  Limits pages_;     // "//example.org:8080/a/b?c": http and https are alike.
  Limits prefixes_;  // "//example.org/a/"
  Limits hosts_;
  Limits domains_;
  Limits allowed_;
  absl::flat_hash_set<std::string> denied_;
};

}  // namespace gannet::storage
