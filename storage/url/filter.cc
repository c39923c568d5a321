#include "storage/url/filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/status/status.h"
#include "storage/url/ip_address.h"

namespace gannet::storage {
namespace {

// For the regexes of one list, compiled, and their search.
constexpr int64_t kRegexBytes = int64_t{64} << 20;

absl::Status BadEntry(std::string_view list, std::string_view kind,
                      std::string_view entry, std::string_view why) {
  return absl::InvalidArgumentError(
      fmt::format("{} {} '{:.200}': {}", list, kind, entry, why));
}

// The host as URLs have it ("Bücher.example." is xn--bcher-kva.example); empty
// if it is none.
std::string CanonicalHost(std::string_view text,
                          const Canonicaliser& canonicaliser) {
  // What is not a host would be read as another part of the URL.
  if (text.find_first_of("/\\?#@ \t\r\n") != std::string_view::npos) return {};
  const bool is_ipv6 = !text.empty() && text[0] == '[' && text.back() == ']';
  if (!is_ipv6 && text.find(':') != std::string_view::npos) return {};
  Url url;
  const UrlOutcome outcome =
      canonicaliser.Canonicalise(fmt::format("http://{}/", text), nullptr, url);
  if (outcome != UrlOutcome::kOk) return {};
  return std::string(url.host());
}

UrlFilterRules WithoutLists(UrlFilterRules rules) {
  rules.allow = UrlList();
  rules.deny = UrlList();
  return rules;
}

// Debian's Abseil has a string_view of its own, and its hash sets want that.
bool Contains(const absl::flat_hash_set<std::string>& set,
              std::string_view key) {
  return set.contains(absl::string_view(key.data(), key.size()));
}

}  // namespace

std::string_view UrlVerdictName(UrlVerdict verdict) {
  static constexpr std::array<std::string_view, kUrlVerdictCount> kNames = {
      "allowed",           "scheme",
      "too_long",          "too_deep",
      "repeated_segments", "too_many_parameters",
      "query_too_long",    "denied_domain",
      "denied_host",       "denied_prefix",
      "denied_regex",      "not_allowed",
      "out_of_scope",      "too_far",
      "scope_denies"};
  return kNames[static_cast<size_t>(verdict)];
}

UrlFilter::UrlFilter(const UrlFilterRules& rules)
    : limits_(WithoutLists(rules)) {}

absl::StatusOr<std::unique_ptr<UrlFilter>> UrlFilter::Create(
    const UrlFilterRules& rules, const Canonicaliser& canonicaliser) {
  if (!rules.allow_http && !rules.allow_https) {
    return absl::InvalidArgumentError(
        "filter: neither http nor https is allowed: nothing to crawl");
  }
  const std::pair<std::string_view, size_t> limits[] = {
      {"max_url_bytes", rules.max_url_bytes},
      {"max_path_depth", rules.max_path_depth},
      {"max_segment_repeats", rules.max_segment_repeats}};
  for (const auto& [name, value] : limits) {
    if (value == 0) {
      return absl::InvalidArgumentError(
          fmt::format("filter: {} is 0, which would refuse every page", name));
    }
  }
  // The constructor is private: make_unique cannot reach it.
  std::unique_ptr<UrlFilter> filter(new UrlFilter(rules));
  absl::Status status =
      Fill(rules.allow, "allow", canonicaliser, filter->allow_);
  if (status.ok()) {
    status = Fill(rules.deny, "deny", canonicaliser, filter->deny_);
  }
  if (!status.ok()) return status;
  return filter;
}

absl::Status UrlFilter::Fill(const UrlList& list, std::string_view name,
                             const Canonicaliser& canonicaliser,
                             Matcher& matcher) {
  matcher.empty = list.empty();
  for (const std::string& domain : list.domains) {
    std::string host = CanonicalHost(domain, canonicaliser);
    if (host.empty()) return BadEntry(name, "domain", domain, "not a host");
    matcher.domains.insert(std::move(host));
  }
  for (const std::string& text : list.hosts) {
    std::string host = CanonicalHost(text, canonicaliser);
    if (host.empty()) return BadEntry(name, "host", text, "not a host");
    matcher.hosts.insert(std::move(host));
  }

  std::vector<std::string> prefixes = list.prefixes;
  std::sort(prefixes.begin(), prefixes.end());
  for (std::string& prefix : prefixes) {
    Url url;
    const UrlOutcome outcome = canonicaliser.Canonicalise(prefix, nullptr, url);
    if (outcome != UrlOutcome::kOk) {
      return BadEntry(name, "prefix", prefix,
                      "not the beginning of an http(s) URL");
    }
    // Another spelling would never match, and the operator would not notice.
    if (url.href() != prefix) {
      return BadEntry(name, "prefix", prefix,
                      fmt::format("write it as '{}'", url.href()));
    }
    if (matcher.prefixes.empty() ||
        prefix.compare(0, matcher.prefixes.back().size(),
                       matcher.prefixes.back()) != 0) {
      matcher.prefixes.push_back(std::move(prefix));
    }
  }

  if (list.regexes.empty()) return absl::OkStatus();
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kRegexBytes);
  matcher.regexes = std::make_unique<RE2::Set>(options, RE2::UNANCHORED);
  for (const std::string& regex : list.regexes) {
    std::string error;
    if (matcher.regexes->Add(regex, &error) < 0) {
      return BadEntry(name, "regex", regex, error);
    }
  }
  // Also tries a search, and fails if it leaves too little memory for one.
  if (!matcher.regexes->Compile()) {
    return absl::InvalidArgumentError(
        fmt::format("{} regexes: {} together need more than {} MiB", name,
                    list.regexes.size(), kRegexBytes >> 20));
  }
  return absl::OkStatus();
}

