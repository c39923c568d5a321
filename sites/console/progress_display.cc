#include "sites/console/progress_display.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string_view>

namespace gannet::sites {
namespace {

constexpr std::chrono::milliseconds kEvery(250);

// 0 if it cannot be known.
int ColumnsOf(int fd) {
  winsize size{};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::string_view Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool IsUtf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view locale = Environment(name);
    if (locale.empty()) continue;  // The next one decides.
    return locale.find("UTF-8") != std::string_view::npos ||
           locale.find("utf8") != std::string_view::npos;
  }
  return false;
}

}  // namespace

std::optional<TerminalStyle> TerminalOf(int fd) {
  const std::string_view kind = Environment("TERM");
  if (isatty(fd) == 0 || kind.empty() || kind == "dumb") return std::nullopt;
  TerminalStyle style;
  if (const int columns = ColumnsOf(fd); columns > 0) style.width = columns;
  style.color = Environment("NO_COLOR").empty();
  style.unicode = IsUtf8();
  return style;
}

ProgressDisplay::ProgressDisplay(GetProgress get_progress,
                                 storage::Clock& clock, int fd,
                                 const std::atomic<bool>* stopping)
    : get_progress_(std::move(get_progress)),
      clock_(clock),
      fd_(fd),
      stopping_(stopping),
      is_terminal_(TerminalOf(fd).has_value()),
      printer_(TerminalOf(fd)),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

ProgressDisplay::~ProgressDisplay() { Stop(); }

void ProgressDisplay::Stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
  Write(printer_.Finish());
}

void ProgressDisplay::Run(const std::stop_token& stop) {
  std::mutex mu;
  std::condition_variable_any woken;
  std::unique_lock lock(mu);
  while (!stop.stop_requested()) {
    if (is_terminal_) printer_.SetWidth(ColumnsOf(fd_));
    if (!Write(NextBytes())) return;
    woken.wait_for(lock, stop, kEvery, [] { return false; });
  }
  // The end of the last phase, which may have fallen between two looks.
  Write(NextBytes());
}

std::string ProgressDisplay::NextBytes() {
  std::string bytes;
  if (!said_stopping_ && stopping_ != nullptr && *stopping_) {
    bytes = printer_.Say(kStopping);
    said_stopping_ = true;
  }
  jobs::ProgressView view = get_progress_();
  for (absl::Time* stored :
       {&view.phase_started, &view.deadline, &view.waiting_until}) {
    *stored = clock_.ToSteady(*stored);
  }
  return bytes + printer_.Next(view, clock_.SteadyNow());
}

bool ProgressDisplay::Write(const std::string& bytes) const {
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t n = write(fd_, rest.data(), rest.size());
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) rest.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

}  // namespace gannet::sites
