// The same seed makes the same web, which has the shape of the real one.
#include "tests/fake_web/web.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/fake_web/html_page.h"
#include "tests/fake_web/truth.h"
#include "tests/fake_web/web_clock.h"

namespace gannet::fake_web {
namespace {

std::unique_ptr<Web> MakeWeb(uint32_t hosts, uint64_t pages,
                             std::string_view nasty = "none", uint64_t seed = 1,
                             double https_share = 0) {
  WebOptions options;
  options.hosts = hosts;
  options.pages = pages;
  options.seed = seed;
  options.nasty = ParseNasty(nasty).value();
  options.https_share = https_share;
  return Web::Create(options).value();
}

std::vector<Ref> OrdinaryPages(const Web& web) {
  std::vector<Ref> pages;
  for (uint32_t host = 0; host < web.hosts().count(); ++host) {
    for (uint32_t id = 0; id < web.hosts().Pages(host); ++id) {
      pages.push_back({.host = host, .id = id});
    }
  }
  return pages;
}

TEST(WebTest, SameSeedMakesTheSamePagesAndAnotherSeedOthers) {
  const auto a = MakeWeb(20, 500), b = MakeWeb(20, 500);
  const auto other = MakeWeb(20, 500, "none", 2);
  const HtmlPages pages_a(a.get()), pages_b(b.get()), pages_other(other.get());
  for (const Ref& ref : OrdinaryPages(*a)) {
    std::string text_a, text_b, text_other;
    pages_a.Append(ref, 0, HrefStyle::kAsServed, &text_a);
    pages_b.Append(ref, 0, HrefStyle::kAsServed, &text_b);
    ASSERT_EQ(text_a, text_b);
    if (ref.id < other->hosts().Pages(ref.host)) {
      pages_other.Append(ref, 0, HrefStyle::kAsServed, &text_other);
      ASSERT_NE(text_a, text_other);
    }
  }
}

// The hash was recorded before hosts could be https. If it changes, older logs
// cannot be judged any more.
TEST(WebTest, AWebWithoutHttpsIsByteForByteWhatItAlwaysWas) {
  const auto web = MakeWeb(40, 2000, "all");
  const HtmlPages pages(web.get());
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a.
  Truth truth(web.get(), {});
  std::string text;
  for (const TruePage& page : truth.AllUrls()) {
    text = web->Url(page.ref);
    text += Name(page.outcome);
    pages.Append(page.ref, 0, HrefStyle::kAsServed, &text);
    for (const char c : text) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
  }
  EXPECT_EQ(hash, 16068004564637984360u);
}

TEST(WebTest, HostsHaveAsManyPagesAsAskedForInAPowerLaw) {
  const auto web = MakeWeb(1000, 100'000);
  EXPECT_EQ(web->hosts().pages(), 100'000u);
  // Zipf with exponent 0.9: the hundredth has 100^-0.9 of the first's pages.
  const double first = web->hosts().Pages(web->hosts().ByRank(0));
  const double hundredth = web->hosts().Pages(web->hosts().ByRank(99));
  EXPECT_NEAR(hundredth / first, std::pow(100, -0.9), 0.002);
  EXPECT_GE(web->hosts().Pages(web->hosts().ByRank(999)), 1u);
}

TEST(WebTest, LargestHostIsABound) {
  WebOptions options;
  options.hosts = 50;
  options.pages = 5000;
  options.largest_host = 130;
  const auto web = Web::Create(options).value();
  EXPECT_EQ(web->hosts().pages(), 5000u);
  EXPECT_EQ(web->hosts().Pages(web->hosts().ByRank(0)), 130u);
  options.largest_host = 99;
  EXPECT_TRUE(absl::IsInvalidArgument(Web::Create(options).status()));
}

TEST(WebTest, SomeHostsShareARegistrableDomainUnderSeveralTlds) {
  const auto web = MakeWeb(400, 4000);
  std::set<std::string> domains, tlds, names;
  for (uint32_t host = 0; host < web->hosts().count(); ++host) {
    const std::string name(web->hosts().Name(host));
    names.insert(name);
    EXPECT_EQ(web->hosts().Find(name), host);
    const size_t dot = name.rfind('.');
    tlds.insert(name.substr(dot));
    const size_t before = name.rfind('.', dot - 1);
    domains.insert(before == name.npos ? name : name.substr(before + 1));
  }
  EXPECT_EQ(names.size(), 400u);
  EXPECT_EQ(tlds.size(), 3u);
  EXPECT_LT(domains.size(), 360u);
  EXPECT_GT(domains.size(), 200u);
}

TEST(WebTest, ALargerShareAddsHttpsHostsAndTakesNoneAway) {
  const auto none = MakeWeb(1000, 2000, "none", 1, 0);
  const auto some = MakeWeb(1000, 2000, "none", 1, 0.3);
  const auto more = MakeWeb(1000, 2000, "none", 1, 0.6);
  const auto all = MakeWeb(1000, 2000, "none", 1, 1);
  int count = 0;
  for (uint32_t host = 0; host < 1000; ++host) {
    count += some->IsHttps(host);
    EXPECT_FALSE(none->IsHttps(host));
    EXPECT_LE(some->IsHttps(host), more->IsHttps(host));
    EXPECT_TRUE(all->IsHttps(host));
    EXPECT_THAT(
        some->Url({.host = host}),
        testing::StartsWith(some->IsHttps(host) ? "https://" : "http://"));
  }
  EXPECT_NEAR(count, 300, 50);
}

TEST(WebTest, AnHttpsHostsUrlHasAnHttpFormThatRedirectsToIt) {
  const auto web = MakeWeb(40, 2000, "all", 1, 0.5);
  Truth truth(web.get(), {});
  for (const TruePage& page : truth.AllUrls()) {
    const std::string url = web->Url(page.ref);
    if (!web->IsHttps(page.ref.host)) {
      ASSERT_FALSE(web->FindUrl("https" + url.substr(4)).has_value()) << url;
      continue;
    }
    Ref form = page.ref;
    form.http_form = true;
    const std::string http = "http" + url.substr(5);
    ASSERT_EQ(web->Url(form), http);
    ASSERT_EQ(web->FindUrl(http), form);
    ASSERT_EQ(web->Redirect(form), page.ref);
    Links links;
    web->AppendLinks(form, &links);
    ASSERT_TRUE(links.empty());
    // Both forms end at the same robots.txt or the same broken TLS.
    const Outcome outcome = truth.OutcomeOf(form);
    const bool moved = page.outcome != Outcome::kBlocked &&
                       web->TlsKind(page.ref.host) == Nasty::kNone;
    ASSERT_EQ(outcome, moved ? Outcome::kMoved : page.outcome) << http;
  }
}

TEST(WebTest, SomeLinksToHttpsHostsAreWrittenInTheirHttpForm) {
  const auto web = MakeWeb(100, 4000, "all", 1, 0.5);
  const HtmlPages pages(web.get());
  int forms = 0, absolute = 0;
  std::string html;
  for (const Ref& ref : OrdinaryPages(*web)) {
    Links links;
    web->AppendLinks(ref, &links);
    html.clear();
    for (const Link& link : links) {
      const Ref& to = link.target;
      if (link.form == HrefForm::kSchemeRelative) {
        EXPECT_EQ(web->IsHttps(ref.host), web->IsHttps(to.host));
      }
      absolute += web->IsHttps(to.host) && link.form == HrefForm::kAbsolute;
      if (!to.http_form) continue;
      ++forms;
      EXPECT_TRUE(web->IsHttps(to.host));
      EXPECT_EQ(web->TlsKind(to.host), Nasty::kNone);
      EXPECT_EQ(link.form, HrefForm::kAbsolute);
      if (html.empty()) pages.Append(ref, 0, HrefStyle::kAsServed, &html);
      EXPECT_THAT(html, testing::HasSubstr(
                            "href=\"http://" +
                            std::string(web->hosts().Name(to.host)) + "/"));
    }
  }
  EXPECT_GT(forms, absolute / 24);
  EXPECT_LT(forms, absolute / 8);
}

// A crawler that never follows an http form still finds every ordinary page.
TEST(WebTest, NoOrdinaryPageHidesBehindAnHttpFormOrNastyTls) {
  const auto web = MakeWeb(300, 6000, "tls", 1, 0.7);
  Truth truth(web.get(), {});
  std::set<std::string> known = {web->Url({})};
  std::vector<Ref> open = {{}};
  size_t fetched = 0, failed = 0, unreachable = 0;
  while (!open.empty()) {
    const Ref ref = open.back();
    open.pop_back();
    const Outcome outcome = truth.OutcomeOf(ref);
    fetched += outcome == Outcome::kFetched;
    failed += outcome == Outcome::kFailed;
    std::vector<Ref> found;
    truth.AppendFound(ref, outcome, &found);
    for (const Ref& next : found) {
      if (!next.http_form && known.insert(web->Url(next)).second) {
        open.push_back(next);
      }
    }
  }
  for (uint32_t host = 0; host < web->hosts().count(); ++host) {
    if (web->TlsKind(host) == Nasty::kNone) continue;
    EXPECT_LE(web->hosts().Pages(host), 100u);
    unreachable += web->hosts().Pages(host);
  }
  EXPECT_EQ(fetched, 6000 - unreachable);
  EXPECT_GT(failed, 20u);
}

TEST(WebTest, EveryUrlLeadsBackToItsPage) {
  const auto web = MakeWeb(40, 2000, "all", 1, 0.5);
  Truth truth(web.get(), {});
  std::set<std::string> urls;
  for (const TruePage& page : truth.AllUrls()) {
    const std::string url = web->Url(page.ref);
    EXPECT_TRUE(urls.insert(url).second) << url << " is two pages";
    const auto found = web->FindUrl(url);
    ASSERT_TRUE(found.has_value()) << url;
    ASSERT_EQ(*found, page.ref) << url;
    EXPECT_FALSE(web->FindUrl(url + "x").has_value()) << url;
  }
}

TEST(WebTest, UrlsAreAsLongAsRealOnes) {
  const auto web = MakeWeb(200, 4000);
  std::vector<size_t> lengths;
  size_t with_query = 0;
  for (const Ref& ref : OrdinaryPages(*web)) {
    const std::string url = web->Url(ref);
    lengths.push_back(url.size());
    with_query += url.find('?') != url.npos;
  }
  std::sort(lengths.begin(), lengths.end());
  EXPECT_GE(lengths[lengths.size() / 2], 60u);
  EXPECT_LE(lengths.back(), 150u);  // So that limits on URLs do not hit them.
  EXPECT_GT(with_query, lengths.size() / 10);
  EXPECT_LT(with_query, lengths.size() / 3);
}

TEST(WebTest, PagesAreAbout14KilobytesWith22Links) {
  const auto web = MakeWeb(100, 4000);
  const HtmlPages pages(web.get());
  std::vector<size_t> sizes;
  double bytes = 0, links = 0, nofollow = 0;
  for (const Ref& ref : OrdinaryPages(*web)) {
    std::string html;
    pages.Append(ref, 0, HrefStyle::kAsServed, &html);
    sizes.push_back(html.size());
    bytes += static_cast<double>(html.size());
    Links all;
    web->AppendLinks(ref, &all);
    for (const Link& link : all) {
      links += link.kind == LinkKind::kAnchor;
      nofollow += link.nofollow;
    }
  }
  std::sort(sizes.begin(), sizes.end());
  const auto n = static_cast<double>(sizes.size());
  EXPECT_NEAR(static_cast<double>(sizes[sizes.size() / 2]), 14'000, 700);
  EXPECT_NEAR(bytes / n, 14'000, 1000);
  EXPECT_GT(sizes.back(), 60'000u);  // The tail of the power law.
  EXPECT_NEAR(links / n, 22, 2);
  EXPECT_GT(nofollow / n, 0.3);
}

TEST(WebTest, InLinksFollowAPowerLaw) {
  const auto web = MakeWeb(200, 20'000);
  std::vector<uint32_t> in_links(web->hosts().pages());
  for (const Ref& ref : OrdinaryPages(*web)) {
    Links links;
    web->AppendLinks(ref, &links);
    for (const Link& link : links) {
      if (link.kind != LinkKind::kAnchor) continue;
      ++in_links[web->hosts().FirstPage(link.target.host) + link.target.id];
    }
  }
  std::sort(in_links.rbegin(), in_links.rend());
  // The top percent gets more than a quarter of all links, and half of the
  // pages fewer than 10 each.
  double all = 0, top = 0;
  for (size_t i = 0; i < in_links.size(); ++i) {
    all += in_links[i];
    if (i < in_links.size() / 100) top += in_links[i];
  }
  EXPECT_GT(top / all, 0.25);
  EXPECT_LT(in_links[in_links.size() / 2], 15u);
  EXPECT_GE(in_links.back(), 1u);
}

TEST(WebTest, EveryPageIsReachableFromTheSeed) {
  for (const uint64_t seed : {1, 2, 3}) {
    const auto web = MakeWeb(300, 6000, "none", seed);
    Truth truth(web.get(), {});
    EXPECT_EQ(truth.Reachable().size(), 6000u);
  }
}

TEST(WebTest, NoOpenPageHidesBehindAClosedHost) {
  for (const std::string agent : {"gannet", "somebody"}) {
    const auto web = MakeWeb(300, 6000, "all");
    Truth truth(web.get(), {.agent = agent});
    size_t ordinary = 0, closed_hosts_pages = 0;
    for (const TruePage& page : truth.Reachable()) {
      ordinary +=
          page.ref.kind == Nasty::kNone && page.outcome == Outcome::kFetched;
    }
    for (uint32_t host = 0; host < web->hosts().count(); ++host) {
      if (!truth.RobotsOf(host).Allows("/")) {
        closed_hosts_pages += web->hosts().Pages(host);
      }
    }
    EXPECT_GT(closed_hosts_pages, 0u);
    EXPECT_EQ(ordinary, 6000 - closed_hosts_pages) << agent;
  }
}

// Random links reach nearly every host as well, but only these links make it
// certain.
TEST(WebTest, AHomePageIsLinkedFromItsNearestAncestorThatIsOpenToAll) {
  const auto web = MakeWeb(500, 6000, "all", 1, 0.7);
  Truth truth(web.get(), {.agent = "somebody"});
  uint32_t adopted = 0;
  for (uint32_t host = 1; host < web->hosts().count(); ++host) {
    uint32_t parent = (host - 1) / 4;
    while (!truth.RobotsOf(parent).Allows("/") ||
           web->RobotsKind(parent) == Nasty::kRobotsHuge ||
           web->TlsKind(parent) != Nasty::kNone) {
      parent = (parent - 1) / 4;
    }
    adopted += parent != (host - 1) / 4;
    Links links;
    web->AppendLinks({.host = parent}, &links);
    EXPECT_TRUE(std::any_of(links.begin(), links.end(), [&](const Link& link) {
      return link.target == Ref{.host = host} && !link.nofollow;
    })) << host;
  }
  EXPECT_GT(adopted, 5u);
}

TEST(WebTest, EveryNastyKindAppearsInASmallWeb) {
  const auto web = MakeWeb(60, 3000, "all", 1, 1);
  Truth truth(web.get(), {});
  NastySet seen;
  for (const TruePage& page : truth.Reachable()) {
    seen.set(static_cast<size_t>(page.ref.kind));
  }
  for (uint32_t host = 0; host < web->hosts().count(); ++host) {
    seen.set(static_cast<size_t>(web->RobotsKind(host)));
    seen.set(static_cast<size_t>(web->TlsKind(host)));
  }
  for (const NastyInfo& info : AllNasty()) {
    if (info.group.empty() || info.kind == Nasty::kChanges) continue;
    EXPECT_TRUE(Has(seen, info.kind)) << info.name;
  }
}

TEST(WebTest, PagesChangeOncePerIntervalAndGroupsDifferByTwo) {
  const auto web = MakeWeb(50, 500, "changes");
  const absl::Time start = WebClock::DefaultOrigin();
  std::set<absl::Duration> intervals;
  for (const Ref& ref : OrdinaryPages(*web)) {
    const absl::Duration interval = web->ChangeInterval(ref);
    intervals.insert(interval);
    const uint64_t before = web->VersionAt(ref, start);
    const uint64_t after = web->VersionAt(ref, start + 100 * interval);
    EXPECT_NEAR(static_cast<double>(after - before), 100, 1);
    const absl::Time changed = web->LastModified(ref, start);
    EXPECT_LE(changed, start);
    EXPECT_EQ(web->VersionAt(ref, changed + absl::Milliseconds(1)), before);
    EXPECT_EQ(web->VersionAt(ref, changed - absl::Milliseconds(1)), before - 1);
  }
  EXPECT_EQ(intervals.size(), 7u);
  EXPECT_EQ(*intervals.begin() * 64, *intervals.rbegin());
}

TEST(WebTest, LatencyIsADistanceBetweenHostAndAsker) {
  WebOptions options;
  options.latency = absl::Milliseconds(100);
  const auto web = Web::Create(options).value();
  std::set<absl::Duration> seen;
  for (uint32_t host = 0; host < 50; ++host) {
    const absl::Duration latency = web->Latency(host, 0x7f000001);
    EXPECT_EQ(latency, web->Latency(host, 0x7f000001));
    EXPECT_LE(latency, absl::Milliseconds(142));
    seen.insert(latency);
    EXPECT_NE(latency, web->Latency(host, 0x7f000002));
  }
  EXPECT_GT(seen.size(), 20u);
}

TEST(WebOptionsTest, OptionsSurviveALineOfText) {
  WebOptions options;
  options.seed = 77;
  options.hosts = 9;
  options.nasty = ParseNasty("traps,redirect-loop").value();
  options.suffixes = {"co.example", "test"};
  options.latency = absl::Milliseconds(20);
  options.gzip = true;
  options.https_share = 0.25;
  options.graph = "a file with spaces";
  const std::string line = FormatOptions(options);
  EXPECT_EQ(FormatOptions(ParseOptions(line).value()), line);
  EXPECT_FALSE(ParseOptions("seed=x").ok());
  // The options of an older log, without https.
  EXPECT_EQ(ParseOptions("seed=1 hosts=5 graph=").value().https_share, 0);
  options.https_share = 1.5;
  EXPECT_TRUE(absl::IsInvalidArgument(Validate(options)));
}

TEST(NastyTest, ListsTakeKindsGroupsAndExceptions) {
  const NastySet set = ParseNasty("errors,slow,-gone").value();
  EXPECT_TRUE(Has(set, Nasty::kNotFound));
  EXPECT_TRUE(Has(set, Nasty::kSlow));
  EXPECT_FALSE(Has(set, Nasty::kGone));
  EXPECT_EQ(ParseNasty(FormatNasty(set)).value(), set);
  EXPECT_TRUE(absl::IsInvalidArgument(ParseNasty("eror").status()));
  for (const NastyInfo& info : AllNasty()) {
    EXPECT_EQ(Info(info.kind).name, info.name);  // The table is in order.
    EXPECT_EQ(NastyByName(info.name), info.kind);
  }
}

}  // namespace
}  // namespace gannet::fake_web
