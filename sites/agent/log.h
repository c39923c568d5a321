// Log writes what the agent does to standard error, a line an event, for
// journald or a person: a time, a level, the event's name, and fields.
//
//   2026-03-01T12:00:00.123Z info round_ended round=7 fetched=312
//   url="http://a/ b"
//   {"time":"2026-03-01T12:00:00.123Z","level":"info","event":"round_ended",...}
//
// Under systemd a text line begins with the level's number instead of the time
// (sd-daemon(3)), which journald keeps apart. Text from the web is quoted and
// escaped: a field cannot forge a line. A line is one write(2). Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "sites/config/site_config.h"
#include "storage/clock.h"

namespace gannet::sites {

struct LogField {
  const char* key;
  std::variant<std::string, int64_t, double, bool> value;
};

class Log {
 public:
  // `to_journal`: standard error is journald's (JOURNAL_STREAM is set). `clock`
  // must outlive it.
  Log(const LogSection& settings, int fd, bool to_journal,
      storage::Clock& clock);

  void SetLevel(LogLevel level) { level_ = level; }
  bool Shows(LogLevel level) const { return level >= level_; }

  void Debug(std::string_view event, std::initializer_list<LogField> fields);
  void Info(std::string_view event, std::initializer_list<LogField> fields);
  void Warning(std::string_view event, std::initializer_list<LogField> fields);
  void Error(std::string_view event, std::initializer_list<LogField> fields);
  void Write(LogLevel level, std::string_view event,
             std::initializer_list<LogField> fields) {
    Write(level, event, absl::MakeConstSpan(fields.begin(), fields.size()));
  }
  void Write(LogLevel level, std::string_view event,
             absl::Span<const LogField> fields);

 private:
  const LogFormat format_;
  const int fd_;
  const bool to_journal_;
  storage::Clock& clock_;
  std::atomic<LogLevel> level_;
};

// The line without its end. `now` of InfinitePast: without a time.
std::string LogLine(LogFormat format, absl::Time now, LogLevel level,
                    std::string_view event, absl::Span<const LogField> fields);
const char* LogLevelName(LogLevel level);

}  // namespace gannet::sites
