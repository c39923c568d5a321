#include "tests/fake_web/raw_client.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

namespace gannet::fake_web {
namespace {

sockaddr_in AddressOf(const std::string& text, uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  inet_pton(AF_INET, text.c_str(), &address.sin_addr);
  return address;
}

}  // namespace

std::string WireResponse::Header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

RawClient::RawClient(uint16_t port, const std::string& address,
                     const std::string& source) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (!source.empty()) {
    const sockaddr_in from = AddressOf(source, 0);
    bind(fd, reinterpret_cast<const sockaddr*>(&from), sizeof(from));
  }
  const sockaddr_in to = AddressOf(address, port);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0) {
    fd_ = fd;
  } else {
    close(fd);
  }
}

RawClient::~RawClient() {
  if (fd_ >= 0) close(fd_);
}

bool RawClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

RawClient::More RawClient::ReadMore() {
  pollfd poller = {.fd = fd_, .events = POLLIN, .revents = 0};
  const int wait_ms = static_cast<int>(absl::ToInt64Milliseconds(silence));
  if (poll(&poller, 1, wait_ms) <= 0) {
    if (before_giving_up == nullptr) return More::kTimedOut;
    before_giving_up();
    if (poll(&poller, 1, 10) <= 0) return More::kTimedOut;
  }
  std::array<char, 65536> buffer;
  const ssize_t n = recv(fd_, buffer.data(), buffer.size(), 0);
  if (n == 0) return More::kClosed;
  if (n < 0) return More::kReset;
  in_.append(buffer.data(), static_cast<size_t>(n));
  return More::kBytes;
}

std::string RawClient::ReadAll() {
  while (ReadMore() == More::kBytes) {
  }
  return std::move(in_);
}

WireResponse RawClient::Read(bool head_only) {
  WireResponse response;
  auto ended = [&response](More more) {
    return more == More::kReset      ? WireEnd::kReset
           : more == More::kTimedOut ? WireEnd::kTimedOut
           : response.status == 0    ? WireEnd::kNotHttp
                                     : WireEnd::kCutShort;
  };
  size_t head_end;
  while ((head_end = in_.find("\r\n\r\n")) == in_.npos) {
    if (in_.size() > most_head) {
      response.end = WireEnd::kTooLong;
      return response;
    }
    const More more = ReadMore();
    if (more != More::kBytes) {
      response.end = ended(more);
      return response;
    }
  }
  if (!in_.starts_with("HTTP/1.1 ") || head_end < 12) return response;
  response.status = atoi(in_.c_str() + 9);
  std::string_view head = std::string_view(in_).substr(0, head_end);
  for (size_t at = head.find("\r\n"); at != head.npos;) {
    head.remove_prefix(at + 2);
    at = head.find("\r\n");
    const std::string_view line = head.substr(0, at);
    const size_t colon = line.find(':');
    if (colon == line.npos) continue;
    std::string name(line.substr(0, colon));
    for (char& c : name) c = static_cast<char>(tolower(c));
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    response.headers.emplace(name, value);
  }
  const size_t body = head_end + 4;
  const std::string length = response.Header("content-length");
  const bool none = head_only || response.status == 304;
  size_t wanted = none ? 0 : std::string::npos;
  if (!none && !length.empty()) wanted = strtoull(length.c_str(), nullptr, 10);
  response.end = WireEnd::kWhole;
  while (wanted == std::string::npos || in_.size() - body < wanted) {
    if (in_.size() - body > most_body) {
      response.end = WireEnd::kTooLong;
      return response;
    }
    const More more = ReadMore();
    if (more == More::kBytes) continue;
    if (more == More::kClosed && wanted == std::string::npos) break;
    response.end = ended(more);
    break;
  }
  wanted = std::min(wanted, in_.size() - body);
  response.body = in_.substr(body, wanted);
  response.raw = in_.substr(0, body + wanted);
  in_.erase(0, body + wanted);
  return response;
}

WireResponse RawClient::Get(std::string_view host, std::string_view target,
                            std::string_view more_headers) {
  Send(fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\n{}\r\n", target, host,
                   more_headers));
  return Read();
}

WireResponse Fetch(uint16_t port, std::string_view host,
                   std::string_view target, std::string_view more_headers) {
  RawClient client(port);
  return client.Get(host, target, more_headers);
}

}  // namespace gannet::fake_web
