// A disk that does not answer, for a program that is started with
// LD_PRELOAD=libslow_disk.so: every read or sync of a file below
// $SLOW_DISK_FOLDER takes a minute, as on a dying disk. The file
// $SLOW_DISK_ENTERED appears when the first begins. Thread-safe.
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace {

void HoldUpIfSlow(int fd) {
  const char* folder = getenv("SLOW_DISK_FOLDER");
  const char* entered = getenv("SLOW_DISK_ENTERED");
  if (folder == nullptr || entered == nullptr) return;
  char link[64];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  char path[PATH_MAX] = {};
  if (readlink(link, path, sizeof(path) - 1) < 0) return;
  if (strncmp(path, folder, strlen(folder)) != 0) return;
  close(open(entered, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
  sleep(60);
}

// The C library's function that this library's one replaces.
template <typename Function>
Function* Real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

ssize_t pread(int fd, void* to, size_t size, off_t at) {
  static auto* const real = Real<decltype(pread)>("pread");
  HoldUpIfSlow(fd);
  return real(fd, to, size, at);
}

int fdatasync(int fd) {
  static auto* const real = Real<decltype(fdatasync)>("fdatasync");
  HoldUpIfSlow(fd);
  return real(fd);
}
}
