// Scopes: what each kind of rule wants, how deep, and rules that are refused.
#include "storage/url/scope.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "storage/url/domain.h"

namespace gannet::storage {
namespace {

using Kind = ScopeRule::Kind;

Scope Made(const std::vector<ScopeRule>& rules) {
  auto scope = Scope::Create(rules);
  EXPECT_TRUE(scope.ok()) << scope.status();
  return *std::move(scope);
}

UrlVerdict Verdict(const Scope& scope, std::string_view text,
                   uint32_t depth = 0) {
  return scope.Judge(Url::Parse(text).value(), depth);
}

constexpr char kGuide[] = "https://docs.example.org/guide/index.html";

TEST(ScopeTest, WithoutRulesEverythingIsInScope) {
  EXPECT_EQ(Verdict(Scope(), "http://a.example/", 1000), UrlVerdict::kAllowed);
  EXPECT_EQ(Scope().Words(), "every link to every host");
}

TEST(ScopeTest, APageIsItselfWithItsQueryAndWithEitherScheme) {
  const Scope scope = Made({{Kind::kPage, "https://a.example/b?c"}});
  EXPECT_EQ(Verdict(scope, "https://a.example/b?c"), UrlVerdict::kAllowed);
  EXPECT_EQ(Verdict(scope, "http://a.example/b?c"), UrlVerdict::kAllowed);
  EXPECT_EQ(Verdict(scope, "https://a.example/b"), UrlVerdict::kOutOfScope);
  EXPECT_EQ(Verdict(scope, "https://a.example/b?c&d"), UrlVerdict::kOutOfScope);
  EXPECT_EQ(Verdict(scope, "https://a.example:8443/b?c"),
            UrlVerdict::kOutOfScope);
}

TEST(ScopeTest, APrefixIsWhatLiesBelowTheFolderOfTheSeed) {
  const Scope scope = Made({{Kind::kPrefix, kGuide}});
  EXPECT_EQ(Verdict(scope, "https://docs.example.org/guide/"),
            UrlVerdict::kAllowed);
  EXPECT_EQ(Verdict(scope, "http://docs.example.org/guide/a/b/c?d=/e"),
            UrlVerdict::kAllowed);
  for (const char* url :
       {"https://docs.example.org/guide", "https://docs.example.org/",
        "https://docs.example.org/guide2/", "https://example.org/guide/a",
        "https://docs.example.org/x?/guide/"}) {
    EXPECT_EQ(Verdict(scope, url), UrlVerdict::kOutOfScope) << url;
  }
}

TEST(ScopeTest, ASlashInAQueryEndsNoFolder) {
  const Scope scope = Made({{Kind::kPrefix, "https://a.example/b/c?d=/e/f"}});
  EXPECT_EQ(Verdict(scope, "https://a.example/b/x"), UrlVerdict::kAllowed);
}

TEST(ScopeTest, ThePrefixOfAHomePageIsItsWholeHost) {
  const Scope scope = Made({{Kind::kPrefix, "https://a.example/"}});
  EXPECT_EQ(Verdict(scope, "https://a.example/b/c"), UrlVerdict::kAllowed);
  EXPECT_EQ(Verdict(scope, "https://b.example/b/c"), UrlVerdict::kOutOfScope);
}

TEST(ScopeTest, AHostIsThatNameOnly) {
  const Scope scope = Made({{Kind::kHost, kGuide}});
  EXPECT_EQ(Verdict(scope, "http://docs.example.org:81/"),
            UrlVerdict::kAllowed);
  EXPECT_EQ(Verdict(scope, "http://a.docs.example.org/"),
            UrlVerdict::kOutOfScope);
  EXPECT_EQ(Verdict(scope, "http://example.org/"), UrlVerdict::kOutOfScope);
}

TEST(ScopeTest, ADomainIsTheRegistrableOneWithAllNamesBelowIt) {
  const Scope scope = Made({{Kind::kDomain, "https://www.shop.co.uk/x"}});
  EXPECT_EQ(Verdict(scope, "http://shop.co.uk/"), UrlVerdict::kAllowed);
  EXPECT_EQ(Verdict(scope, "http://a.b.shop.co.uk/"), UrlVerdict::kAllowed);
  EXPECT_EQ(Verdict(scope, "http://other.co.uk/"), UrlVerdict::kOutOfScope);
}

TEST(ScopeTest, AnAddressIsItsOwnDomain) {
  const Scope scope = Made({{Kind::kDomain, "http://127.0.0.1:8080/"}});
  EXPECT_EQ(Verdict(scope, "http://127.0.0.1/"), UrlVerdict::kAllowed);
  EXPECT_EQ(Verdict(scope, "http://10.0.0.1/"), UrlVerdict::kOutOfScope);
}

TEST(ScopeTest, AllowAddsNamesAndDenyTakesThemAway) {
  const Scope scope = Made({{Kind::kHost, "http://a.example/"},
                            {Kind::kAllow, "cdn.example"},
                            {Kind::kDeny, "ads.cdn.example"}});
  EXPECT_EQ(Verdict(scope, "http://x.cdn.example/"), UrlVerdict::kAllowed);
  EXPECT_EQ(Verdict(scope, "http://ads.cdn.example/"),
            UrlVerdict::kScopeDenies);
  EXPECT_EQ(Verdict(scope, "http://b.example/"), UrlVerdict::kOutOfScope);
}

TEST(ScopeTest, AllowAloneNarrowsNothing) {
  const Scope scope = Made({{Kind::kAllow, "cdn.example"}});
  EXPECT_EQ(Verdict(scope, "http://b.example/"), UrlVerdict::kAllowed);
}

TEST(ScopeTest, TheDeepestRuleThatWantsAPageCounts) {
  const Scope scope = Made({{Kind::kDomain, "http://a.example/", 1},
                            {Kind::kPrefix, "http://a.example/deep/", 3},
                            {Kind::kAllow, "b.example", 0}});
  EXPECT_EQ(Verdict(scope, "http://a.example/x", 1), UrlVerdict::kAllowed);
  EXPECT_EQ(Verdict(scope, "http://a.example/x", 2), UrlVerdict::kTooFar);
  EXPECT_EQ(Verdict(scope, "http://a.example/deep/x", 3), UrlVerdict::kAllowed);
  EXPECT_EQ(Verdict(scope, "http://a.example/deep/x", 4), UrlVerdict::kTooFar);
  EXPECT_EQ(Verdict(scope, "http://b.example/", 1), UrlVerdict::kTooFar);
}

TEST(ScopeTest, AnyHasAllHostsButMayBeBoundedInDepth) {
  const Scope scope = Made({{Kind::kAny, "http://a.example/", 2},
                            {Kind::kHost, "http://b.example/"}});
  EXPECT_EQ(Verdict(scope, "http://c.example/", 2), UrlVerdict::kAllowed);
  EXPECT_EQ(Verdict(scope, "http://c.example/", 3), UrlVerdict::kTooFar);
  EXPECT_EQ(Verdict(scope, "http://b.example/", 9), UrlVerdict::kAllowed);
}

TEST(ScopeTest, SeedsFromBeforeThereWereRulesStayUnlimited) {
  const Scope scope =
      Made({{Kind::kAny, ""}, {Kind::kHost, "http://b.example/", 1}});
  EXPECT_EQ(Verdict(scope, "http://c.example/", 9), UrlVerdict::kAllowed);
}

TEST(ScopeTest, NamesThatAreNoneAreRefused) {
  for (const ScopeRule& rule :
       {ScopeRule{Kind::kHost, "a.example"}, ScopeRule{Kind::kPage, ""},
        ScopeRule{Kind::kAllow, "a.example/b"}, ScopeRule{Kind::kDeny, ""},
        ScopeRule{Kind::kAllow, "A.example"},
        ScopeRule{Kind::kDeny, "a.example:80"},
        ScopeRule{Kind::kDomain, "mailto:a@b.example"}}) {
    EXPECT_EQ(Scope::Create({rule}).status().code(),
              absl::StatusCode::kInvalidArgument)
        << ScopeKindName(rule.kind) << " " << rule.name;
  }
}

TEST(ScopeTest, DeniedNamesAreInTheOrderOfTheAlphabet) {
  EXPECT_EQ(Made({{Kind::kDeny, "c.example"},
                  {Kind::kDeny, "a.example"},
                  {Kind::kDeny, "b.example"}})
                .Words(),
            "every link to every host; not a.example, b.example, c.example");
}

TEST(ScopeTest, ItsWordsNameAFewAndCountMore) {
  EXPECT_EQ(Made({{Kind::kDomain, "http://www.a.example/"}}).Words(),
            "the domain a.example");
  EXPECT_EQ(Made({{Kind::kHost, "http://b.example/", 2},
                  {Kind::kHost, "http://a.example/", 1}})
                .Words(),
            "the hosts a.example, b.example; at most 2 links from a seed");
  EXPECT_EQ(
      Made({{Kind::kPrefix, kGuide}, {Kind::kDeny, "ads.example"}}).Words(),
      "the folder docs.example.org/guide/; not ads.example");
  std::vector<ScopeRule> many;
  for (int i = 0; i < 4; ++i) {
    many.push_back({Kind::kHost, "http://" + std::to_string(i) + ".example/"});
  }
  EXPECT_EQ(Made(many).Words(), "4 hosts");
}

// A slow, obvious second implementation, on random rules and URLs.
bool Wants(const ScopeRule& rule, const Url& url) {
  const auto ends_in = [](std::string_view host, std::string_view name) {
    return host == name || std::string(host).ends_with("." + std::string(name));
  };
  if (rule.kind == Kind::kAllow) return ends_in(url.host(), rule.name);
  if (rule.kind == Kind::kAny) return true;
  const Url seed = Url::Parse(rule.name).value();
  const auto rest = [](const Url& of) {
    return of.href().substr(of.href().find(':'));
  };
  switch (rule.kind) {
    case Kind::kPage:
      return rest(url) == rest(seed);
    case Kind::kPrefix: {
      const std::string whole = rest(seed);
      return rest(url).starts_with(whole.substr(0, whole.rfind('/') + 1));
    }
    case Kind::kHost:
      return url.host() == seed.host();
    default:
      return RegistrableDomain(url.host()) == RegistrableDomain(seed.host());
  }
}

TEST(ScopeTest, AnswersAsTheObviousWayDoes) {
  std::mt19937 random(7);
  const auto any_url = [&] {
    std::string url = random() % 2 ? "http://" : "https://";
    for (int labels = static_cast<int>(random() % 3); labels > 0; --labels) {
      url += static_cast<char>('a' + random() % 2);
      url += '.';
    }
    url += random() % 2 ? "x.example/" : "y.co.uk/";
    for (int parts = static_cast<int>(random() % 4); parts > 0; --parts) {
      url += static_cast<char>('a' + random() % 2);
      if (random() % 2) url += '/';
    }
    return url;
  };
  for (int round = 0; round < 3000; ++round) {
    std::vector<ScopeRule> rules;
    for (int i = 1 + static_cast<int>(random() % 4); i > 0; --i) {
      const auto kind = static_cast<Kind>(random() % 5);
      std::optional<uint32_t> depth;
      if (random() % 2) depth = random() % 4;
      if (kind != Kind::kAny || depth.has_value()) {
        rules.push_back({kind, any_url(), depth});
      }
      if (random() % 4 == 0) {
        rules.push_back({Kind::kAllow, "a.x.example", depth});
      }
    }
    const bool has_seed = std::any_of(
        rules.begin(), rules.end(),
        [](const ScopeRule& rule) { return rule.kind != Kind::kAllow; });
    const Scope scope = Made(rules);
    for (int i = 0; i < 10; ++i) {
      const Url url = Url::Parse(any_url()).value();
      const uint32_t depth = random() % 5;
      UrlVerdict expected =
          has_seed ? UrlVerdict::kOutOfScope : UrlVerdict::kAllowed;
      for (const ScopeRule& rule : rules) {
        if (!has_seed || !Wants(rule, url)) continue;
        if (depth <= rule.max_depth.value_or(1000)) {
          expected = UrlVerdict::kAllowed;
        } else if (expected == UrlVerdict::kOutOfScope) {
          expected = UrlVerdict::kTooFar;
        }
      }
      ASSERT_EQ(scope.Judge(url, depth), expected) << url.href();
    }
  }
}

}  // namespace
}  // namespace gannet::storage
