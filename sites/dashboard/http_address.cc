#include "sites/dashboard/http_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace gannet::sites {
namespace {

bool IsIpv4(const std::string& text) {
  in_addr address;
  return inet_pton(AF_INET, text.c_str(), &address) == 1;
}

std::optional<uint16_t> Port(std::string_view text) {
  uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, port);
  if (text.empty() || read.ec != std::errc() || read.ptr != end) return {};
  return port;
}

bool IsIpv6InBrackets(const std::string& text) {
  in6_addr address;
  return text.size() > 2 && text.front() == '[' && text.back() == ']' &&
         inet_pton(AF_INET6, text.substr(1, text.size() - 2).c_str(),
                   &address) == 1;
}

// In lower case, without the root's dot.
std::string Normalised(std::string_view name) {
  if (!name.empty() && name.back() == '.') name.remove_suffix(1);
  std::string out(name);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20)
                                : static_cast<char>(c);
  });
  return out;
}

// The host of a Host header, normalised; an IPv6 address keeps its brackets.
// Empty if what stands behind it is no port.
std::string HostOf(std::string_view header) {
  size_t end = header.find(':');
  if (!header.empty() && header.front() == '[') {
    end = header.find(']');
    if (end == std::string_view::npos) return "";
    ++end;
  }
  if (end < header.size()) {
    if (header[end] != ':') return "";
    const std::string_view port = header.substr(end + 1);
    if (!port.empty() && !Port(port).has_value()) return "";
  }
  return Normalised(header.substr(0, end));
}

bool IsLocalName(std::string_view name) {
  // RFC 6761, 6.3: names below localhost. never leave the machine either.
  constexpr std::string_view kBelow = ".localhost";
  return name == "localhost" ||
         (name.size() > kBelow.size() &&
          name.substr(name.size() - kBelow.size()) == kBelow);
}

}  // namespace

absl::StatusOr<HttpAddress> ParseHttpAddress(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return absl::InvalidArgumentError(
        fmt::format("'{}' is not an address to listen on: {}", text, why));
  };
  if (!text.empty() && text.front() == '[') {
    return bad("IPv6 is not supported here, use e.g. 127.0.0.1:7781");
  }
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return bad("it needs a port, as in 127.0.0.1:7781");
  }
  const std::optional<uint16_t> port = Port(text.substr(colon + 1));
  if (!port.has_value()) return bad("the port is a number from 0 to 65535");
  HttpAddress address = {std::string(text.substr(0, colon)), *port};
  if (address.ip.empty()) {
    return bad("it needs a host; 0.0.0.0 is every address of the machine");
  }
  if (address.ip == "localhost") address.ip = "127.0.0.1";
  if (!IsIpv4(address.ip)) {
    return bad("the host is an IPv4 address, or localhost");
  }
  return address;
}

bool NamesThisMachine(std::string_view host_header) {
  const std::string host = HostOf(host_header);
  if (host == "[::1]" || IsLocalName(host)) return true;
  return host.rfind("127.", 0) == 0 && IsIpv4(host);
}

bool IsKnownHost(std::string_view host_header, const HttpAddress& address,
                 const std::vector<std::string>& names) {
  if (NamesThisMachine(host_header)) return true;
  const std::string host = HostOf(host_header);
  if (host.empty()) return false;
  for (const std::string& name : names) {
    if (host == Normalised(name)) return true;
  }
  if (address.IsLoopback()) return false;
  if (host.front() == '[') return IsIpv6InBrackets(host);
  return IsIpv4(host) || host.find('.') == std::string::npos;
}

}  // namespace gannet::sites
