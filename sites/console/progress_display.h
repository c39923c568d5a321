// ProgressDisplay shows a running round on standard error while it lives: it
// looks four times a second, from a thread of its own, so that a job never
// waits for a terminal. Standard output stays free for the result. Stop() (or
// the destructor) gives the cursor back; a process that may be interrupted must
// call one of them. Not thread-safe itself.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "jobs/round/progress.h"
#include "sites/console/progress_text.h"
#include "storage/clock.h"

namespace gannet::sites {

// What kind of terminal `fd` is: nothing if it is none, or a dumb one. NO_COLOR
// (https://no-color.org) is respected.
std::optional<TerminalStyle> TerminalOf(int fd);

class ProgressDisplay {
 public:
  using GetProgress = std::function<jobs::ProgressView()>;

  // `get_progress` is called from the display's thread, until Stop() has
  // returned. Once `stopping` is true (a signal handler may set it), kStopping
  // is shown. `clock` must outlive this.
  ProgressDisplay(GetProgress get_progress, storage::Clock& clock, int fd = 2,
                  const std::atomic<bool>* stopping = nullptr);
  ~ProgressDisplay();
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  // May be called again; not from two threads at once.
  void Stop();

 private:
  void Run(const std::stop_token& stop);
  std::string NextBytes();
  // False once the reader has gone: then there is nothing more to show.
  bool Write(const std::string& bytes) const;

  const GetProgress get_progress_;
  storage::Clock& clock_;
  const int fd_;
  const std::atomic<bool>* const stopping_;  // Null: no stop can be asked.
  const bool is_terminal_;
  bool said_stopping_ = false;  // The thread's.
  ProgressPrinter printer_;     // The thread's; after it, Stop()'s.
  std::jthread thread_;         // The last: it uses all of the above.
};

}  // namespace gannet::sites
