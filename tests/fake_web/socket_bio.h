// Connects OpenSSL to a socket, instead of OpenSSL's own socket BIO: it neither
// blocks (whatever the socket's flags are) nor raises SIGPIPE, which would end
// a process that writes to a peer that has left. Thread-safe.
#pragma once

#include "tests/fake_web/openssl_ptr.h"

namespace gannet::fake_web {

// The caller still owns `fd`, and must keep it open as long as the BIO is used.
OpensslPtr<BIO> NewSocketBio(int fd);

}  // namespace gannet::fake_web
