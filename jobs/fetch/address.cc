#include "jobs/fetch/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

namespace gannet::jobs {
namespace {

constexpr std::array<uint8_t, 12> kMapped = {0, 0, 0, 0, 0,    0,
                                             0, 0, 0, 0, 0xff, 0xff};

}  // namespace

std::optional<Address> Address::Parse(std::string_view text) {
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') {
    text = text.substr(1, text.size() - 2);
  }
  const std::string terminated(text);
  in_addr v4;
  if (inet_pton(AF_INET, terminated.c_str(), &v4) == 1) {
    return FromIpv4(ntohl(v4.s_addr));
  }
  Address address;
  if (inet_pton(AF_INET6, terminated.c_str(), address.bytes_.data()) == 1) {
    return address;
  }
  return std::nullopt;
}

std::optional<Address> Address::FromSockaddr(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, address, sizeof v4);
    return FromIpv4(ntohl(v4.sin_addr.s_addr));
  }
  if (address->sa_family == AF_INET6) {
    sockaddr_in6 v6;
    std::memcpy(&v6, address, sizeof v6);
    Address result;
    std::memcpy(result.bytes_.data(), &v6.sin6_addr, 16);
    return result;
  }
  return std::nullopt;
}

Address Address::FromIpv4(uint32_t host_order) {
  Address address;
  std::copy(kMapped.begin(), kMapped.end(), address.bytes_.begin());
  for (int i = 0; i < 4; ++i) {
    address.bytes_[12 + i] = static_cast<uint8_t>(host_order >> (24 - 8 * i));
  }
  return address;
}

Address Address::FromBytes(const std::array<uint8_t, 16>& bytes) {
  Address address;
  address.bytes_ = bytes;
  return address;
}

bool Address::is_ipv4() const {
  return std::equal(kMapped.begin(), kMapped.end(), bytes_.begin());
}

std::string Address::ToString() const {
  char text[INET6_ADDRSTRLEN] = {};
  if (is_ipv4()) {
    inet_ntop(AF_INET, bytes_.data() + 12, text, sizeof text);
  } else {
    inet_ntop(AF_INET6, bytes_.data(), text, sizeof text);
  }
  return text;
}

}  // namespace gannet::jobs
