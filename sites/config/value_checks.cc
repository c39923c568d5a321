#include "sites/config/value_checks.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "jobs/fetch/address.h"
#include "jobs/fetch/address_range.h"
#include "jobs/fetch/connect_to.h"
#include "storage/archive/archive_name.h"
#include "storage/url/url.h"

namespace gannet::sites {
namespace {

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::optional<int> ToNumber(std::string_view text) {
  int value = 0;
  const auto [at, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || at != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

bool IsPort(std::string_view text) {
  const std::optional<int> port = ToNumber(text);
  return port.has_value() && *port >= 1 && *port <= 65535;
}

// What is before the last colon; false if what is behind it is no port.
bool CutPort(std::string_view text, std::string_view& host) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || !IsPort(text.substr(colon + 1))) {
    return false;
  }
  host = text.substr(0, colon);
  return true;
}

// The address before the port of a listen address.
std::optional<jobs::Address> HostOf(std::string_view listen_address) {
  return jobs::Address::Parse(
      listen_address.substr(0, listen_address.rfind(':')));
}

}  // namespace

bool IsToken(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c < 0x7f;
  });
}

bool IsHeaderValue(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= ' ' && c < 0x7f; });
}

bool IsSiteName(const std::string& text) {
  return text.size() <= 64 && storage::CheckNameParts("GANNET", text).ok();
}

bool IsAgentName(const std::string& text) {
  return !text.empty() && text.size() <= 64 &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return IsLetter(c) || c == '_' || c == '-';
         });
}

bool IsContact(const std::string& text) {
  if (!IsToken(text)) return false;
  if (text.starts_with("http://") || text.starts_with("https://")) {
    return storage::Url::Parse(text).ok();
  }
  const size_t at = text.find('@');
  return at != std::string::npos && at > 0 && at + 1 < text.size() &&
         text.find_first_of(":/()<>,;") == std::string::npos;
}

bool IsAddress(const std::string& text) {
  return jobs::Address::Parse(text).has_value();
}

bool IsCidr(const std::string& text) {
  return jobs::AddressRange::Parse(text).ok();
}

bool IsConnectTo(const std::string& text) {
  return jobs::ConnectTo::Parse(text).ok();
}

bool IsAddressWithOptionalPort(const std::string& text) {
  if (IsAddress(text)) return true;
  std::string_view host;
  if (!CutPort(text, host)) return false;
  const bool ambiguous =
      host.find(':') != std::string_view::npos && !host.starts_with('[');
  return !ambiguous && IsAddress(std::string(host));
}

bool IsListenAddress(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return false;
  const std::string host = text.substr(0, colon);
  const std::string port = text.substr(colon + 1);
  if (port != "0" && !IsPort(port)) return false;
  const bool ambiguous =
      host.find(':') != std::string::npos && !host.starts_with('[');
  return !ambiguous && IsAddress(host);
}

bool IsLoopback(const std::string& listen_address) {
  const auto host = HostOf(listen_address);
  if (!host.has_value()) return false;
  return host->is_ipv4() ? host->bytes()[12] == 127
                         : *host == jobs::Address::Parse("::1");
}

bool IsAnyAddress(const std::string& listen_address) {
  const auto host = HostOf(listen_address);
  return host == jobs::Address::Parse("0.0.0.0") ||
         host == jobs::Address::Parse("::");
}

bool IsHostPort(const std::string& text) {
  return text.find_first_of("/,") == std::string::npos && IsConnectTo(text);
}

bool IsHostName(const std::string& text) {
  return IsToken(text) && text.find_first_of("/,:@[]") == std::string::npos &&
         storage::Url::Parse("http://" + text + "/").ok();
}

bool IsProxy(const std::string& text) {
  for (std::string_view scheme : {"http://", "https://", "socks4://",
                                  "socks4a://", "socks5://", "socks5h://"}) {
    if (!text.starts_with(scheme)) continue;
    return IsToken(text) &&
           storage::Url::Parse("http://" + text.substr(scheme.size())).ok();
  }
  return false;
}

}  // namespace gannet::sites
