// Any bytes as a link on any page: storage/url must agree with the slow
// reference, a canonical form must be its own canonical form, keys must give
// their URL back, and nothing may crash. Input: a base URL, a newline, a link.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "storage/url/canonical.h"
#include "storage/url/domain.h"
#include "storage/url/filter.h"
#include "storage/url/surt.h"
#include "tests/storage/url/reference_url.h"

namespace {

using namespace gannet::storage;  // NOLINT: one file, many names.

void Require(bool holds, const char* what, const std::string& detail) {
  if (holds) return;
  std::fprintf(stderr, "%s: %s\n", what, detail.c_str());
  std::abort();
}

void CheckCanonical(const Canonicaliser& canonicaliser, Url& url,
                    const reference::RefUrl& judge) {
  const UrlOutcome outcome = canonicaliser.Canonicalise(url);
  const std::optional<std::string> expected = reference::RefCanonical(judge);
  Require((outcome == UrlOutcome::kOk) == expected.has_value(),
          "judge differs on being canonical", judge.Href());
  if (outcome != UrlOutcome::kOk) return;
  // The reference knows only some of the parameters that are removed, so it is
  // compared only where there is no query.
  if (!judge.query.has_value()) {
    Require(url.href() == *expected, "canonical form",
            url.href() + " " + *expected);
  }
  Url again;
  Require(canonicaliser.Canonicalise(url.href(), nullptr, again) ==
                  UrlOutcome::kOk &&
              again.href() == url.href(),
          "not a fixed point", url.href() + " " + again.href());
  Require(again.host() == url.host() && again.path() == url.path() &&
              again.query() == url.query() && again.port() == url.port(),
          "parts out of place", url.href());

  const std::string surt = SurtKey(url);
  Require(UrlFromSurt(surt).value_or("") == url.href(), "SURT", surt);
  std::string prefix;
  const std::string_view domain = RegistrableDomain(url.host());
  AppendSurtDomainPrefix(domain, prefix);
  Require(!domain.empty() && surt.compare(0, prefix.size(), prefix) == 0,
          "domain is no prefix of its key", surt + " " + prefix);
  Require(RegistrableDomain(domain) == domain, "domain of a domain",
          std::string(domain));

  static const auto filter = UrlFilter::Create(UrlFilterRules()).value();
  filter->Judge(url);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 2048) return 0;  // The reference is quadratic.
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t newline = input.find('\n');
  static const Canonicaliser canonicaliser;
  Url base;
  reference::RefUrl judge_base;
  std::string_view reference = input;
  if (newline != std::string_view::npos) {
    reference = input.substr(newline + 1);
    Url::Parse(input.substr(0, newline), nullptr, base);
    reference::RefParse(input.substr(0, newline), nullptr, judge_base);
  }
  const bool has_base = !base.empty();
  Url url;
  const UrlOutcome outcome =
      Url::Parse(reference, has_base ? &base : nullptr, url);
  reference::RefUrl judge;
  const reference::RefOutcome expected =
      reference::RefParse(reference, has_base ? &judge_base : nullptr, judge);
  Require((outcome == UrlOutcome::kOk) ==
                  (expected == reference::RefOutcome::kOk) &&
              (outcome == UrlOutcome::kOtherScheme) ==
                  (expected == reference::RefOutcome::kOtherScheme),
          "outcome", std::string(UrlOutcomeName(outcome)));
  if (outcome == UrlOutcome::kOk) {
    Require(url.href() == judge.Href(), "href",
            url.href() + " " + judge.Href());
    CheckCanonical(canonicaliser, url, judge);
  }
  // Any bytes as a key are refused, or give a URL that has this key.
  const auto from_key = UrlFromSurt(reference);
  if (from_key.ok()) {
    Require(SurtKey(Url::Parse(*from_key).value()) == reference,
            "key of a key's URL", *from_key);
  }
  return 0;
}