bool UrlFilter::Matcher::HasDomainOf(std::string_view host) const {
  if (domains.empty()) return false;
  if (IsIpHost(host)) return Contains(domains, host);
  for (;;) {
    if (Contains(domains, host)) return true;
    const size_t dot = host.find('.');
    if (dot == std::string_view::npos) return false;
    host.remove_prefix(dot + 1);
  }
}

bool UrlFilter::Matcher::HasHost(std::string_view host) const {
  return !hosts.empty() && Contains(hosts, host);
}

bool UrlFilter::Matcher::HasPrefixOf(std::string_view url) const {
  auto next = std::upper_bound(prefixes.begin(), prefixes.end(), url);
  if (next == prefixes.begin()) return false;
  const std::string& candidate = *--next;
  return url.substr(0, candidate.size()) == candidate;
}

bool UrlFilter::Matcher::HasRegexFor(const std::string& url,
                                     bool if_unknown) const {
  if (regexes == nullptr) return false;
  RE2::Set::ErrorInfo error{};
  if (regexes->Match(url, nullptr, &error)) return true;
  return error.kind != RE2::Set::kNoError && if_unknown;
}

bool UrlFilter::Matcher::Has(const Url& url) const {
  return HasDomainOf(url.host()) || HasHost(url.host()) ||
         HasPrefixOf(url.href()) ||
         HasRegexFor(url.href(), /*if_unknown=*/false);
}

UrlVerdict UrlFilter::Judge(const Url& url) const {
  const UrlVerdict shape = JudgeShape(url);
  if (shape != UrlVerdict::kAllowed) return shape;
  if (deny_.HasDomainOf(url.host())) return UrlVerdict::kDeniedDomain;
  if (deny_.HasHost(url.host())) return UrlVerdict::kDeniedHost;
  if (deny_.HasPrefixOf(url.href())) return UrlVerdict::kDeniedPrefix;
  if (deny_.HasRegexFor(url.href(), /*if_unknown=*/true)) {
    return UrlVerdict::kDeniedRegex;
  }
  if (allow_.empty || allow_.Has(url)) return UrlVerdict::kAllowed;
  return UrlVerdict::kNotAllowed;
}

// Cheapest first: a megabyte URL is turned away by its length alone.
UrlVerdict UrlFilter::JudgeShape(const Url& url) const {
  if (url.is_https() ? !limits_.allow_https : !limits_.allow_http) {
    return UrlVerdict::kScheme;
  }
  if (url.href().size() > limits_.max_url_bytes) return UrlVerdict::kTooLong;
  if (url.has_query()) {
    const std::string_view query = url.query();
    if (query.size() > limits_.max_query_bytes) {
      return UrlVerdict::kQueryTooLong;
    }
    const auto parameters =
        1 + static_cast<size_t>(std::count(query.begin(), query.end(), '&'));
    if (parameters > limits_.max_query_parameters) {
      return UrlVerdict::kTooManyParameters;
    }
  }
  return JudgePath(url.path());
}

UrlVerdict UrlFilter::JudgePath(std::string_view path) const {
  // Segment i and the one `period` before it are compared as they come: if
  // they agree for period * repeats segments in a row, a group of `period`
  // segments has been followed by itself that often. Only the last kMaxGroup
  // segments are needed, so nothing is allocated.
  std::array<std::string_view, kMaxGroup> recent;
  std::array<size_t, kMaxGroup + 1> agreeing{};
  size_t depth = 0;
  while (!path.empty()) {
    path.remove_prefix(1);  // The slash.
    const size_t end = std::min(path.find('/'), path.size());
    const std::string_view segment = path.substr(0, end);
    path.remove_prefix(end);
    if (segment.empty()) continue;
    for (size_t period = 1; period <= std::min(depth, kMaxGroup); ++period) {
      if (recent[(depth - period) % kMaxGroup] != segment) {
        agreeing[period] = 0;
      } else if (++agreeing[period] >= period * limits_.max_segment_repeats) {
        return UrlVerdict::kRepeatedSegments;
      }
    }
    recent[depth % kMaxGroup] = segment;
    if (++depth > limits_.max_path_depth) return UrlVerdict::kTooDeep;
  }
  return UrlVerdict::kAllowed;
}

}  // namespace gannet::storage
