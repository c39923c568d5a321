#include "storage/url/surt.h"

#include <fmt/format.h>

#include "absl/status/status.h"
#include "storage/url/ip_address.h"

namespace gannet::storage {
namespace {

void AppendEscaped(std::string_view text, std::string& out) {
  for (const char c : text) {
    if (c == ',') {
      out += "%2C";
    } else if (c == ')') {
      out += "%29";
    } else {
      out += c;
    }
  }
}

// Undoes AppendEscaped for one label; false if it never wrote this.
bool AppendHostLabel(std::string_view label, std::string& out) {
  for (size_t i = 0; i < label.size(); ++i) {
    if (label[i] != '%') {
      out += label[i];
      continue;
    }
    const std::string_view escape = label.substr(i, 3);
    if (escape == "%2C") {
      out += ',';
    } else if (escape == "%29") {
      out += ')';
    } else {
      return false;
    }
    i += 2;
  }
  return true;
}

}  // namespace

void AppendSurtDomainPrefix(std::string_view host, std::string& out) {
  if (IsIpHost(host)) {
    out += host;
    out += ',';
    return;
  }
  // One look at the whole host instead of one at each byte of each label.
  const bool escape = host.find(',') != std::string_view::npos ||
                      host.find(')') != std::string_view::npos;
  for (;;) {
    const size_t dot = host.rfind('.');
    const std::string_view label = host.substr(dot + 1);
    if (escape) {
      AppendEscaped(label, out);
    } else {
      out += label;
    }
    out += ',';
    if (dot == std::string_view::npos) return;
    host = host.substr(0, dot);
  }
}

void AppendSurtKey(const Url& url, std::string& out) {
  AppendSurtDomainPrefix(url.host(), out);
  out += ')';
  out += url.scheme();
  if (url.has_port()) {
    out += ':';
    out += std::to_string(url.port());
  }
  out += url.path_and_query();
}

std::string SurtKey(const Url& url) {
  std::string out;
  out.reserve(url.href().size() + 2);
  AppendSurtKey(url, out);
  return out;
}

bool AppendHostFromSurt(std::string_view surt, std::string& out) {
  const std::string_view host = SurtHost(surt);
  if (host.size() < 3) return false;
  // Labels from the last to the first; an address is a single "label".
  std::string_view labels = host.substr(0, host.size() - 2);
  for (;;) {
    const size_t comma = labels.rfind(',');
    if (!AppendHostLabel(labels.substr(comma + 1), out)) return false;
    if (comma == std::string_view::npos) return true;
    out += '.';
    labels = labels.substr(0, comma);
  }
}

bool SurtReader::Read(std::string_view surt, Url& out) {
  const std::string_view host = SurtHost(surt);
  const size_t path_begin = surt.find('/', host.size());
  if (host.empty() || path_begin == std::string_view::npos) return false;
  const std::string_view origin = surt.substr(0, path_begin);
  if (origin != origin_) {
    origin_.clear();
    if (!ReadOrigin(origin)) return false;
    origin_ = origin;
  }
  const std::string_view path = surt.substr(path_begin);
  // Only a key that its URL leads back to is one: else two keys could stand for
  // one page. The origin does, so the path decides.
  if (path.starts_with("//")) {  // In a relative URL, what begins a host.
    text_ = origin_url_.href();
    text_.pop_back();
    text_ += path;
    return Url::Parse(text_, nullptr, out) == UrlOutcome::kOk &&
           out.path_and_query() == path && !out.has_fragment();
  }
  return Url::Parse(path, &origin_url_, out) == UrlOutcome::kOk &&
         out.path_and_query() == path && !out.has_fragment();
}

bool SurtReader::ReadOrigin(std::string_view origin) {
  const std::string_view host = SurtHost(origin);
  const std::string_view scheme_and_port = origin.substr(host.size());
  const std::string_view scheme =
      scheme_and_port.substr(0, scheme_and_port.find(':'));
  if (scheme != "http" && scheme != "https") return false;
  text_ = scheme;
  text_ += "://";
  if (!AppendHostFromSurt(host, text_)) return false;
  text_ += scheme_and_port.substr(scheme.size());
  text_ += '/';
  if (Url::Parse(text_, nullptr, origin_url_) != UrlOutcome::kOk ||
      origin_url_.href() != text_) {
    return false;
  }
  // A slash in a "label" was read as the path, say.
  text_.clear();
  AppendSurtKey(origin_url_, text_);
  text_.pop_back();
  return text_ == origin;
}

absl::StatusOr<std::string> UrlFromSurt(std::string_view surt) {
  SurtReader reader;
  Url url;
  if (!reader.Read(surt, url)) {
    return absl::InvalidArgumentError(
        fmt::format("not a SURT key: {:.200}", surt));
  }
  return url.href();
}

std::string_view SurtHost(std::string_view surt) {
  const size_t end = surt.find(')');
  if (end == std::string_view::npos || end < 1 || surt[end - 1] != ',') {
    return {};
  }
  return surt.substr(0, end + 1);
}

}  // namespace gannet::storage
