#include "tests/fake_web/socket_bio.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstdint>

namespace gannet::fake_web {
namespace {

int FdOf(BIO* bio) {
  return static_cast<int>(reinterpret_cast<intptr_t>(BIO_get_data(bio)));
}

bool IsTransient(int error) { return error == EAGAIN || error == EINTR; }

int Read(BIO* bio, char* buffer, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t n =
      recv(FdOf(bio), buffer, static_cast<size_t>(size), MSG_DONTWAIT);
  if (n < 0 && IsTransient(errno)) BIO_set_retry_read(bio);
  return static_cast<int>(n);
}

int Write(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t n = send(FdOf(bio), bytes, static_cast<size_t>(size),
                         MSG_DONTWAIT | MSG_NOSIGNAL);
  if (n < 0 && IsTransient(errno)) BIO_set_retry_write(bio);
  return static_cast<int>(n);
}

long Control(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

const BIO_METHOD* Method() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK,
                                 "socket without SIGPIPE");
    BIO_meth_set_read(m, Read);
    BIO_meth_set_write(m, Write);
    BIO_meth_set_ctrl(m, Control);
    return m;
  }();
  return method;
}

}  // namespace

OpensslPtr<BIO> NewSocketBio(int fd) {
  OpensslPtr<BIO> bio(BIO_new(Method()));
  BIO_set_data(bio.get(), reinterpret_cast<void*>(static_cast<intptr_t>(fd)));
  BIO_set_init(bio.get(), 1);
  return bio;
}

}  // namespace gannet::fake_web
