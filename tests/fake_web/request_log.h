// What was asked of the fake web, one line per request, for judging afterwards.
//
// The file is tab-separated text. Its first line is a comment with the web's
// options, from which the judge makes the same web again; the second names the
// columns; then a line per request, in the order in which answers ended:
//
//   #gannet-fakeweb-log 1 seed=1 hosts=500 ...
//   arrival_ns end_ns host address asker target status bytes kind end scheme
//   81200334 81241002 www.a1.test 127.3.4.5 127.0.0.1 /b?c=d 200 14210 page
//   whole http
//
// arrival_ns: the monotonic clock when the request's head was complete.
// end_ns: the same clock just before the last bytes were given to the kernel
//   (so that the asker cannot have seen them earlier).
// address: the one of 127.0.0.0/8 that the asker connected to; asker: its own.
//   bytes: head and body, as far as the kernel took them.
// kind: of nasty.h. end: `whole`, `aborted` (the asker left first), or `reset`
//   (by the server, on purpose).
// scheme: `http` or `https`, by the port that was asked; older logs do not have
//   it, and are read as http. Handshakes without a request are not logged.
// Control characters and spaces in what was asked are written as %XX.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "storage/mutex.h"
#include "tests/fake_web/nasty.h"
#include "tests/fake_web/web_options.h"

namespace gannet::fake_web {

enum class LogEnd : uint8_t { kWhole, kAborted, kReset };

struct LogEntry {
  int64_t arrival_ns = 0;
  int64_t end_ns = 0;
  std::string host;
  uint32_t address = 0;  // IPv4, host byte order.
  uint32_t asker = 0;
  std::string target;
  int status = 0;
  uint64_t bytes = 0;
  Nasty kind = Nasty::kNone;
  LogEnd end = LogEnd::kWhole;
  bool tls = false;

  bool operator==(const LogEntry&) const = default;
};

std::string FormatAddress(uint32_t address);
// Appends one line with its line feed.
void AppendLogLine(const LogEntry& entry, std::string* out);
absl::StatusOr<LogEntry> ParseLogLine(std::string_view line);

struct LogFile {
  WebOptions options;
  std::vector<LogEntry> entries;
  static absl::StatusOr<LogFile> Read(const std::string& path);
};

// Takes entries from several threads; keeps them in memory, writes them to a
// file, both, or neither. Thread-safe.
class RequestLog {
 public:
  // `path` empty: no file. Returns kPermissionDenied or another error if the
  // file cannot be made.
  static absl::StatusOr<std::unique_ptr<RequestLog>> Open(
      const std::string& path, const WebOptions& options, bool keep);
  ~RequestLog();
  RequestLog(const RequestLog&) = delete;
  RequestLog& operator=(const RequestLog&) = delete;

  bool wanted() const { return file_ != nullptr || keep_; }
  void Add(LogEntry entry) ABSL_LOCKS_EXCLUDED(mu_);
  std::vector<LogEntry> Entries() const ABSL_LOCKS_EXCLUDED(mu_);
  // Gives what is buffered to the kernel.
  absl::Status Flush() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  RequestLog(FILE* file, bool keep) : file_(file), keep_(keep) {}

  FILE* const file_;  // Null if there is none.
  const bool keep_;
  mutable storage::Mutex mu_;
  std::string buffer_ ABSL_GUARDED_BY(mu_);
  std::vector<LogEntry> entries_ ABSL_GUARDED_BY(mu_);
  bool failed_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace gannet::fake_web
