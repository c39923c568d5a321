#include "storage/url/url.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "storage/url/host.h"
#include "storage/url/percent.h"

namespace gannet::storage {
namespace {

constexpr uint16_t kHttpPort = 80, kHttpsPort = 443;

bool IsSlash(char c) { return c == '/' || c == '\\'; }

std::string_view StripControls(std::string_view in) {
  const auto strip = [](char c) { return static_cast<uint8_t>(c) <= 0x20; };
  while (!in.empty() && strip(in.front())) in.remove_prefix(1);
  while (!in.empty() && strip(in.back())) in.remove_suffix(1);
  return in;
}

bool HasTabOrNewline(std::string_view in) {
  uint8_t seen = 0;
  for (const char c : in) seen |= ClassOf(c);
  return seen & kStripped;
}

// The length of the scheme, colon not included; zero if there is none.
size_t SchemeLength(std::string_view in) {
  if (in.empty() || !IsAlpha(in[0])) return 0;
  for (size_t i = 1; i < in.size(); ++i) {
    const char c = in[i];
    if (c == ':') return i;
    if (!IsAlpha(c) && !IsDigit(c) && c != '+' && c != '-' && c != '.') break;
  }
  return 0;
}

bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (ToLower(text[i]) != lower[i]) return false;
  }
  return true;
}

// How many dots `segment` spells, %2e included: 1 and 2 bend the path.
int Dots(std::string_view segment) {
  int dots = 0;
  for (size_t i = 0; i < segment.size(); ++dots) {
    if (dots == 2) return 0;
    if (segment[i] == '.') {
      ++i;
    } else if (segment.size() - i >= 3 && segment[i] == '%' &&
               segment[i + 1] == '2' && ToLower(segment[i + 2]) == 'e') {
      i += 3;
    } else {
      return 0;
    }
  }
  return dots;
}

}  // namespace

std::string_view UrlOutcomeName(UrlOutcome outcome) {
  static constexpr std::array<std::string_view, kUrlOutcomeCount> kNames = {
      "ok",       "other_scheme", "no_base",  "empty_host",
      "bad_host", "bad_port",     "too_long", "unresolvable"};
  return kNames[static_cast<size_t>(outcome)];
}

absl::StatusOr<Url> Url::Parse(std::string_view input, const Url* base) {
  Url url;
  const UrlOutcome outcome = Parse(input, base, url);
  if (outcome == UrlOutcome::kOk) return url;
  return absl::InvalidArgumentError(fmt::format(
      "not an http(s) URL ({}): {:.200}", UrlOutcomeName(outcome), input));
}

UrlOutcome Url::Parse(std::string_view input, const Url* base, Url& out) {
  out.Clear();
  if (input.size() > kMaxInputBytes) return UrlOutcome::kTooLong;
  input = StripControls(input);
  UrlOutcome outcome;
  if (HasTabOrNewline(input)) {
    std::string clean;
    clean.reserve(input.size());
    // Repaired on the way: bytes that a newline kept apart must not join into
    // a character that browsers never saw.
    for (size_t pos = 0; pos < input.size();) {
      const char32_t c = NextCodePoint(input, pos);
      if (c >= 0x80 || !(ClassOf(static_cast<char>(c)) & kStripped)) {
        AppendUtf8(c, clean);
      }
    }
    outcome = out.ParseStripped(clean, base);
  } else {
    outcome = out.ParseStripped(input, base);
  }
  if (outcome != UrlOutcome::kOk) out.Clear();
  return outcome;
}

void Url::Clear() {
  href_.clear();
  user_end_ = host_begin_ = host_end_ = path_begin_ = path_end_ = query_end_ =
      0;
  port_ = 0;
  scheme_end_ = 0;
}

