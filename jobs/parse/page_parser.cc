#include "jobs/parse/page_parser.h"

#include <xxhash.h>

#include <utility>

namespace gannet::jobs {

using storage::UrlOutcome;
using storage::UrlVerdict;

size_t PageParser::UrlHash::operator()(std::string_view url) const {
  return XXH3_64bits(url.data(), url.size());
}

PageParser::PageParser(ParseSettings settings,
                       const storage::Canonicaliser* canonicaliser,
                       const storage::UrlFilter* filter)
    : settings_(std::move(settings)),
      canonicaliser_(canonicaliser),
      filter_(filter),
      decoder_(settings_.max_decoded_bytes),
      scanner_(settings_.agent),
      gumbo_(settings_.agent),
      known_(0, UrlHash{&page_.outlink_urls}, UrlEqual{&page_.outlink_urls}) {}

void PageParser::Clear() {
  page_.kind = ParsedPage::Kind::kOther;
  page_.reader = ParsedPage::Reader::kNone;
  page_.charset.clear();
  page_.title.clear();
  page_.canonical.clear();
  page_.outlinks.clear();
  page_.counts = LinkCounts();
  known_.clear();
  links_ = 0;
}

bool PageParser::IsHtml(std::string_view body) const {
  if (!fields_.has_content_type) return LooksLikeHtml(body);
  return page_.media_type == "text/html" ||
         page_.media_type == "application/xhtml+xml";
}

const ParsedPage& PageParser::Parse(const storage::Url& url,
                                    std::string_view fields,
                                    std::string_view body,
                                    const storage::Scope& scope,
                                    uint32_t depth) {
  Clear();
  ReadResponseFields(fields, settings_.agent, fields_);
  page_.media_type = fields_.media_type;
  page_.noindex = fields_.noindex;
  page_.nofollow = fields_.nofollow;

  // What is not HTML is not decoded, unless only the decoded bytes can tell
  // whether it is.
  std::string_view decoded;
  if (!fields_.has_content_type || IsHtml(body)) {
    switch (decoder_.Decode(fields_.content_encoding, body, decoded)) {
      case DecodeOutcome::kOk:
        if (IsHtml(decoded)) page_.kind = ParsedPage::Kind::kHtml;
        break;
      case DecodeOutcome::kTooLarge:
        page_.kind = ParsedPage::Kind::kTooLarge;
        break;
      case DecodeOutcome::kDamaged:
      case DecodeOutcome::kUnknownCoding:
        page_.kind = ParsedPage::Kind::kBadEncoding;
        break;
    }
  }
  if (page_.kind == ParsedPage::Kind::kHtml) {
    const CharsetDecoder::Decoded text =
        charsets_.Decode(decoded, fields_.charset);
    page_.charset = text.charset;
    ReadFacts(text.text);
    page_.title = facts_.title;
    page_.noindex |= facts_.noindex;
    page_.nofollow |= facts_.nofollow;
    AddLinks(url, {scope, depth});
  }
  page_.outlink_urls.resize(links_);
  return page_;
}

void PageParser::ReadFacts(std::string_view html) {
  if (settings_.use_scanner && scanner_.Read(html, facts_)) {
    page_.reader = ParsedPage::Reader::kScanner;
  } else if (gumbo_.Read(html, facts_)) {
    page_.reader = ParsedPage::Reader::kGumbo;
  } else {
    page_.reader = ParsedPage::Reader::kScannerAnyway;
    scanner_.ReadAnyway(html, facts_);
  }
}

void PageParser::AddLinks(const storage::Url& url, const Wanted& wanted) {
  // A base that is no http(s) URL is as if not there: browsers say so of data:
  // and javascript:, and of other schemes nothing useful would come.
  const bool has_base =
      facts_.base_href.data() != nullptr &&
      storage::Url::Parse(facts_.base_href, &url, base_) == UrlOutcome::kOk;
  const storage::Url& base = has_base ? base_ : url;
  if (facts_.canonical.data() != nullptr &&
      canonicaliser_->Canonicalise(facts_.canonical, &base, link_) ==
          UrlOutcome::kOk) {
    page_.canonical = link_.href();
  }
  page_.counts.found = static_cast<uint32_t>(facts_.links.size());
  for (const HtmlLink& link : facts_.links) {
    if (!Follows(link)) {
      ++page_.counts.not_asked;
    } else if (settings_.honour_nofollow && (page_.nofollow || link.nofollow)) {
      ++page_.counts.nofollow;
    } else if (!has_base && !link.href.empty() && link.href[0] == '#') {
      ++page_.counts.same_page;  // Every other link of a manual is such a one.
    } else {
      AddLink(link, url, base, wanted);
    }
  }
}

void PageParser::AddLink(const HtmlLink& link, const storage::Url& url,
                         const storage::Url& base, const Wanted& wanted) {
  const UrlOutcome outcome =
      canonicaliser_->Canonicalise(link.href, &base, link_);
  if (outcome != UrlOutcome::kOk) {
    ++page_.counts.by_outcome[static_cast<size_t>(outcome)];
    return;
  }
  const std::string& href = link_.href();
  if (href == url.href()) {
    ++page_.counts.same_page;
    return;
  }
  if (known_.contains(std::string_view(href))) {
    ++page_.counts.repeated;
    return;
  }
  UrlVerdict verdict = filter_->Judge(link_);
  if (verdict == UrlVerdict::kAllowed) {
    verdict = wanted.scope.Judge(link_, wanted.depth);
  }
  if (verdict != UrlVerdict::kAllowed) {
    ++page_.counts.by_verdict[static_cast<size_t>(verdict)];
    return;
  }
  if (links_ >= settings_.max_links) {
    ++page_.counts.over_max_links;
    return;
  }
  if (links_ < page_.outlink_urls.size()) {
    page_.outlink_urls[links_] = href;
  } else {
    page_.outlink_urls.push_back(href);
  }
  page_.outlinks.push_back(storage::PageKeyOf(link_));
  known_.insert(links_++);
}

bool PageParser::Follows(const HtmlLink& link) const {
  switch (link.kind) {
    case LinkKind::kA:
      return settings_.follow_a;
    case LinkKind::kArea:
      return settings_.follow_area;
    case LinkKind::kIframe:
      return settings_.follow_iframe;
    case LinkKind::kFrame:
      return settings_.follow_frame;
    case LinkKind::kImage:
      return settings_.follow_img;
    case LinkKind::kSrcset:
      return settings_.follow_srcset;
    case LinkKind::kLink:
      // The last two name hosts, not pages.
      return settings_.follow_link && !HasWord(link.rel, "canonical") &&
             !HasWord(link.rel, "dns-prefetch") &&
             !HasWord(link.rel, "preconnect");
  }
  return false;
}

}  // namespace gannet::jobs
