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
  const std::string_view rest = surt.substr(host.size());
  const size_t path = rest.find('/');
  if (host.size() < 3 || path == std::string_view::npos) return false;
  const std::string_view origin = rest.substr(0, path);
  const std::string_view scheme = origin.substr(0, origin.find(':'));
  if (scheme != "http" && scheme != "https") return false;

  url_ = scheme;
  url_ += "://";
  if (!AppendHostFromSurt(surt, url_)) return false;
  url_ += origin.substr(scheme.size());
  url_ += rest.substr(path);

  // Only a key that its URL leads back to is one: else two keys could stand for
  // one page, or a slash in a "label" be read as the path.
  if (Url::Parse(url_, nullptr, out) != UrlOutcome::kOk || out.href() != url_) {
    return false;
  }
  key_.clear();
  AppendSurtKey(out, key_);
  return key_ == surt;
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
