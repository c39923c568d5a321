#include "sites/agent/run_agent.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "absl/time/clock.h"
#include "sites/agent/round_settings.h"
#include "tests/temporary_folder.h"

namespace gannet::sites {
namespace {

using testing::ExitedWithCode;

// As while a site is opened that takes long, the process gets `signal`.
void OpenForEver(int signal) {
  BlockAgentSignals();
  const EndOnSignals end_on_signals;
  kill(getpid(), signal);
  for (;;) absl::SleepFor(absl::Seconds(1));
}

TEST(EndOnSignalsTest, AnAgentThatIsStillOpeningItsSiteCanBeEnded) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(OpenForEver(SIGTERM), ExitedWithCode(kDone), "");
  EXPECT_EXIT(OpenForEver(SIGINT), ExitedWithCode(kInterrupted), "");
}

// The site is open, and the process gets a signal: it must not end by it,
// because RunAgent() handles signals from then on.
void ASignalAfterIt() {
  BlockAgentSignals();
  { const EndOnSignals end_on_signals; }
  kill(getpid(), SIGTERM);
  absl::SleepFor(absl::Milliseconds(100));
  _exit(kDone);
}

TEST(EndOnSignalsTest, OnceItIsOpenTheAgentListensItself) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(ASignalAfterIt(), ExitedWithCode(kDone), "");
}

// A web server that takes connections and never answers, until HangUp() closes
// them all.
class SilentServer {
 public:
  SilentServer() : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* any = reinterpret_cast<sockaddr*>(&address);
    if (bind(fd_, any, size) != 0 || listen(fd_, 100) != 0 ||
        getsockname(fd_, any, &size) != 0) {
      abort();
    }
    address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  ~SilentServer() { HangUp(); }

  void HangUp() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }
  const std::string& address() const { return address_; }

 private:
  int fd_;
  std::string address_;
};

// Reads from a pipe or a socket.
class Listener {
 public:
  explicit Listener(int fd) : fd_(fd) {}

  // Whether `text` comes within that time.
  bool Hears(const std::string& text, absl::Duration within) {
    const absl::Time until = absl::Now() + within;
    std::string heard;
    while (heard.find(text) == std::string::npos) {
      const absl::Duration left = until - absl::Now();
      pollfd ready = {fd_, POLLIN, 0};
      if (left <= absl::ZeroDuration() ||
          poll(&ready, 1, static_cast<int>(absl::ToInt64Milliseconds(left))) <=
              0) {
        return false;
      }
      char bytes[4096];
      heard.append(bytes,
                   std::max<ssize_t>(0, read(fd_, bytes, sizeof(bytes))));
    }
    return true;
  }
  void Forget() { (void)Hears("nobody says this", absl::Milliseconds(1)); }

 private:
  const int fd_;
};

int BoundDatagrams(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    abort();
  }
  return fd;
}

// Runs an agent whose first round hangs for a while. True if the watchdog was
// fed before and after, and not meanwhile.
bool IsFedOnlyWhenAlive() {
  BlockAgentSignals();
  const TemporaryFolder folder;
  SilentServer server;
  int logged[2];
  if (pipe(logged) != 0) return false;
  Log log({.level = LogLevel::kError}, logged[1], false,
          storage::SystemClock());
  storage::SiteStoreSettings store_settings;
  store_settings.folder = folder.path() + "/site";
  store_settings.create = true;
  auto store =
      storage::SiteStore::Open(store_settings, storage::SystemClock()).value();
  const auto url = storage::Url::Parse("http://a.example/").value();
  if (!store->crawl_db()
           .incoming()
           .Inject({storage::PageKeyOf(url)}, absl::Now())
           .ok()) {
    return false;
  }
  AgentSettings settings;
  settings.config.site.data = store_settings.folder;
  settings.config.listen.http = "";
  settings.config.archive.min_free = 0;
  settings.config.crawl.schedule = Schedule::Parse("continuous").value();
  settings.config.fetch.connect_to = server.address();
  settings.prepare = [config = settings.config](const SiteConfig&) {
    return PrepareRounds(config);
  };
  // A round counts as hanging after its time limit and 15 minutes of silence:
  // so after 300 ms here.
  settings.config.crawl.time_limit =
      absl::Milliseconds(300) - absl::Minutes(15);
  auto agent =
      Agent::Start(settings, *store, log, storage::SystemClock()).value();

  const std::string path = folder.path() + "/notify";
  Listener systemd(BoundDatagrams(path)), journal(logged[0]);
  const ServiceManager manager(path, /*watchdog=*/absl::Milliseconds(200));
  bool is_good = false;
  std::thread operators([&] {
    const absl::Duration soon = absl::Seconds(20), now = absl::Seconds(1);
    is_good = systemd.Hears("WATCHDOG=1", soon) &&
              journal.Hears("watchdog_not_fed", soon);
    systemd.Forget();
    is_good = is_good && !systemd.Hears("WATCHDOG=1", now);
    server.HangUp();
    is_good = is_good && systemd.Hears("WATCHDOG=1", soon);
    kill(getpid(), SIGTERM);
  });
  const ExitCode code = RunAgent(std::move(agent), std::move(store), manager,
                                 log, storage::SystemClock());
  operators.join();
  return is_good && code == kDone;
}

TEST(RunAgentTest, TheWatchdogIsNotFedWhileARoundHangs) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(_exit(IsFedOnlyWhenAlive() ? 0 : 1), ExitedWithCode(0), "");
}

}  // namespace
}  // namespace gannet::sites
