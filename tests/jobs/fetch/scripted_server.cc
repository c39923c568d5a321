#include "tests/jobs/fetch/scripted_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

namespace gannet::jobs {

namespace {

sockaddr_in Loopback(uint16_t port) {
  sockaddr_in at = {};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return at;
}

bool SendAll(int fd, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t n = send(fd, data, size, MSG_NOSIGNAL);
    if (n <= 0) return false;
    data += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

}  // namespace

ScriptedServer::ScriptedServer(Answer answer, uint16_t tunnel_to)
    : answer_(std::move(answer)),
      tunnel_to_(tunnel_to),
      listener_(socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in at = Loopback(0);
  socklen_t size = sizeof at;
  EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&at), size), 0);
  EXPECT_EQ(listen(listener_, 64), 0);
  getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size);
  port_ = ntohs(at.sin_port);
  listening_ = std::thread([this] { Listen(); });
}

ScriptedServer::~ScriptedServer() {
  shutdown(listener_, SHUT_RDWR);
  listening_.join();
  {
    storage::MutexLock lock(&mu_);
    for (const int fd : open_) shutdown(fd, SHUT_RDWR);
  }
  for (std::thread& thread : threads_) thread.join();
  for (const int fd : open_) close(fd);
  close(listener_);
}

void ScriptedServer::Listen() {
  for (int fd; (fd = accept(listener_, nullptr, nullptr)) >= 0;) {
    ++connections_;
    {
      storage::MutexLock lock(&mu_);
      open_.push_back(fd);
    }
    threads_.emplace_back([this, fd] { Serve(fd); });
  }
}

// The file handle is closed at the very end: its number is nobody else's then.
void ScriptedServer::Serve(int fd) {
  std::string read;
  char buffer[4096];
  for (;;) {
    const size_t end = read.find("\r\n\r\n");
    if (end == read.npos) {
      const ssize_t n = recv(fd, buffer, sizeof buffer, 0);
      if (n <= 0) break;
      if (!answer_) break;
      read.append(buffer, static_cast<size_t>(n));
      continue;
    }
    const std::string head = read.substr(0, end + 4);
    read.erase(0, end + 4);
    {
      storage::MutexLock lock(&mu_);
      heads_.push_back(head);
    }
    const std::string answer = answer_(head);
    if (answer.empty() || !SendAll(fd, answer.data(), answer.size())) break;
    if (tunnel_to_ != 0 && head.starts_with("CONNECT ")) {
      Tunnel(fd);
      break;
    }
  }
  shutdown(fd, SHUT_RDWR);
}

void ScriptedServer::Tunnel(int fd) const {
  const int to = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in at = Loopback(tunnel_to_);
  pollfd ends[2] = {{fd, POLLIN, 0}, {to, POLLIN, 0}};
  bool is_open =
      connect(to, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
  while (is_open && poll(ends, 2, -1) > 0) {
    for (int i = 0; i < 2 && is_open; ++i) {
      if (ends[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t n = recv(ends[i].fd, buffer, sizeof buffer, 0);
      is_open =
          n > 0 && SendAll(ends[1 - i].fd, buffer, static_cast<size_t>(n));
    }
  }
  close(to);
}

std::string Page(const std::string& body, const std::string& fields) {
  return fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{}\r\n{}",
                     body.size(), fields, body);
}

}  // namespace gannet::jobs
