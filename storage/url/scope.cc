#include "storage/url/scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "storage/url/domain.h"
#include "storage/url/ip_address.h"

namespace gannet::storage {
namespace {

using Kind = ScopeRule::Kind;

constexpr uint32_t kNoLimit = std::numeric_limits<uint32_t>::max();
// Words() names so many, and counts more.
constexpr size_t kMostNamed = 3;

constexpr std::array<std::string_view, 7> kNames = {
    "page", "prefix", "host", "domain", "any", "allow", "deny"};

// "//example.org:8080/a/b?c"
std::string_view WithoutScheme(const Url& url) {
  return std::string_view(url.href()).substr(url.scheme().size() + 1);
}

// Up to the last slash of the path: where relative links lead.
std::string_view Folder(const Url& url) {
  const std::string_view whole = WithoutScheme(url);
  const std::string_view before_query = whole.substr(0, whole.find('?'));
  return before_query.substr(0, before_query.rfind('/') + 1);
}

// Debian's Abseil has a string_view of its own, and its hash tables want that.
absl::string_view Key(std::string_view text) {
  return {text.data(), text.size()};
}

template <typename Table>
void Raise(const Table& table, std::string_view key,
           std::optional<uint32_t>& limit) {
  const auto it = table.find(Key(key));
  if (it == table.end()) return;
  limit = std::max(limit.value_or(0), it->second);
}

// `visit` is called with the host and each name above it, until it says true.
template <typename Visit>
bool AnyNameOf(std::string_view host, const Visit& visit) {
  if (IsIpHost(host)) return visit(host);
  for (;;) {
    if (visit(host)) return true;
    const size_t dot = host.find('.');
    if (dot == std::string_view::npos) return false;
    host.remove_prefix(dot + 1);
  }
}

absl::Status BadRule(const ScopeRule& rule, std::string_view why) {
  return absl::InvalidArgumentError(fmt::format(
      "scope: {} '{:.200}': {}", ScopeKindName(rule.kind), rule.name, why));
}

// "the domain a", "the domains a, b", "7 domains"; `cut` is left out in front.
template <typename Names>
void AddWords(const Names& names, std::string_view one, std::string_view more,
              size_t cut, std::string& words) {
  if (names.empty()) return;
  if (!words.empty()) words += "; ";
  if (names.size() > kMostNamed) {
    words += fmt::format("{} {}", names.size(), more);
    return;
  }
  std::vector<std::string> sorted;
  for (const auto& [name, limit] : names) sorted.push_back(name.substr(cut));
  std::sort(sorted.begin(), sorted.end());
  words += fmt::format("the {} {}", names.size() == 1 ? one : more,
                       fmt::join(sorted, ", "));
}

}  // namespace

std::string_view ScopeKindName(Kind kind) {
  return kNames[static_cast<size_t>(kind)];
}

std::optional<Kind> ScopeKindOf(std::string_view name) {
  const auto it = std::find(kNames.begin(), kNames.end(), name);
  if (it == kNames.end()) return std::nullopt;
  return static_cast<Kind>(it - kNames.begin());
}

absl::StatusOr<Scope> Scope::Create(const std::vector<ScopeRule>& rules) {
  Scope scope;
  for (const ScopeRule& rule : rules) {
    if (absl::Status s = scope.Add(rule); !s.ok()) return s;
  }
  return scope;
}

absl::Status Scope::Add(const ScopeRule& rule) {
  const uint32_t limit = rule.max_depth.value_or(kNoLimit);
  const bool is_name = rule.kind == Kind::kAllow || rule.kind == Kind::kDeny;
  const bool has_no_seed = rule.kind == Kind::kAny && rule.name.empty();
  Url url;
  if (!has_no_seed &&
      Url::Parse(is_name ? fmt::format("http://{}/", rule.name) : rule.name,
                 nullptr, url) != UrlOutcome::kOk) {
    return BadRule(rule, is_name ? "not a host" : "not an http or https URL");
  }
  if (is_name && url.host() != rule.name) return BadRule(rule, "not a host");
  // Two seeds may make one rule: the wider counts.
  const auto put = [&](Limits& limits, std::string_view key) {
    uint32_t& known = limits[Key(key)];
    known = std::max(known, limit);
  };
  switch (rule.kind) {
    case Kind::kPage:
      put(pages_, WithoutScheme(url));
      break;
    case Kind::kPrefix:
      put(prefixes_, Folder(url));
      break;
    case Kind::kHost:
      put(hosts_, url.host());
      break;
    case Kind::kDomain:
      put(domains_, RegistrableDomain(url.host()));
      break;
    case Kind::kAny:
      any_ = std::max(any_.value_or(0), limit);
      break;
    case Kind::kAllow:
      put(allowed_, rule.name);
      break;
    case Kind::kDeny:
      denied_.insert(rule.name);
      break;
  }
  return absl::OkStatus();
}

bool Scope::Denies(std::string_view host) const {
  return !denied_.empty() && AnyNameOf(host, [&](std::string_view name) {
    return denied_.contains(Key(name));
  });
}

std::optional<uint32_t> Scope::MaxDepth(const Url& url) const {
  const std::string_view host = url.host();
  if (Denies(host)) return std::nullopt;
  if (!HasSeeds()) return kNoLimit;
  std::optional<uint32_t> limit = any_;
  if (limit != kNoLimit) {
    Raise(domains_, RegistrableDomain(host), limit);
    Raise(hosts_, host, limit);
    if (!allowed_.empty()) {
      (void)AnyNameOf(host, [&](std::string_view name) {
        Raise(allowed_, name, limit);
        return false;
      });
    }
    if (!prefixes_.empty()) {
      // "//" begins the host, not a folder.
      for (std::string_view folder = Folder(url); folder.size() > 2;
           folder =
               folder.substr(0, folder.rfind('/', folder.size() - 2) + 1)) {
        Raise(prefixes_, folder, limit);
      }
    }
    if (!pages_.empty()) Raise(pages_, WithoutScheme(url), limit);
  }
  return limit;
}

UrlVerdict Scope::Judge(const Url& url, uint32_t depth) const {
  const std::optional<uint32_t> limit = MaxDepth(url);
  if (!limit.has_value()) {
    return Denies(url.host()) ? UrlVerdict::kScopeDenies
                              : UrlVerdict::kOutOfScope;
  }
  return depth <= *limit ? UrlVerdict::kAllowed : UrlVerdict::kTooFar;
}

bool Scope::HasSeeds() const {
  return any_.has_value() || !pages_.empty() || !prefixes_.empty() ||
         !hosts_.empty() || !domains_.empty();
}

std::string Scope::Words() const {
  std::string words;
  if (!HasSeeds() || any_ == kNoLimit) {
    words = "every link to every host";
  } else {
    if (any_.has_value()) {
      words = fmt::format("every host, at most {} links from its seed", *any_);
    }
    AddWords(domains_, "domain", "domains", 0, words);
    AddWords(hosts_, "host", "hosts", 0, words);
    AddWords(prefixes_, "folder", "folders", 2, words);
    AddWords(pages_, "page", "pages", 2, words);
    AddWords(allowed_, "allowed name", "allowed names", 0, words);
    uint32_t deepest = any_.value_or(0);
    for (const Limits* limits :
         {&domains_, &hosts_, &prefixes_, &pages_, &allowed_}) {
      for (const auto& [name, limit] : *limits) {
        deepest = std::max(deepest, limit);
      }
    }
    if (deepest != kNoLimit && !any_.has_value()) {
      words += fmt::format("; at most {} links from a seed", deepest);
    }
  }
  if (!denied_.empty()) {
    std::vector<std::string> names(denied_.begin(), denied_.end());
    std::sort(names.begin(), names.end());
    words += names.size() > kMostNamed
                 ? fmt::format("; not {} names", names.size())
                 : fmt::format("; not {}", fmt::join(names, ", "));
  }
  return words;
}

}  // namespace gannet::storage
