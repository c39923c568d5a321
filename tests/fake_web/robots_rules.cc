#include "tests/fake_web/robots_rules.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"

namespace gannet::fake_web {
namespace {

constexpr size_t kMostBytes = 500 * 1024;

absl::string_view Absl(std::string_view s) { return {s.data(), s.size()}; }
std::string_view Std(absl::string_view s) { return {s.data(), s.size()}; }

bool EqualsNoCase(std::string_view a, std::string_view b) {
  return absl::EqualsIgnoreCase(Absl(a), Absl(b));
}

bool IsHex(char c) {
  return absl::ascii_isxdigit(static_cast<unsigned char>(c));
}

// RFC 9309, 2.2.2: a pattern's octets outside ASCII match their
// percent-encoding, which canonical URLs have.
std::string AsInUrls(std::string_view pattern) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const auto c = static_cast<unsigned char>(pattern[i]);
    if (c >= 0x80) {
      out.push_back('%');
      out.push_back(kHex[c >> 4]);
      out.push_back(kHex[c & 15]);
    } else if (c == '%' && i + 2 < pattern.size() && IsHex(pattern[i + 1]) &&
               IsHex(pattern[i + 2])) {
      out.push_back('%');
      out.push_back(
          absl::ascii_toupper(static_cast<unsigned char>(pattern[++i])));
      out.push_back(
          absl::ascii_toupper(static_cast<unsigned char>(pattern[++i])));
    } else {
      out.push_back(static_cast<char>(c));
    }
  }
  return out;
}

// Does `pattern` match a prefix of `text`? Tries every length for each '*'.
bool Matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return true;
  if (pattern == "$") return text.empty();
  if (pattern[0] == '*') {
    const std::string_view rest = pattern.substr(1);
    for (size_t skip = 0; skip <= text.size(); ++skip) {
      if (Matches(rest, text.substr(skip))) return true;
    }
    return false;
  }
  return !text.empty() && pattern[0] == text[0] &&
         Matches(pattern.substr(1), text.substr(1));
}

// The product token at the start of a user-agent value: letters, '_', '-'.
std::string_view ProductToken(std::string_view value) {
  size_t end = 0;
  while (end < value.size() &&
         (absl::ascii_isalpha(static_cast<unsigned char>(value[end])) ||
          value[end] == '-' || value[end] == '_')) {
    ++end;
  }
  return value.substr(0, end);
}

}  // namespace

RobotsRules RobotsRules::ForbidAll() {
  RobotsRules rules;
  rules.rules_.push_back({.allow = false, .pattern = "/"});
  return rules;
}

RobotsRules RobotsRules::Parse(std::string_view text, std::string_view agent) {
  text = text.substr(0, kMostBytes);
  // Even an incomplete BOM is not part of the first key.
  for (const char byte : {'\xEF', '\xBB', '\xBF'}) {
    if (!text.empty() && text[0] == byte) text.remove_prefix(1);
  }
  RobotsRules own, others;
  bool own_group_seen = false;
  bool in_own = false, in_others = false, last_was_agent = false;
  while (!text.empty()) {
    const size_t end = text.find_first_of("\r\n");
    std::string_view line = text.substr(0, end);
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
    line = line.substr(0, line.find('#'));
    const size_t colon = line.find(':');
    if (colon == line.npos) continue;
    const std::string_view key =
        Std(absl::StripAsciiWhitespace(Absl(line.substr(0, colon))));
    const std::string_view value =
        Std(absl::StripAsciiWhitespace(Absl(line.substr(colon + 1))));
    if (EqualsNoCase(key, "user-agent")) {
      if (!last_was_agent) in_own = in_others = false;
      last_was_agent = true;
      const bool star = value == "*" || value.starts_with("* ");
      if (star) in_others = true;
      if (!star && EqualsNoCase(ProductToken(value), agent)) {
        in_own = own_group_seen = true;
      }
      continue;
    }
    const bool allow = EqualsNoCase(key, "allow");
    if (allow || EqualsNoCase(key, "disallow")) {
      last_was_agent = false;
      if (value.empty()) continue;
      const Rule rule{.allow = allow, .pattern = AsInUrls(value)};
      if (in_own) own.rules_.push_back(rule);
      if (in_others) others.rules_.push_back(rule);
    } else if (EqualsNoCase(key, "crawl-delay")) {
      last_was_agent = false;
      double seconds = 0;
      if (absl::SimpleAtod(Absl(value), &seconds) && seconds >= 0) {
        if (in_own) own.crawl_delay_ = absl::Seconds(seconds);
        if (in_others) others.crawl_delay_ = absl::Seconds(seconds);
      }
    }
  }
  return own_group_seen ? own : others;
}

bool RobotsRules::Allows(std::string_view target) const {
  size_t longest = 0;
  bool allowed = true;
  for (const Rule& rule : rules_) {
    if (!Matches(rule.pattern, target)) continue;
    const size_t length = rule.pattern.size();
    if (length > longest || (length == longest && rule.allow)) {
      longest = length;
      allowed = rule.allow;
    }
  }
  return allowed;
}

}  // namespace gannet::fake_web
