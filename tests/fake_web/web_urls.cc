// Writes URLs that look like real ones, and reads them back. A URL has its
// page's number (six digits or more, 100000 + id; no other number in it is that
// long), so the page is found by reading the number, writing the URL that it
// should have, and comparing. A URL that differs in one byte does not exist.
#include <fmt/format.h>

#include <cctype>

#include "tests/fake_web/mix.h"
#include "tests/fake_web/web.h"
#include "tests/fake_web/words.h"

namespace gannet::fake_web {
namespace {

constexpr uint64_t kFirstId = 100'000;
constexpr uint32_t kImagesPerHost = 20;
constexpr uint32_t kFirstYear = 2024;
constexpr std::string_view kDeeper = "deeper/";

void AppendNumber(uint64_t number, std::string* out) {
  const fmt::format_int text(number);
  out->append(text.data(), text.size());
}

void AppendId(uint32_t id, std::string* out) {
  AppendNumber(kFirstId + id, out);
}

// "copper-lantern-drift": `count` words from seven bits of `hash` each.
void AppendWords(uint64_t hash, int count, char between, std::string* out) {
  for (int i = 0; i < count; ++i) {
    if (i > 0) out->push_back(between);
    *out += Word(hash >> (7 * i));
  }
}

// The last run of at least six digits; nullopt if there is none.
std::optional<uint32_t> FindId(std::string_view text) {
  for (size_t end = text.size(); end > 0;) {
    if (!isdigit(static_cast<unsigned char>(text[end - 1]))) {
      --end;
      continue;
    }
    size_t begin = end;
    while (begin > 0 && isdigit(static_cast<unsigned char>(text[begin - 1]))) {
      --begin;
    }
    if (end - begin >= 6 && end - begin <= 10) {
      uint64_t number = 0;
      for (size_t i = begin; i < end; ++i) {
        number = number * 10 + static_cast<uint64_t>(text[i] - '0');
      }
      if (number < kFirstId || number - kFirstId > 0xffffffff) {
        return std::nullopt;
      }
      return static_cast<uint32_t>(number - kFirstId);
    }
    end = begin;
  }
  return std::nullopt;
}

uint32_t Count(std::string_view text, std::string_view what) {
  uint32_t count = 0;
  for (size_t at = 0; (at = text.find(what, at)) != text.npos;
       at += what.size()) {
    ++count;
  }
  return count;
}

uint32_t NumberAt(std::string_view text, int base = 10) {
  uint32_t number = 0;
  for (char c : text) {
    uint32_t digit;
    if (c >= '0' && c <= '9') {
      digit = static_cast<uint32_t>(c - '0');
    } else if (base == 16 && c >= 'a' && c <= 'f') {
      digit = static_cast<uint32_t>(c - 'a' + 10);
    } else {
      break;
    }
    number = number * static_cast<uint32_t>(base) + digit;
    if (number > 0xffff) return 0xffff;
  }
  return number;
}

// What a step adds to an odd page's URL, read from the part after the id.
uint32_t ReadStep(Nasty kind, std::string_view after_id) {
  switch (kind) {
    case Nasty::kGrowingPath:
      return Count(after_id, kDeeper);
    case Nasty::kGrowingQuery:
      return Count(after_id, "=");
    case Nasty::kSession: {
      const size_t sid = after_id.find("?sid=");
      return sid == after_id.npos ? 0
                                  : NumberAt(after_id.substr(sid + 5, 4), 16);
    }
    case Nasty::kCalendar: {
      if (after_id.size() < 8) return 0;
      const uint32_t year = NumberAt(after_id.substr(1, 4));
      const uint32_t month = NumberAt(after_id.substr(6, 2));
      if (year < kFirstYear || month < 1 || month > 12) return 0;
      return (year - kFirstYear) * 12 + month - 1;
    }
    default:
      return after_id.empty() || after_id[0] != '/'
                 ? 0
                 : NumberAt(after_id.substr(1));
  }
}

constexpr std::string_view kNonHtmlExtensions[] = {".pdf", ".png", ".json",
                                                   ".txt", ".xml"};

}  // namespace

void Web::AppendOrdinaryTarget(const Ref& ref, std::string* out) const {
  if (ref.id == 0) {
    out->push_back('/');
    return;
  }
  const uint64_t hash = HashOf(ref, 0);
  const uint64_t words = Mix(hash);
  // The square of a uniform number, so that some directories have more pages.
  const double u = Unit(Mix(words));
  const std::string_view section =
      kSections[static_cast<size_t>(u * u * kSections.size())];
  const uint32_t shape = hash % 16;
  out->push_back('/');
  if (shape < 5) {
    *out += section;
    out->push_back('/');
    AppendNumber(1998 + (hash >> 8) % 28, out);
    out->push_back('/');
    const uint32_t month = 1 + (hash >> 16) % 12;
    if (month < 10) out->push_back('0');
    AppendNumber(month, out);
    out->push_back('/');
    AppendWords(words, 4, '-', out);
    out->push_back('-');
    AppendId(ref.id, out);
    *out += ".html";
  } else if (shape < 9) {
    *out += section;
    out->push_back('/');
    AppendWords(words, 4, '-', out);
    out->push_back('-');
    AppendId(ref.id, out);
  } else if (shape < 11) {
    *out += section;
    out->push_back('/');
    *out += Word(words);
    out->push_back('/');
    AppendWords(words >> 7, 3, '-', out);
    out->push_back('/');
    AppendId(ref.id, out);
    out->push_back('/');
  } else if (shape < 13) {
    *out += section;
    *out += "/view.php?id=";
    AppendId(ref.id, out);
    *out += "&title=";
    AppendWords(words, 4, '-', out);
  } else if (shape < 14) {
    *out += "forum/viewtopic?f=";
    AppendNumber((hash >> 8) % 90, out);
    *out += "&t=";
    AppendId(ref.id, out);
    *out += "&page=";
    AppendNumber(1 + (hash >> 16) % 9, out);
  } else if (shape < 15) {
    *out += "wiki/";
    AppendWords(words, 4, '_', out);
    out->push_back('_');
    AppendId(ref.id, out);
  } else {
    *out += section;
    *out += "/caf%C3%A9-";
    AppendWords(words, 3, '-', out);
    out->push_back('/');
    AppendId(ref.id, out);
    *out += ".html";
  }
}

void Web::AppendOddTarget(const Ref& ref, std::string* out) const {
  const uint64_t hash = HashOf(ref, 0);
  auto words_and_id = [&] {
    AppendWords(hash, 2, '-', out);
    out->push_back('-');
    AppendId(ref.id, out);
  };
  switch (ref.kind) {
    case Nasty::kStyle:
      *out += "/static/css/site.css";
      return;
    case Nasty::kImage:
      *out += "/static/img/";
      words_and_id();
      *out += ".png";
      return;
    case Nasty::kForbidden: {
      static constexpr std::string_view kBefore[] = {
          "/private/", "/private/open/", "/search/", "/search/", "/tmp/"};
      static constexpr std::string_view kAfter[] = {".html", ".html", ".cgi",
                                                    ".cgi?page=2", ""};
      *out += kBefore[ref.id % 5];
      words_and_id();
      *out += kAfter[ref.id % 5];
      return;
    }
    default:
      break;
  }
  *out += "/odd/";
  *out += Name(ref.kind);
  out->push_back('/');
  words_and_id();
  switch (ref.kind) {
    case Nasty::kNonHtml:
      *out += kNonHtmlExtensions[ref.id % 5];
      return;
    case Nasty::kCalendar:
      fmt::format_to(std::back_inserter(*out), "/{:04}/{:02}",
                     kFirstYear + ref.step / 12, ref.step % 12 + 1);
      return;
    case Nasty::kGrowingPath:
      out->push_back('/');
      for (int i = 0; i < ref.step; ++i) *out += kDeeper;
      return;
    case Nasty::kGrowingQuery:
      for (int i = 0; i < ref.step; ++i) {
        fmt::format_to(std::back_inserter(*out), "{}f{}={}", i ? '&' : '?', i,
                       Word(Mix(hash, i)));
      }
      return;
    case Nasty::kSession:
      if (ref.step == 0) return;
      fmt::format_to(std::back_inserter(*out), "?sid={:04x}{:012x}", ref.step,
                     Mix(hash, ref.step) >> 16);
      return;
    default:
      if (ref.step > 0) {
        fmt::format_to(std::back_inserter(*out), "/{}", ref.step);
      }
      *out += ".html";
  }
}

void Web::AppendTarget(const Ref& ref, std::string* out) const {
  if (ref.kind == Nasty::kNone) {
    AppendOrdinaryTarget(ref, out);
  } else {
    AppendOddTarget(ref, out);
  }
}

void Web::AppendUrl(const Ref& ref, std::string* out) const {
  *out += IsHttps(ref.host) && !ref.http_form ? "https://" : "http://";
  *out += hosts_->Name(ref.host);
  AppendTarget(ref, out);
}

std::string Web::Url(const Ref& ref) const {
  std::string url;
  AppendUrl(ref, &url);
  return url;
}

std::optional<Ref> Web::FindOrdinary(uint32_t host,
                                     std::string_view target) const {
  if (target == "/") return Ref{.host = host};
  const auto id = FindId(target);
  if (!id || *id == 0 || *id >= hosts_->Pages(host)) return std::nullopt;
  return Ref{.host = host, .id = *id};
}

std::optional<Ref> Web::FindOdd(uint32_t host, std::string_view target) const {
  if (target == "/static/css/site.css") {
    return Ref{.host = host, .kind = Nasty::kStyle};
  }
  Ref ref{.host = host};
  // A session id may have more than six digits, so only the path is searched.
  const std::string_view path =
      target.substr(0, target.find(target.starts_with("/odd/") ? '?' : ' '));
  const auto id = FindId(path);
  if (!id) return std::nullopt;
  ref.id = *id;
  if (target.starts_with("/static/img/")) {
    ref.kind = Nasty::kImage;
    if (ref.id >= kImagesPerHost) return std::nullopt;
    return ref;
  }
  if (target.starts_with("/odd/")) {
    const std::string_view rest = target.substr(5);
    ref.kind = NastyByName(rest.substr(0, rest.find('/')));
  } else {
    ref.kind = Nasty::kForbidden;
  }
  if (ref.kind == Nasty::kCount || ref.id >= Extras(host) ||
      ExtraKind(host, ref.id) != ref.kind) {
    return std::nullopt;
  }
  const std::string digits = fmt::format("{}", kFirstId + ref.id);
  const uint32_t step =
      ReadStep(ref.kind, target.substr(path.rfind(digits) + digits.size()));
  if (step >= Steps(ref, /*endless=*/60'000)) return std::nullopt;
  ref.step = static_cast<uint16_t>(step);
  return ref;
}

std::optional<Ref> Web::Find(uint32_t host, std::string_view target) const {
  const bool odd =
      target.starts_with("/odd/") || target.starts_with("/static/") ||
      target.starts_with("/private/") || target.starts_with("/search/") ||
      target.starts_with("/tmp/");
  const std::optional<Ref> ref =
      odd ? FindOdd(host, target) : FindOrdinary(host, target);
  if (!ref) return std::nullopt;
  thread_local std::string expected;
  expected.clear();
  AppendTarget(*ref, &expected);
  if (expected != target) return std::nullopt;
  return ref;
}

std::optional<Ref> Web::FindUrl(std::string_view url) const {
  const bool https = url.starts_with("https://");
  if (!https && !url.starts_with("http://")) return std::nullopt;
  url.remove_prefix(https ? 8 : 7);
  const size_t slash = url.find('/');
  const uint32_t host = hosts_->Find(url.substr(0, slash));
  if (host == Hosts::kNoHost || (https && !IsHttps(host))) return std::nullopt;
  auto ref = Find(host, slash == url.npos ? "/" : url.substr(slash));
  if (ref) ref->http_form = !https && IsHttps(host);
  return ref;
}

}  // namespace gannet::fake_web
