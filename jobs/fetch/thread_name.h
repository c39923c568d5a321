// NameThread names the thread that calls it, so that top(1) and perf(1) show
// who works: "network", "parse-0", "commit". A function; thread-safe.
#pragma once

#include <pthread.h>

#include <string>

namespace gannet::jobs {

// Linux keeps 15 bytes.
inline void NameThread(const std::string& name) {
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
}

}  // namespace gannet::jobs
