// PageParser turns a response into what the round needs of it: distinct,
// accepted outlinks, and what the page says of itself. It is the way from the
// wire to the crawl DB's keys:
//
//   bytes -> content decoding -> charset -> tags -> URLs, resolved, canonical,
//   judged by the filters -> page keys
//
// A page is strangers' text: everything here is bounded, and nothing fails;
// what could not be read is a kind of page. Not thread-safe: one per worker,
// whose memory is used again for the next page.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "jobs/parse/charset.h"
#include "jobs/parse/content_decoder.h"
#include "jobs/parse/html_facts.h"
#include "jobs/parse/html_gumbo.h"
#include "jobs/parse/html_scanner.h"
#include "jobs/parse/response_fields.h"
#include "storage/crawl_db/keys.h"
#include "storage/url/canonical.h"
#include "storage/url/filter.h"
#include "storage/url/scope.h"
#include "storage/url/url.h"

namespace gannet::jobs {

struct ParseSettings {
  // Which links are followed. rel=canonical is recorded, never followed.
  bool follow_a = true;
  bool follow_area = true;
  bool follow_iframe = true;
  bool follow_frame = true;
  bool follow_link = false;  // <link rel=stylesheet href> and its like.
  bool follow_img = false;
  bool follow_srcset = false;

  bool honour_nofollow = true;  // rel=nofollow, meta robots, X-Robots-Tag.
  size_t max_links = 10'000;    // Distinct, a page; the rest is counted.
  size_t max_decoded_bytes = size_t{20} << 20;
  std::string agent;  // For <meta name=AGENT>, "X-Robots-Tag: agent: ...".
  bool use_scanner = true;  // False: gumbo reads every page.
};

// Why links did not become outlinks.
struct LinkCounts {
  uint32_t found = 0;      // All, of every kind.
  uint32_t not_asked = 0;  // Of kinds that are not followed.
  uint32_t nofollow = 0;
  uint32_t same_page = 0;
  uint32_t repeated = 0;
  uint32_t over_max_links = 0;
  // By storage::UrlOutcome and storage::UrlVerdict; what is ok is not counted.
  std::array<uint32_t, storage::kUrlOutcomeCount> by_outcome{};
  std::array<uint32_t, storage::kUrlVerdictCount> by_verdict{};
};

struct ParsedPage {
  enum class Kind : uint8_t {
    kHtml,
    kOther,        // Not HTML: it has no links.
    kTooLarge,     // HTML of more than max_decoded_bytes.
    kBadEncoding,  // HTML in a Content-Encoding damaged or unknown.
  };
  enum class Reader : uint8_t {
    kNone,
    kScanner,
    kGumbo,
    kScannerAnyway,  // gumbo could not read it within its bounds.
  };

  Kind kind = Kind::kOther;
  Reader reader = Reader::kNone;
  std::string media_type;  // In lower case; empty if there is none.
  std::string charset;
  std::string title;
  std::string canonical;  // Resolved and canonical; empty if there is none.
  bool noindex = false;   // Recorded, whatever the settings.
  bool nofollow = false;
  // Distinct, accepted, in order of appearance, never the page itself.
  std::vector<storage::PageKey> outlinks;
  std::vector<std::string> outlink_urls;  // The same.
  LinkCounts counts;
};

class PageParser {
 public:
  // `canonicaliser` and `filter` must outlive this.
  PageParser(ParseSettings settings,
             const storage::Canonicaliser* canonicaliser,
             const storage::UrlFilter* filter);
  PageParser(const PageParser&) = delete;
  PageParser& operator=(const PageParser&) = delete;

  // `fields`: header lines of the response as received. `body`: as on the wire,
  // content-encoded, but not chunked. `depth`: of the links. The page is valid
  // until the next call.
  // REQUIRES: `url` is canonical.
  const ParsedPage& Parse(const storage::Url& url, std::string_view fields,
                          std::string_view body,
                          const storage::Scope& scope = {}, uint32_t depth = 0);

 private:
  struct Wanted {
    const storage::Scope& scope;
    uint32_t depth;
  };
  void Clear();
  bool IsHtml(std::string_view body) const;
  void ReadFacts(std::string_view html);
  void AddLinks(const storage::Url& url, const Wanted& wanted);
  void AddLink(const HtmlLink& link, const storage::Url& url,
               const storage::Url& base, const Wanted& wanted);
  bool Follows(const HtmlLink& link) const;

  const ParseSettings settings_;
  const storage::Canonicaliser* const canonicaliser_;
  const storage::UrlFilter* const filter_;

  ContentDecoder decoder_;
  CharsetDecoder charsets_;
  HtmlScanner scanner_;
  HtmlGumbo gumbo_;

  ResponseFields fields_;
  HtmlFacts facts_;
  storage::Url base_;
  storage::Url link_;
  ParsedPage page_;

  // The outlinks so far, by index, to tell repeated ones. Strings keep their
  // memory from page to page: only the first links_ of outlink_urls are of this
  // one until Parse is done.
  struct UrlHash {
    using is_transparent = void;
    const std::vector<std::string>* urls;
    size_t operator()(std::string_view url) const;
    size_t operator()(uint32_t index) const { return (*this)((*urls)[index]); }
  };
  struct UrlEqual {
    using is_transparent = void;
    const std::vector<std::string>* urls;
    bool operator()(uint32_t a, uint32_t b) const { return a == b; }
    bool operator()(uint32_t a, std::string_view b) const {
      return (*urls)[a] == b;
    }
    bool operator()(std::string_view a, uint32_t b) const {
      return (*urls)[b] == a;
    }
  };
  absl::flat_hash_set<uint32_t, UrlHash, UrlEqual> known_;
  uint32_t links_ = 0;
};

}  // namespace gannet::jobs
