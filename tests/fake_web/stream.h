// The bytes of one accepted connection, plain (here) or inside TLS
// (tls_server.h), so that Connection need not know which. Never blocks. Used by
// one thread only.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cstddef>

namespace gannet::fake_web {

class Stream {
 public:
  virtual ~Stream() = default;

  // As recv(2) and send(2): how many bytes; 0 if the peer has closed; or -1 and
  // errno, where EAGAIN means to try again after the socket's next event. Over
  // TLS a Receive may wait until the socket can be written, or a Send until it
  // can be read.
  virtual ssize_t Receive(char* buffer, size_t size) = 0;
  virtual ssize_t Send(const char* bytes, size_t size) = 0;
  // Tells the peer that nothing more comes.
  virtual void FinishSending() = 0;
  virtual bool tls() const = 0;
};

class PlainStream final : public Stream {
 public:
  // The caller still owns `fd`.
  explicit PlainStream(int fd) : fd_(fd) {}

  ssize_t Receive(char* buffer, size_t size) override {
    return recv(fd_, buffer, size, MSG_DONTWAIT);
  }
  ssize_t Send(const char* bytes, size_t size) override {
    return send(fd_, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  void FinishSending() override { shutdown(fd_, SHUT_WR); }
  bool tls() const override { return false; }

 private:
  const int fd_;
};

}  // namespace gannet::fake_web
