// Preloaded: a process that gets a socket of the Internet two times out of three, as
// where file handles run out; or, by GANNET_TEST_NO_SOCKETS, none of the first so many.
// Others (the agent's own, of the system) are left alone.
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int socket(int family, int type, int protocol) {
  static atomic_uint asked;
  if (family == AF_INET) {
    const char *first = getenv("GANNET_TEST_NO_SOCKETS");
    const unsigned number = atomic_fetch_add(&asked, 1);
    if (first ? number < (unsigned)atoi(first) : number % 3 == 2) {
      errno = EMFILE;
      return -1;
    }
  }
  return (int)syscall(SYS_socket, family, type, protocol);
}
