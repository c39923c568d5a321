#include "jobs/fetch/robots.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "storage/url/percent.h"

namespace gannet::jobs {
namespace {

using storage::ClassOf;
using storage::HexValue;
using storage::IsAlpha;
using storage::IsHexDigit;

absl::string_view Absl(std::string_view s) { return {s.data(), s.size()}; }

bool EqualsNoCase(std::string_view a, std::string_view b) {
  return absl::EqualsIgnoreCase(Absl(a), Absl(b));
}

std::string_view Strip(std::string_view s) {
  const absl::string_view stripped = absl::StripAsciiWhitespace(Absl(s));
  return {stripped.data(), stripped.size()};
}

bool IsEscape(std::string_view s, size_t i) {
  return s[i] == '%' && i + 2 < s.size() && IsHexDigit(s[i + 1]) &&
         IsHexDigit(s[i + 2]);
}

uint8_t EscapedByte(std::string_view s, size_t i) {
  return static_cast<uint8_t>(HexValue(s[i + 1]) << 4 | HexValue(s[i + 2]));
}

// Bytes that no form below has otherwise: everything outside ASCII is escaped.
constexpr char kStar = '\x80';
constexpr char kDollar = '\x81';
constexpr char kForeign = '\xFF';

// How bytes are brought into one form before they are compared.
struct Form {
  bool decode_unreserved;  // The RFC's reading (2.2.2): "%62" is "b".
  bool escape_non_ascii;   // 2.2.2 too. If not, such a byte matches none.
  // 2.2.3: "%2A" and "%24" in a rule stand for the characters that are special
  // when raw. Where they are not special, both become kStar and kDollar. (Not
  // escapes: a rule that ends in a lone '%' would match half of one.)
  bool star_is_special;
  bool dollar_is_special;
};

void AppendInForm(std::string_view in, const Form& form, std::string& out) {
  for (size_t i = 0; i < in.size(); ++i) {
    const bool escaped = IsEscape(in, i);
    const uint8_t byte =
        escaped ? EscapedByte(in, i) : static_cast<uint8_t>(in[i]);
    if (escaped) i += 2;
    if (byte == '*' && (escaped || !form.star_is_special)) {
      out.push_back(kStar);
    } else if (byte == '$' && (escaped || !form.dollar_is_special)) {
      out.push_back(kDollar);
    } else if (byte >= 0x80 && !escaped && !form.escape_non_ascii) {
      out.push_back(kForeign);
    } else if (byte >= 0x80 ||
               (escaped && byte != '~' &&
                !(form.decode_unreserved &&
                  (storage::kByteClass[byte] & storage::kUnreserved)))) {
      storage::AppendPercentByte(byte, out);  // With capitals.
    } else {
      out.push_back(static_cast<char>(byte));
    }
  }
}

std::string PatternInForm(std::string_view pattern, bool decode_unreserved) {
  std::string out;
  const bool to_end = pattern.ends_with('$');
  if (to_end) pattern.remove_suffix(1);
  AppendInForm(pattern, {decode_unreserved, true, true, false}, out);
  if (to_end) out.push_back('$');
  return out;
}

std::string PathInForm(std::string_view path, bool decode_unreserved,
                       bool escape_non_ascii) {
  std::string out;
  AppendInForm(path, {decode_unreserved, escape_non_ascii, false, false}, out);
  return out;
}

// An escape that the two readings take differently.
bool HasUnreservedEscape(std::string_view text) {
  for (size_t i = text.find('%'); i != text.npos; i = text.find('%', i + 1)) {
    if (!IsEscape(text, i)) continue;
    const uint8_t byte = EscapedByte(text, i);
    if (byte != '~' && storage::kByteClass[byte] & storage::kUnreserved) {
      return true;
    }
  }
  return false;
}

size_t CountOf(std::string_view what, std::string_view text) {
  size_t count = 0;
  for (size_t i = text.find(what); i != text.npos; i = text.find(what, i + 1)) {
    ++count;
  }
  return count;
}

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<uint8_t>(c) < 0x80; });
}

