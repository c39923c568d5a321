#include "sites/agent/log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sites/admin/utf8.h"

namespace gannet::sites {
namespace {

// syslog(3)'s, which sd-daemon(3) takes over.
int JournalPriority(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return 7;
    case LogLevel::kInfo:
      return 6;
    case LogLevel::kWarning:
      return 4;
    case LogLevel::kError:
      return 3;
  }
  return 6;
}

bool IsPlain(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c < 0x7f && c != '"' && c != '=' && c != '\\';
  });
}

// JSON's quotes and escapes: all that is not printable ASCII is escaped, so
// that no terminal obeys it, and machines can read it back.
std::string Quoted(const std::string& text) {
  std::string quoted = nlohmann::json(text).dump(
      -1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace);
  size_t at = 0;
  while ((at = quoted.find('\x7f', at)) != std::string::npos) {
    quoted.replace(at, 1, "\\u007f");
  }
  return quoted;
}

std::string FieldText(const LogField& field) {
  if (const auto* text = std::get_if<std::string>(&field.value)) {
    return IsPlain(*text) ? *text : Quoted(*text);
  }
  if (const auto* number = std::get_if<int64_t>(&field.value)) {
    return std::to_string(*number);
  }
  if (const auto* number = std::get_if<double>(&field.value)) {
    return fmt::format("{:.3f}", *number);
  }
  return std::get<bool>(field.value) ? "true" : "false";
}

}  // namespace

const char* LogLevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      return "error";
  }
  return "";
}

std::string LogLine(LogFormat format, absl::Time now, LogLevel level,
                    std::string_view event, absl::Span<const LogField> fields) {
  const std::string time =
      absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", now, absl::UTCTimeZone());
  if (format == LogFormat::kJson) {
    nlohmann::ordered_json line;
    line["time"] = time;
    line["level"] = LogLevelName(level);
    line["event"] = Utf8(event);
    for (const LogField& field : fields) {
      std::visit([&](const auto& value) { line[field.key] = value; },
                 field.value);
    }
    return line.dump(-1, ' ', /*ensure_ascii=*/true,
                     nlohmann::json::error_handler_t::replace);
  }
  std::string line;
  if (now != absl::InfinitePast()) line = time + " ";
  line += fmt::format("{} {}", LogLevelName(level), event);
  for (const LogField& field : fields) {
    line += fmt::format(" {}={}", field.key, FieldText(field));
  }
  return line;
}

Log::Log(const LogSection& settings, int fd, bool to_journal,
         storage::Clock& clock)
    : format_(settings.format),
      fd_(fd),
      to_journal_(to_journal),
      clock_(clock),
      level_(settings.level) {}

void Log::Write(LogLevel level, std::string_view event,
                absl::Span<const LogField> fields) {
  if (!Shows(level)) return;
  std::string line;
  if (to_journal_ && format_ == LogFormat::kText) {
    line = fmt::format("<{}>", JournalPriority(level)) +
           LogLine(format_, absl::InfinitePast(), level, event, fields);
  } else {
    line = LogLine(format_, clock_.Now(), level, event, fields);
  }
  line += '\n';
  // There is nowhere to report a failure.
  [[maybe_unused]] const ssize_t n = write(fd_, line.data(), line.size());
}

void Log::Debug(std::string_view event,
                std::initializer_list<LogField> fields) {
  Write(LogLevel::kDebug, event, fields);
}
void Log::Info(std::string_view event, std::initializer_list<LogField> fields) {
  Write(LogLevel::kInfo, event, fields);
}
void Log::Warning(std::string_view event,
                  std::initializer_list<LogField> fields) {
  Write(LogLevel::kWarning, event, fields);
}
void Log::Error(std::string_view event,
                std::initializer_list<LogField> fields) {
  Write(LogLevel::kError, event, fields);
}

}  // namespace gannet::sites
