// A slow, obvious reading of robots.txt by RFC 9309, for the ground truth and
// the judge: which targets a given agent may ask for. It shares no code with
// the crawler that it judges.
//
// Rules applied: lines end with CR, LF or both; a '#' starts a comment; a UTF-8
// BOM is skipped; only the first 500 KiB count. A group is one or more
// user-agent lines and the rules after them; groups of the same agent are
// merged; an agent without a group of its own obeys '*'. The longest pattern
// wins, Allow on a tie; '*' stands for any bytes and a final '$' for the end.
// A pattern's non-ASCII octets are percent-encoded; targets must be canonical.
// Callers must know that /robots.txt itself is always allowed. Crawl-delay (not
// in the RFC) is read as a number of seconds. Immutable, so thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"

namespace gannet::fake_web {

class RobotsRules {
 public:
  // `agent` is a product token such as "gannet".
  static RobotsRules Parse(std::string_view text, std::string_view agent);
  static RobotsRules AllowAll() { return RobotsRules(); }
  static RobotsRules ForbidAll();

  // `target`: path and query of a canonical URL.
  bool Allows(std::string_view target) const;
  absl::Duration crawl_delay() const { return crawl_delay_; }

 private:
  struct Rule {
    bool allow = false;
    std::string pattern;
  };
  std::vector<Rule> rules_;
  absl::Duration crawl_delay_ = absl::ZeroDuration();
};

}  // namespace gannet::fake_web