// Does `pattern` match a prefix of `path`? '*' stands for any bytes, a final
// '$' for the end. Each piece between stars is looked for where the one before
// ended: if any assignment of pieces matches, the leftmost does. memmem() is
// linear in glibc, so the whole is too.
bool Matches(std::string_view pattern, std::string_view path) {
  const bool to_end = pattern.ends_with('$');
  if (to_end) pattern.remove_suffix(1);
  size_t star = pattern.find('*');
  const std::string_view head = pattern.substr(0, star);
  if (!path.starts_with(head)) return false;
  path.remove_prefix(head.size());
  if (star == pattern.npos) return !to_end || path.empty();
  while (true) {
    pattern.remove_prefix(star + 1);
    star = pattern.find('*');
    const std::string_view piece = pattern.substr(0, star);
    if (star == pattern.npos && to_end) return path.ends_with(piece);
    if (!piece.empty()) {
      const void* found =
          memmem(path.data(), path.size(), piece.data(), piece.size());
      if (found == nullptr) return false;
      path.remove_prefix(static_cast<const char*>(found) - path.data() +
                         piece.size());
    }
    if (star == pattern.npos) return true;
  }
}

// The product token at the start of a user-agent line's value.
std::string_view LeadingToken(std::string_view value) {
  size_t end = 0;
  while (end < value.size() &&
         (IsAlpha(value[end]) || value[end] == '-' || value[end] == '_')) {
    ++end;
  }
  return value.substr(0, end);
}

bool StartsWithNoCase(std::string_view text, std::string_view prefix) {
  return absl::StartsWithIgnoreCase(Absl(text), Absl(prefix));
}

constexpr std::string_view kBlanks = " \t";

