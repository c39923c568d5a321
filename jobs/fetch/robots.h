// RobotsRules is what one robots.txt says to one agent, by RFC 9309; where the
// RFC is silent, as google/robotstxt (https://github.com/google/robotstxt)
// reads it. A value; immutable, so safe from any thread.
//
// Where we depart, and why:
// - Escapes of characters that need none ("/%62az"): the RFC (2.2.2) decodes
//   them before comparing, google/robotstxt compares them as written. A path is
//   denied if either reading denies it. Of "%7E" and "~" only the RFC's counts:
//   RFC 1738 had "~" encoded, and people write either for the same page.
// - Common mistakes are read as google/robotstxt reads them, or more strictly:
//   rules that were meant to keep crawlers out should. "Disalow" and other near
//   misspellings of "Disallow", "User agent" and "Useragent" are understood; so
//   are "Disallow /" and "User-agent *" without a colon. "Allow" must be
//   written as the RFC has it. A NUL ends its line.
// - google/robotstxt also takes "/dir/" as allowed where "/dir/index.html" is.
//   The RFC knows nothing of it; nor do we.
// - Of a file longer than kMaxBytes (2.5: at least 500 KiB are read) the line
//   that the limit cuts is dropped: half of "Allow: /a/b" is "Allow: /".
// - A file with more than kMaxRules rules for us forbids everything: a rule
//   left out may be the one that mattered, and judging by hundreds of
//   thousands would be a way to hold up a crawler.
// - "The /robots.txt URI is implicitly allowed" (2.2.2): the fetcher asks for
//   it without asking here. As the path of a page it is judged like any other,
//   as google/robotstxt and its published cases do: "Disallow: /" denies it.
// - Crawl-delay is not in the RFC; of several in merged groups the largest
//   counts. It does not end a run of user-agent lines (2.2.4: other records
//   must not interfere).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"

namespace gannet::jobs {

// The product that `user_agent` begins with: "gannet" of
// "gannet/1.0 (+https://example.org)". May be empty.
std::string_view ProductOf(std::string_view user_agent);
// RFC 9309, 2.2.1: a product can be named in a robots.txt if it is made of
// letters, '_' and '-'. Of "bot9" a file's readers see "bot"; an agent of that
// name would obey the groups of "*" only, so a configuration must refuse it.
bool IsProductToken(std::string_view product);

class RobotsRules {
 public:
  static constexpr size_t kMaxBytes = 500 * 1024;
  static constexpr size_t kMaxRules = 20'000;

  // Never fails: what is not understood is skipped, as 2.2 asks. `agent` is a
  // product token or a whole user agent; only its product counts.
  static RobotsRules Parse(std::string_view text, std::string_view agent);
  // The file does not exist (2.3.1.3).
  static RobotsRules AllowAll();
  // The file cannot be had (2.3.1.4), or the operator said so; `why` is given
  // as the rule.
  static RobotsRules DenyAll(std::string_view why);

  struct Verdict {
    bool allowed = true;
    // As written ("Disallow: /x"), or DenyAll's reason; empty if no rule
    // speaks. Valid as long as these rules are, and are not moved.
    std::string_view rule;
    int line = 0;  // In the file, from 1; 0 if no rule of a file speaks.
  };
  // `path_and_query` of a URL, as on the request line: "/a?b". Costs, at worst,
  // the number of rules times its length.
  Verdict Judge(std::string_view path_and_query) const;

  // Of the groups used; not capped here. What is no number of seconds, or
  // negative or infinite, was ignored.
  std::optional<absl::Duration> crawl_delay() const { return crawl_delay_; }
  size_t size() const { return rules_.size(); }

 private:
  friend class RobotsParser;
  // Rules hold no strings of their own but places in `bytes_`: a site keeps
  // the rules of many thousand origins.
  struct Span {
    uint32_t begin = 0;
    uint32_t size = 0;
  };
  struct Rule {
    bool allow = false;
    int line = 0;
    uint32_t octets = 0;  // The weight of 2.2.2.
    Span written;
    Span pattern;
  };

  std::string_view Get(Span span) const;
  Verdict JudgeBy(const std::vector<Rule>& rules, std::string_view path) const;

  std::string bytes_;
  // Best first (most octets, then allow, then line): the first that matches
  // decides.
  std::vector<Rule> rules_;
  // The same in the other reading; empty where it makes no difference.
  std::vector<Rule> as_written_;
  // Some rule differs between the readings.
  bool readings_differ_ = false;
  bool deny_all_ = false;
  std::optional<absl::Duration> crawl_delay_;
};

}  // namespace gannet::jobs
