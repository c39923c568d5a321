// Which page links to which; web.h describes the plan. Links are only numbers
// here, so that the ground truth of millions of pages needs no text;
// html_page.cc writes them.
#include <algorithm>

#include "tests/fake_web/mix.h"
#include "tests/fake_web/web.h"

namespace gannet::fake_web {
namespace {

constexpr uint32_t kPageTree = 6;  // Children of a page.
constexpr uint32_t kHostTree = 4;  // Children of a host.
constexpr uint32_t kNavigation = 4;
constexpr uint32_t kImagesPerPage = 3;
constexpr uint32_t kImagesPerHost = 20;

// One in so many of the absolute links to https hosts that may be written with
// http:// is.
constexpr uint64_t kHttpFormOneIn = 12;

}  // namespace

HrefForm Web::FormOf(uint64_t hash, uint32_t from, uint32_t to) const {
  if (from != to) {
    return hash % 8 == 0 && IsHttps(from) == IsHttps(to)
               ? HrefForm::kSchemeRelative
               : HrefForm::kAbsolute;
  }
  switch (hash % 8) {
    case 0:
      return HrefForm::kAbsolute;
    case 1:
    case 2:
      return HrefForm::kRelative;
    case 3:
      return HrefForm::kFragment;
    default:
      return HrefForm::kRooted;
  }
}

// Page numbers as n·u³: page 0 is the most likely, and the number of in-links
// falls as a power of the page's number.
Ref Web::SkewedPage(uint32_t host, uint64_t hash) const {
  const double u = Unit(hash);
  const uint32_t pages = hosts_->Pages(host);
  const auto id = static_cast<uint32_t>(u * u * u * pages);
  return {.host = host, .id = std::min(id, pages - 1)};
}

Ref Web::SkewedPageElsewhere(uint64_t hash) const {
  const double u = Unit(hash);
  const uint32_t count = hosts_->count();
  const auto rank = static_cast<uint32_t>(u * u * count);
  return SkewedPage(hosts_->ByRank(std::min(rank, count - 1)), Mix(hash));
}

void Web::AppendHostTreeLinks(uint32_t host, Links* links) const {
  for (uint64_t child = uint64_t{host} * kHostTree + 1;
       child <= uint64_t{host} * kHostTree + kHostTree &&
       child < hosts_->count();
       ++child) {
    const auto id = static_cast<uint32_t>(child);
    links->push_back({.target = {.host = id}, .form = HrefForm::kAbsolute});
    if (MayBeClosed(id)) AppendHostTreeLinks(id, links);
  }
}

void Web::AppendOrdinaryLinks(const Ref& ref, Links* links) const {
  const uint32_t host = ref.host;
  const uint32_t pages = hosts_->Pages(host);
  const uint64_t hash = HashOf(ref, 20);
  auto add = [&](const Ref& target, uint64_t h, bool nofollow) {
    links->push_back({.target = target,
                      .form = FormOf(h, host, target.host),
                      .nofollow = nofollow});
  };
  links->push_back({.target = {.host = host, .kind = Nasty::kStyle},
                    .kind = LinkKind::kStyle});
  // The site's navigation: the same on every page.
  for (uint32_t page = 0; page <= kNavigation && page < pages; ++page) {
    add({.host = host, .id = page}, 4, false);
  }
  for (uint64_t child = uint64_t{ref.id} * kPageTree + 1;
       child <= uint64_t{ref.id} * kPageTree + kPageTree && child < pages;
       ++child) {
    add({.host = host, .id = static_cast<uint32_t>(child)}, Mix(hash, child),
        false);
  }
  if (ref.id == 0 && !MayBeClosed(host)) AppendHostTreeLinks(host, links);
  for (uint64_t extra = ref.id; extra < Extras(host); extra += pages) {
    const auto id = static_cast<uint32_t>(extra);
    add({.host = host, .id = id, .kind = ExtraKind(host, id)},
        Mix(hash, extra, 1), false);
  }
  // Random links, on average 12 within the host (fewer if it is small) and 4
  // elsewhere; together with the links above some 22.
  const uint32_t wanted = 9 + Below(hash, 15);
  const uint32_t inside =
      std::min<uint64_t>(wanted * 3 / 4, uint64_t{2} * (pages - 1));
  for (uint32_t i = 0; i < wanted; ++i) {
    const uint64_t h = Mix(hash, i, 2);
    const Ref target =
        i < inside ? SkewedPage(host, h) : SkewedPageElsewhere(h);
    const uint64_t choice = Mix(h);
    add(target, choice, (choice >> 20) % 16 == 0);
    Link& link = links->back();
    if (link.form == HrefForm::kAbsolute && IsHttps(target.host) &&
        TlsKind(target.host) == Nasty::kNone &&
        (choice >> 40) % kHttpFormOneIn == 0) {
      link.target.http_form = true;
    }
  }
  for (uint32_t i = 0; i < kImagesPerPage; ++i) {
    links->push_back({.target = {.host = host,
                                 .id = Below(Mix(hash, i, 3), kImagesPerHost),
                                 .kind = Nasty::kImage},
                      .kind = LinkKind::kImage});
  }
}

void Web::AppendGraphLinks(const Ref& ref, Links* links) const {
  const uint64_t page = hosts_->FirstPage(ref.host) + ref.id;
  const uint64_t hash = HashOf(ref, 21);
  for (uint32_t target : graph_->Links(static_cast<uint32_t>(page))) {
    const uint32_t host = hosts_->HostOfPage(target);
    links->push_back({.target = {.host = host,
                                 .id = static_cast<uint32_t>(
                                     target - hosts_->FirstPage(host))},
                      .form = FormOf(Mix(hash, target), ref.host, host)});
  }
}

void Web::AppendOddLinks(const Ref& ref, Links* links) const {
  auto step = [&ref](uint32_t number) {
    Ref target = ref;
    target.step = static_cast<uint16_t>(number);
    return target;
  };
  const uint32_t steps = Steps(ref, /*endless=*/60'000);
  switch (ref.kind) {
    case Nasty::kMirror:
      // Both mirrors link to it, because their bytes are the same.
      links->push_back({.target = step(1)});
      break;
    case Nasty::kCharset:
    case Nasty::kBase:
    case Nasty::kMetaNofollow:
    case Nasty::kHeaderNofollow:
    case Nasty::kNoindex:
      if (ref.step == 0) links->push_back({.target = step(1)});
      break;
    case Nasty::kNofollowLink:
      if (ref.step == 0) {
        links->push_back({.target = step(1), .nofollow = true});
      }
      break;
    case Nasty::kOddLinks:
      // html_odd.cc writes each in its own way.
      if (ref.step > 0) break;
      for (uint32_t i = 1; i < steps; ++i) {
        const LinkKind kind = i == 10   ? LinkKind::kArea
                              : i == 11 ? LinkKind::kFrame
                                        : LinkKind::kAnchor;
        links->push_back({.target = step(i), .kind = kind});
      }
      break;
    case Nasty::kBrokenHtml:
      // Steps 9 to 13 only look like links.
      if (ref.step > 0) break;
      for (uint32_t i = 1; i <= 8; ++i) links->push_back({.target = step(i)});
      break;
    case Nasty::kCalendar:
      if (ref.step > 0) links->push_back({.target = step(ref.step - 1u)});
      [[fallthrough]];
    case Nasty::kGrowingPath:
    case Nasty::kGrowingQuery:
    case Nasty::kSession:
      if (ref.step + 1u < steps) {
        links->push_back({.target = step(ref.step + 1u)});
      }
      break;
    case Nasty::kRedirectChain:
      if (ref.step + 1u < steps) return;
      break;
    case Nasty::kPlain:
    case Nasty::kForbidden:
    case Nasty::kErrorRecovers:
    case Nasty::kBusy503:
    case Nasty::kBusy429:
    case Nasty::kSlow:
    case Nasty::kLongLength:
    case Nasty::kScriptTitle:
    case Nasty::kCanonical:
      break;
    default:
      return;  // These are not HTML, or never complete.
  }
  const uint64_t hash = HashOf(ref, 22);
  links->push_back({.target = {.host = ref.host}});
  for (uint64_t i = 0; i < 3; ++i) {
    links->push_back({.target = SkewedPage(ref.host, Mix(hash, i))});
  }
}

void Web::AppendLinks(const Ref& ref, Links* links) const {
  if (ref.http_form) return;
  if (ref.kind != Nasty::kNone) {
    AppendOddLinks(ref, links);
  } else if (graph_) {
    AppendGraphLinks(ref, links);
  } else {
    AppendOrdinaryLinks(ref, links);
  }
}

std::optional<Ref> Web::Redirect(const Ref& ref) const {
  Ref target = ref;
  if (ref.http_form) {
    target.http_form = false;
    return target;
  }
  const uint32_t steps = Steps(ref);
  switch (ref.kind) {
    case Nasty::kRedirect: {
      const uint64_t hash = HashOf(ref, 23);
      return hash % 2 == 0 ? SkewedPage(ref.host, Mix(hash))
                           : SkewedPageElsewhere(Mix(hash));
    }
    case Nasty::kRedirectChain:
      if (ref.step + 1u >= steps) return std::nullopt;
      target.step = static_cast<uint16_t>(ref.step + 1);
      return target;
    case Nasty::kRedirectLoop:
      target.step = static_cast<uint16_t>((ref.step + 1u) % steps);
      return target;
    default:
      return std::nullopt;
  }
}

}  // namespace gannet::fake_web
