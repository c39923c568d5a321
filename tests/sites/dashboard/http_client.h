// A minimal HTTP client for tests: one request, the whole answer. Functions
// only.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <string>

namespace gannet::sites {

struct ClientAnswer {
  int code = 0;  // 0: no answer.
  std::string head;
  std::string body;

  // The header's value; empty if it is not there.
  std::string Header(const std::string& name) const {
    const size_t at = head.find("\r\n" + name + ": ");
    if (at == std::string::npos) return "";
    const size_t begin = at + name.size() + 4;
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }
};

// Sends the bytes of `request` to 127.0.0.1.
inline ClientAnswer SendRaw(uint16_t port, const std::string& request) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ClientAnswer answer;
  std::string all;
  if (connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0) {
    for (size_t sent = 0; sent < request.size();) {
      const ssize_t n =
          send(fd, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) break;
      sent += static_cast<size_t>(n);
    }
    char piece[4096];
    for (ssize_t n; (n = recv(fd, piece, sizeof(piece), 0)) > 0;) {
      all.append(piece, static_cast<size_t>(n));
    }
  }
  close(fd);
  const size_t end = all.find("\r\n\r\n");
  if (end == std::string::npos || all.rfind("HTTP/1.1 ", 0) != 0) return answer;
  answer.code = std::stoi(all.substr(9));
  answer.head = all.substr(0, end + 2);
  answer.body = all.substr(end + 4);
  return answer;
}

inline ClientAnswer Request(
    uint16_t port, const std::string& method, const std::string& path,
    const std::map<std::string, std::string>& headers = {
        {"Host", "localhost"}}) {
  std::string request = method + " " + path + " HTTP/1.1\r\n";
  for (const auto& [name, value] : headers) {
    request += name + ": " + value + "\r\n";
  }
  return SendRaw(port, request + "\r\n");
}

inline ClientAnswer Get(uint16_t port, const std::string& path) {
  return Request(port, "GET", path);
}

}  // namespace gannet::sites
