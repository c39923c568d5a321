// LibraryLogs sends the messages of gRPC and protobuf to the agent's log, while
// it lives: raw lines on standard error would break JSON, and a caller that
// sends garbage must not fill the disk at level error. One at a time.
#pragma once

#include "sites/agent/log.h"

namespace gannet::sites {

class LibraryLogs {
 public:
  // `log` must outlive this.
  explicit LibraryLogs(Log& log);
  ~LibraryLogs();
  LibraryLogs(const LibraryLogs&) = delete;
  LibraryLogs& operator=(const LibraryLogs&) = delete;
};

}  // namespace gannet::sites