// Is the key, or its beginning, "disallow" with at most two letters missing,
// added, wrong or swapped with their neighbours? "Allow" is three away.
// (Optimal string alignment, a row for each letter of the key.)
bool IsNearlyDisallow(std::string_view key) {
  constexpr std::string_view kWord = "disallow";
  constexpr size_t kMostWrong = 2;
  using Row = std::array<size_t, kWord.size() + 1>;
  Row row{}, before{}, before_that{};
  for (size_t j = 0; j < row.size(); ++j) row[j] = j;
  key = key.substr(0, kWord.size() + kMostWrong);
  const auto letter = [key](size_t i) {
    return absl::ascii_tolower(static_cast<unsigned char>(key[i]));
  };
  for (size_t i = 1; i <= key.size(); ++i) {
    before_that = before;
    before = row;
    row[0] = i;
    for (size_t j = 1; j < row.size(); ++j) {
      const size_t replaced =
          before[j - 1] + (letter(i - 1) == kWord[j - 1] ? 0 : 1);
      row[j] = std::min({before[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && letter(i - 1) == kWord[j - 2] &&
          letter(i - 2) == kWord[j - 1]) {
        row[j] = std::min(row[j], before_that[j - 2] + 1);
      }
    }
    if (row.back() <= kMostWrong) return true;
  }
  return false;
}

enum class Key { kUserAgent, kAllow, kDisallow, kCrawlDelay, kOther };

Key KeyOf(std::string_view key) {
  for (const char* name : {"user-agent", "user agent", "useragent"}) {
    if (StartsWithNoCase(key, name)) return Key::kUserAgent;
  }
  if (EqualsNoCase(key, "allow")) return Key::kAllow;
  if (EqualsNoCase(key, "crawl-delay")) return Key::kCrawlDelay;
  return IsNearlyDisallow(key) ? Key::kDisallow : Key::kOther;
}

struct Record {
  Key key = Key::kOther;
  std::string_view value;
};

// A line without its comment. Where the colon was forgotten, a blank stands in
// for it, if the line is two words (as google/robotstxt has it) and no Allow.
Record RecordOf(std::string_view line) {
  line = Strip(line);
  const bool has_blank_key = StartsWithNoCase(line, "user agent");
  const size_t blank =
      line.find_first_of(kBlanks, has_blank_key ? strlen("user agent") : 0);
  const size_t colon = line.find(':');
  Record record;
  if (blank < colon) {
    record = {KeyOf(line.substr(0, blank)), Strip(line.substr(blank))};
    // "Disallow /a:b": the colon is not the one that was forgotten.
    const bool is_pattern =
        record.value.starts_with('/') || record.value.starts_with('*');
    const bool is_meant =
        colon == line.npos
            ? record.key == Key::kUserAgent || record.key == Key::kDisallow
            : record.key == Key::kDisallow && is_pattern;
    if (is_meant && record.value.find_first_of(kBlanks) == line.npos) {
      return record;
    }
  }
  if (colon == line.npos) return {};
  return {KeyOf(Strip(line.substr(0, colon))), Strip(line.substr(colon + 1))};
}

}  // namespace

std::string_view ProductOf(std::string_view user_agent) {
  return user_agent.substr(0, user_agent.find_first_of("/ \t(;"));
}

bool IsProductToken(std::string_view product) {
  return !product.empty() && LeadingToken(product) == product;
}

// Reads the lines once, and collects the rules of the agent's own groups and of
// the groups of "*" side by side, since which count is known only at the end.
class RobotsParser {
 public:
  explicit RobotsParser(std::string_view agent) : agent_(ProductOf(agent)) {}

  void Line(std::string_view line, int number) {
    line = line.substr(0, line.find_first_of(std::string_view("#\0", 2)));
    const Record record = RecordOf(line);
    switch (record.key) {
      case Key::kUserAgent:
        return UserAgent(record.value);
      case Key::kAllow:
      case Key::kDisallow:
        return Rule(Strip(line), record.value, record.key == Key::kAllow,
                    number);
      case Key::kCrawlDelay:
        return CrawlDelay(record.value);
      case Key::kOther:
        return;
    }
  }

  RobotsRules Finish() {
    Group& group = own_seen_ ? own_ : others_;
    if (group.too_many) {
      RobotsRules denied =
          RobotsRules::DenyAll("more rules in robots.txt than are read");
      denied.crawl_delay_ = group.rules.crawl_delay_;
      return denied;
    }
    Sort(group.rules.rules_);
    Sort(group.rules.as_written_);
    if (!group.rules.readings_differ_) {
      group.rules.as_written_ = {};
    }
    group.rules.bytes_.shrink_to_fit();
    group.rules.rules_.shrink_to_fit();
    return std::move(group.rules);
  }

 private:
  struct Group {
    RobotsRules rules;
    bool active = false;  // The lines being read belong to it.
    bool too_many = false;
  };

  void UserAgent(std::string_view value) {
    // 2.2.1: successive user-agent lines share the rules that follow.
    if (!last_was_agent_) own_.active = others_.active = false;
    last_was_agent_ = true;
    // As google/robotstxt: "* and more" counts as "*", "*more" matches no
    // agent.
    if (!value.empty() && value[0] == '*') {
      if (value.size() == 1 ||
          absl::ascii_isspace(static_cast<unsigned char>(value[1]))) {
        others_.active = true;
      }
    } else if (!agent_.empty() && EqualsNoCase(LeadingToken(value), agent_)) {
      own_.active = own_seen_ = true;
    }
  }

  void Rule(std::string_view written, std::string_view pattern, bool allow,
            int line) {
    last_was_agent_ = false;
    if (pattern.empty()) return;  // "Disallow:" forbids nothing.
    for (Group* group : {&own_, &others_}) {
      if (!group->active) continue;
      if (group->rules.rules_.size() >= RobotsRules::kMaxRules) {
        group->too_many = true;
        continue;
      }
      Add(group->rules, written, pattern, allow, line);
    }
  }

  static void Add(RobotsRules& rules, std::string_view written,
                  std::string_view pattern, bool allow, int line) {
    RobotsRules::Rule rule;
    rule.allow = allow;
    rule.line = line;
    rule.written = Store(rules, written);
    rules.readings_differ_ |= HasUnreservedEscape(pattern);
    const size_t escaped_special = CountOf("%2a", pattern) +
                                   CountOf("%2A", pattern) +
                                   CountOf("%24", pattern);
    for (const bool decode : {true, false}) {
      const std::string in_form = PatternInForm(pattern, decode);
      rule.pattern = StorePattern(rules, rule.written, in_form);
      rule.octets = static_cast<uint32_t>(in_form.size() + 2 * escaped_special);
      (decode ? rules.rules_ : rules.as_written_).push_back(rule);
    }
  }

  static RobotsRules::Span Store(RobotsRules& rules, std::string_view text) {
    const auto begin = static_cast<uint32_t>(rules.bytes_.size());
    rules.bytes_.append(text);
    return {begin, static_cast<uint32_t>(text.size())};
  }

  // A pattern is nearly always the end of the rule as written.
  static RobotsRules::Span StorePattern(RobotsRules& rules,
                                        RobotsRules::Span written,
                                        std::string_view pattern) {
    if (rules.Get(written).ends_with(pattern)) {
      const auto size = static_cast<uint32_t>(pattern.size());
      return {written.begin + written.size - size, size};
    }
    return Store(rules, pattern);
  }

  static void Sort(std::vector<RobotsRules::Rule>& rules) {
    std::stable_sort(
        rules.begin(), rules.end(),
        [](const RobotsRules::Rule& a, const RobotsRules::Rule& b) {
          if (a.octets != b.octets) return a.octets > b.octets;
          return a.allow > b.allow;
        });
  }

  void CrawlDelay(std::string_view value) {
    // Neither signs, "nan" and "inf", nor hexadecimal numbers.
    if (value.find_first_not_of("0123456789.") != value.npos) return;
    double seconds = 0;
    if (!absl::SimpleAtod(Absl(value), &seconds)) return;
    const absl::Duration delay = absl::Seconds(seconds);
    if (delay == absl::InfiniteDuration()) return;
    for (Group* group : {&own_, &others_}) {
      if (!group->active) continue;
      std::optional<absl::Duration>& known = group->rules.crawl_delay_;
      known = std::max(known.value_or(delay), delay);
    }
  }

  const std::string_view agent_;
  Group own_, others_;
  bool own_seen_ = false;
  bool last_was_agent_ = false;
};

RobotsRules RobotsRules::AllowAll() { return RobotsRules(); }

RobotsRules RobotsRules::DenyAll(std::string_view why) {
  RobotsRules rules;
  rules.deny_all_ = true;
  rules.bytes_ = std::string(why);
  return rules;
}

RobotsRules RobotsRules::Parse(std::string_view text, std::string_view agent) {
  if (text.size() > kMaxBytes) {
    const size_t last_end = text.substr(0, kMaxBytes).find_last_of("\r\n");
    text = text.substr(0, last_end == text.npos ? 0 : last_end + 1);
  }
  // As google/robotstxt: even an incomplete byte order mark is no part of the
  // first key.
  for (const char byte : {'\xEF', '\xBB', '\xBF'}) {
    if (!text.starts_with(byte)) break;
    text.remove_prefix(1);
  }
  RobotsParser parser(agent);
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = text.find_first_of("\r\n");
    parser.Line(text.substr(0, end), number);
    if (end == text.npos) break;
    const bool crlf = text.substr(end).starts_with("\r\n");
    text.remove_prefix(end + (crlf ? 2 : 1));
  }
  return parser.Finish();
}

