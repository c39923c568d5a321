#include "storage/url/canonical.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "storage/url/ip_address.h"
#include "storage/url/percent.h"

namespace gannet::storage {
namespace {

// RFC 1035, 2.3.4, without the root's dot.
constexpr size_t kMaxLabelBytes = 63, kMaxHostBytes = 253;

// REQUIRES: `host` has no trailing dot.
bool FitsDns(std::string_view host) {
  if (host.empty() || host.size() > kMaxHostBytes) return false;
  size_t label = 0;
  for (const char c : host) {
    if (c != '.') {
      if (++label > kMaxLabelBytes) return false;
    } else {
      if (label == 0) return false;
      label = 0;
    }
  }
  return label > 0;
}

bool IsEscape(std::string_view text, size_t percent) {
  return percent + 2 < text.size() && IsHexDigit(text[percent + 1]) &&
         IsHexDigit(text[percent + 2]);
}

// Would `byte`, written at text[write], make an escape of a percent sign that
// starts none? Written escapes end in a hex digit, and their percent sign is
// three bytes back: one that is nearer starts none.
bool WouldCompleteEscape(std::string_view text, size_t write, char byte) {
  return IsHexDigit(byte) &&
         (text[write - 1] == '%' ||
          (text[write - 2] == '%' && IsHexDigit(text[write - 1])));
}

// Copies text[from, to) down to `write`, normalising escapes. Returns the end.
// REQUIRES: write <= from, and text[write - 1] is a delimiter ('/', '?', '&').
size_t WriteNormalised(std::string& text, size_t from, size_t to,
                       size_t write) {
  while (from < to) {
    const char c = text[from];
    if (c != '%' || !IsEscape(text, from)) {
      text[write++] = c;
      ++from;
      continue;
    }
    const char high = text[from + 1], low = text[from + 2];
    from += 3;
    const char byte = static_cast<char>(HexValue(high) * 16 + HexValue(low));
    if (ClassOf(byte) & kUnreserved &&
        !WouldCompleteEscape(text, write, byte)) {
      text[write++] = byte;
    } else {
      const auto upper = [](char h) {
        return h >= 'a' ? static_cast<char>(h - 0x20) : h;
      };
      text[write++] = '%';
      text[write++] = upper(high);
      text[write++] = upper(low);
    }
  }
  return write;
}

}  // namespace

absl::Status Canonicaliser::NameSet::Add(
    const std::vector<std::string>& names) {
  if (names.size() > 255) {
    return absl::InvalidArgumentError(
        "more than 255 parameters to remove: use prefixes (utm_*)");
  }
  for (const std::string& name : names) {
    Name entry{name, false};
    if (!entry.text.empty() && entry.text.back() == '*') {
      entry.text.pop_back();
      entry.is_prefix = true;
    }
    // Other bytes are escaped in a URL, or end the name: they never match.
    const bool matchable =
        !entry.text.empty() &&
        std::all_of(entry.text.begin(), entry.text.end(), [](char c) {
          return ClassOf(c) & kUnreserved ||
                 std::string_view("!$()+,:@[]|").find(c) !=
                     std::string_view::npos;
        });
    if (!matchable) {
      return absl::InvalidArgumentError(fmt::format(
          "parameter to remove '{}': not a parameter's name", name));
    }
    for (char& c : entry.text) c = ToLower(c);
    names_.push_back(std::move(entry));
  }
  std::stable_sort(
      names_.begin(), names_.end(),
      [](const Name& a, const Name& b) { return a.text[0] < b.text[0]; });
  for (int byte = 0; byte <= 256; ++byte) {
    first_[byte] = static_cast<uint8_t>(
        std::count_if(names_.begin(), names_.end(), [byte](const Name& name) {
          return static_cast<uint8_t>(name.text[0]) < byte;
        }));
  }
  return absl::OkStatus();
}

bool Canonicaliser::NameSet::Matches(std::string_view parameter) const {
  if (parameter.empty()) return false;
  const auto first = static_cast<uint8_t>(ToLower(parameter[0]));
  const uint8_t end = first_[first + 1];
  for (uint8_t i = first_[first]; i < end; ++i) {
    const std::string& name = names_[i].text;
    if (parameter.size() < name.size()) continue;
    size_t same = 1;
    while (same < name.size() && ToLower(parameter[same]) == name[same]) {
      ++same;
    }
    if (same == name.size() &&
        (names_[i].is_prefix || parameter.size() == same ||
         parameter[same] == '=')) {
      return true;
    }
  }
  return false;
}

absl::StatusOr<Canonicaliser> Canonicaliser::Create(
    const CanonicalRules& rules) {
  Canonicaliser result{};
  result.query_parameters_ = NameSet();
  result.path_parameters_ = NameSet();
  if (!rules.drop_parameters) return result;
  absl::Status status = result.query_parameters_.Add(rules.query_parameters);
  status.Update(result.path_parameters_.Add(rules.path_parameters));
  if (!status.ok()) return status;
  return result;
}

Canonicaliser::Canonicaliser() {
  const CanonicalRules rules;
  query_parameters_.Add(rules.query_parameters).IgnoreError();
  path_parameters_.Add(rules.path_parameters).IgnoreError();
}

UrlOutcome Canonicaliser::Canonicalise(std::string_view input, const Url* base,
                                       Url& out) const {
  const UrlOutcome outcome = Url::Parse(input, base, out);
  return outcome == UrlOutcome::kOk ? Canonicalise(out) : outcome;
}

UrlOutcome Canonicaliser::Canonicalise(Url& url) const {
  std::string_view host = url.host();
  if (!host.empty() && host.back() == '.') host.remove_suffix(1);
  if (host.empty() || (host[0] != '[' && !FitsDns(host))) {
    url.Clear();
    return UrlOutcome::kUnresolvable;
  }

  // Most links need nothing but the loss of their fragment.
  url.href_.resize(url.query_end_);
  const bool has_credentials = url.host_begin_ != url.scheme_end_ + 3u;
  const bool has_dot = host.size() != url.host().size();
  bool rewrite = has_credentials || has_dot;
  for (const char c : url.path()) rewrite |= c == '%' || c == ';';
  if (!rewrite && url.has_query()) {
    for (size_t i = url.path_end_; i < url.query_end_; ++i) {
      const char c = url.href_[i];
      rewrite |= c == '%';
      if (c == '&' || i == url.path_end_) {
        const std::string_view rest = url.Part(i + 1, url.query_end_);
        rewrite |= query_parameters_.Matches(rest.substr(0, rest.find('&')));
      }
    }
    if (url.path_end_ + 1 == url.query_end_) {
      url.href_.pop_back();
      --url.query_end_;
    }
  }
  if (rewrite) Rewrite(url);
  return UrlOutcome::kOk;
}

void Canonicaliser::Rewrite(Url& url) const {
  std::string& text = url.href_;
  // Every part is written at or before the place it is read from.
  size_t write = size_t{url.scheme_end_} + 3;
  size_t host_length = url.host_end_ - url.host_begin_;
  if (text[url.host_end_ - 1] == '.') --host_length;
  const size_t port_length = url.path_begin_ - url.host_end_;
  std::memmove(&text[write], &text[url.host_begin_], host_length);
  url.user_end_ = url.host_begin_ = static_cast<uint32_t>(write);
  write += host_length;
  std::memmove(&text[write], &text[url.host_end_], port_length);
  url.host_end_ = static_cast<uint32_t>(write);
  write += port_length;

  const size_t path_begin = write;
  size_t read = url.path_begin_;
  while (read < url.path_end_) {  // At a slash, each time.
    size_t end = read + 1;
    while (end < url.path_end_ && text[end] != '/') ++end;
    text[write++] = '/';
    const size_t segment = write;
    write = WriteSegment(text, read + 1, end, write);
    // Without its parameter ("..;jsessionid=1") a segment may turn into dots.
    const std::string_view written(&text[segment], write - segment);
    if (written == "." || written == "..") {
      write = segment;  // Behind the slash.
      if (written == ".." && write > path_begin + 1) {
        write = text.rfind('/', write - 2) + 1;
      }
      // The next segment brings its own slash; the last keeps this one.
      if (end < url.path_end_) --write;
    }
    read = end;
  }
  const size_t path_end = write;
  if (url.has_query()) {
    write = WriteQuery(text, url.path_end_ + 1, url.query_end_, write);
  }
  text.resize(write);
  url.path_begin_ = static_cast<uint32_t>(path_begin);
  url.path_end_ = static_cast<uint32_t>(path_end);
  url.query_end_ = static_cast<uint32_t>(write);
}

size_t Canonicaliser::WriteSegment(std::string& text, size_t from, size_t to,
                                   size_t write) const {
  const size_t start = write;
  const size_t end = WriteNormalised(text, from, to, write);
  if (path_parameters_.empty() ||
      std::string_view(&text[start], end - start).find(';') ==
          std::string_view::npos) {
    return end;
  }
  for (size_t read = start; read < end;) {
    size_t stop = read + 1;  // A parameter includes the semicolon before it.
    while (stop < end && text[stop] != ';') ++stop;
    const std::string_view piece(&text[read], stop - read);
    if (piece[0] != ';' || !path_parameters_.Matches(piece.substr(1))) {
      std::memmove(&text[write], &text[read], piece.size());
      write += piece.size();
    }
    read = stop;
  }
  return write;
}

size_t Canonicaliser::WriteQuery(std::string& text, size_t from, size_t to,
                                 size_t write) const {
  const size_t start = write;
  text[write++] = '?';
  bool first = true;
  for (size_t read = from; read <= to;) {
    size_t stop = read;
    while (stop < to && text[stop] != '&') ++stop;
    const size_t before = write;
    if (!first) text[write++] = '&';
    const size_t parameter = write;
    write = WriteNormalised(text, read, stop, write);
    if (query_parameters_.Matches(
            std::string_view(&text[parameter], write - parameter))) {
      write = before;
    } else {
      first = false;
    }
    read = stop + 1;
  }
  return write == start + 1 ? start : write;  // No lonely question mark.
}

}  // namespace gannet::storage