UrlOutcome Url::ParseStripped(std::string_view in, const Url* base) {
  const size_t length = SchemeLength(in);
  if (length == 0) {
    return base != nullptr ? ParseRelative(in, *base) : UrlOutcome::kNoBase;
  }
  const std::string_view scheme = in.substr(0, length);
  const bool https = EqualsIgnoringCase(scheme, "https");
  if (!https && !EqualsIgnoringCase(scheme, "http")) {
    return UrlOutcome::kOtherScheme;
  }
  std::string_view rest = in.substr(length + 1);
  // "http:a" is relative to a base of the same scheme, and a host elsewhere.
  if (base != nullptr && base->is_https() == https &&
      rest.substr(0, 2) != "//") {
    return ParseRelative(rest, *base);
  }
  href_.append(https ? "https://" : "http://");
  scheme_end_ = static_cast<uint8_t>(length);
  port_ = https ? kHttpsPort : kHttpPort;
  return ParseAuthority(rest);
}

UrlOutcome Url::ParseRelative(std::string_view rest, const Url& base) {
  if (rest.size() >= 2 && IsSlash(rest[0]) && IsSlash(rest[1])) {
    href_.append(base.href_, 0, size_t{base.scheme_end_} + 3);
    scheme_end_ = base.scheme_end_;
    port_ = base.is_https() ? kHttpsPort : kHttpPort;
    return ParseAuthority(rest);
  }
  if (!rest.empty() && IsSlash(rest[0])) {
    CopyFrom(base, base.path_begin_);
    ParsePath(rest);
    return UrlOutcome::kOk;
  }
  if (rest.empty() || rest[0] == '#') {
    CopyFrom(base, base.query_end_);
  } else if (rest[0] == '?') {
    CopyFrom(base, base.path_end_);
  } else {
    CopyFrom(base, base.path_begin_ + base.path().rfind('/') + 1);
    ParsePath(rest);
    return UrlOutcome::kOk;
  }
  path_end_ = base.path_end_;
  query_end_ = static_cast<uint32_t>(href_.size());
  ParseQueryAndFragment(rest);
  return UrlOutcome::kOk;
}

void Url::CopyFrom(const Url& base, size_t end) {
  href_.append(base.href_, 0, end);
  user_end_ = base.user_end_;
  host_begin_ = base.host_begin_;
  host_end_ = base.host_end_;
  path_begin_ = base.path_begin_;
  port_ = base.port_;
  scheme_end_ = base.scheme_end_;
}

UrlOutcome Url::ParseAuthority(std::string_view rest) {
  while (!rest.empty() && IsSlash(rest[0])) rest.remove_prefix(1);
  size_t end = 0;
  size_t at = std::string_view::npos;
  for (; end < rest.size(); ++end) {
    const char c = rest[end];
    if (c == '/' || ClassOf(c) & kPathSpecial) break;
    if (c == '@') at = end;
  }
  std::string_view host = rest.substr(0, end);
  user_end_ = host_begin_ = static_cast<uint32_t>(href_.size());
  if (at != std::string_view::npos) {
    ParseUserinfo(host.substr(0, at));
    host.remove_prefix(at + 1);
  }
  const UrlOutcome outcome = ParseHostAndPort(host);
  if (outcome != UrlOutcome::kOk) return outcome;
  ParsePath(rest.substr(end));
  return UrlOutcome::kOk;
}

void Url::ParseUserinfo(std::string_view userinfo) {
  const size_t colon = userinfo.find(':');
  AppendEncoded(userinfo.substr(0, colon), kEncodeInUserinfo, href_);
  user_end_ = static_cast<uint32_t>(href_.size());
  if (colon != std::string_view::npos && colon + 1 < userinfo.size()) {
    href_ += ':';
    AppendEncoded(userinfo.substr(colon + 1), kEncodeInUserinfo, href_);
  }
  if (href_.size() != host_begin_) href_ += '@';
  host_begin_ = static_cast<uint32_t>(href_.size());
}

