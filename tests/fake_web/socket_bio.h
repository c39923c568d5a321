// OpenSSL's way to a socket, in place of its own: neither blocks (whatever the
// socket's flags say) nor raises SIGPIPE, which would end a process that writes
// to a peer that has left. Thread-safe.
#pragma once

#include "tests/fake_web/openssl_ptr.h"

namespace gannet::fake_web {

// `fd` stays the caller's, and must stay open as long as the BIO is used.
OpensslPtr<BIO> NewSocketBio(int fd);

}  // namespace gannet::fake_web