std::string_view RobotsRules::Get(Span span) const {
  return std::string_view(bytes_).substr(span.begin, span.size);
}

RobotsRules::Verdict RobotsRules::JudgeBy(const std::vector<Rule>& rules,
                                          std::string_view path) const {
  for (const Rule& rule : rules) {
    if (Matches(Get(rule.pattern), path)) {
      return {rule.allow, Get(rule.written), rule.line};
    }
  }
  return {};
}

RobotsRules::Verdict RobotsRules::Judge(std::string_view path_and_query) const {
  if (deny_all_) return {false, bytes_, 0};
  if (rules_.empty()) return {};
  // An absolute URL without a path asks for "/".
  std::string given(path_and_query.starts_with('/') ? "" : "/");
  given.append(path_and_query);
  const Verdict verdict =
      JudgeBy(rules_, PathInForm(given, /*decode_unreserved=*/true,
                                 /*escape_non_ascii=*/true));
  if (!verdict.allowed) return verdict;
  if (!readings_differ_ && IsAscii(given) && !HasUnreservedEscape(given)) {
    return verdict;
  }
  const Verdict as_written =
      JudgeBy(readings_differ_ ? as_written_ : rules_,
              PathInForm(given, /*decode_unreserved=*/false,
                         /*escape_non_ascii=*/false));
  return as_written.allowed ? verdict : as_written;
}

}  // namespace gannet::jobs