UrlOutcome Url::ParseHostAndPort(std::string_view text) {
  // The first colon outside brackets starts the port.
  bool in_brackets = false;
  size_t colon = 0;
  for (; colon < text.size(); ++colon) {
    const char c = text[colon];
    if (c == ':' && !in_brackets) break;
    if (c == '[') in_brackets = true;
    if (c == ']') in_brackets = false;
  }
  if (colon == 0) return UrlOutcome::kEmptyHost;
  if (!AppendHost(text.substr(0, colon), href_)) return UrlOutcome::kBadHost;
  host_end_ = path_begin_ = static_cast<uint32_t>(href_.size());
  if (colon + 1 >= text.size()) return UrlOutcome::kOk;

  unsigned port = 0;
  for (const char c : text.substr(colon + 1)) {
    if (!IsDigit(c)) return UrlOutcome::kBadPort;
    port = port * 10 + static_cast<unsigned>(c - '0');
    if (port > 65535) return UrlOutcome::kBadPort;
  }
  if (port != port_) {  // Still the scheme's default.
    port_ = static_cast<uint16_t>(port);
    href_ += ':';
    href_ += std::to_string(port);
    path_begin_ = static_cast<uint32_t>(href_.size());
  }
  return UrlOutcome::kOk;
}

// href_ ends before the path (and then `rest` starts with a slash, or the path
// is "/"), or after a directory's slash that a relative path goes on from.
void Url::ParsePath(std::string_view rest) {
  if (href_.size() == path_begin_) {
    href_ += '/';
    if (!rest.empty() && IsSlash(rest[0])) rest.remove_prefix(1);
  }
  // Nearly all paths stand as they are: look for the end, for anything to
  // encode or to turn, and for a segment that starts like a dot segment.
  size_t end = 0;
  bool plain = true;
  char before = '/';
  for (; end < rest.size(); ++end) {
    const char c = rest[end];
    const uint8_t bits = ClassOf(c);
    if (bits & (kEncodeInPath | kPathSpecial)) {
      if (c == '?' || c == '#') break;
      plain = false;
    }
    if ((c == '.' || c == '%') && before == '/') plain = false;
    before = c;
  }
  const std::string_view path = rest.substr(0, end);
  if (plain) {
    href_.append(path);
  } else {
    for (size_t pos = 0;;) {
      size_t stop = pos;
      while (stop < path.size() && !IsSlash(path[stop])) ++stop;
      const std::string_view segment = path.substr(pos, stop - pos);
      const int dots = Dots(segment);
      if (dots == 2) Shorten();
      if (dots == 0) {
        AppendEncoded(segment, kEncodeInPath, href_);
        if (stop < path.size()) href_ += '/';
      }
      if (stop >= path.size()) break;
      pos = stop + 1;
    }
  }
  path_end_ = query_end_ = static_cast<uint32_t>(href_.size());
  ParseQueryAndFragment(rest.substr(end));
}

// REQUIRES: href_ ends in a slash of the path.
void Url::Shorten() {
  if (href_.size() <= path_begin_ + 1) return;
  href_.resize(href_.rfind('/', href_.size() - 2) + 1);
}

void Url::ParseQueryAndFragment(std::string_view rest) {
  const size_t hash = rest.find('#');
  if (!rest.empty() && rest[0] == '?') {
    const std::string_view query =
        rest.substr(1, hash == std::string_view::npos ? hash : hash - 1);
    href_ += '?';
    AppendEncoded(query, kEncodeInQuery, href_);
    query_end_ = static_cast<uint32_t>(href_.size());
  }
  if (hash != std::string_view::npos) {
    href_ += '#';
    AppendEncoded(rest.substr(hash + 1), kEncodeInFragment, href_);
  }
}

std::string_view Url::username() const {
  return Part(scheme_end_ == 0 ? 0 : size_t{scheme_end_} + 3, user_end_);
}

std::string_view Url::password() const {
  // Between the colon and the @ before the host.
  if (host_begin_ <= user_end_ + 1) return {};
  return Part(user_end_ + 1, host_begin_ - 1);
}

std::string_view Url::query() const {
  return has_query() ? Part(path_end_ + 1, query_end_) : std::string_view();
}

std::string_view Url::fragment() const {
  return has_fragment() ? Part(query_end_ + 1, href_.size())
                        : std::string_view();
}

}  // namespace gannet::storage
