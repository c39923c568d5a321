// The process is killed at random moments of the group commit: whatever the
// moment, the archive and the crawl DB agree on the next start, and nothing
// that was committed is lost. A binary of its own, because it forks
// (tests/storage/crawl_db/kill_test.cc says why).
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "tests/storage/site_store/sample_site.h"
#include "tests/temporary_folder.h"
#include "tests/test_run.h"

namespace gannet::storage {
namespace {

std::unique_ptr<SiteStore> OpenStore(const std::string& folder) {
  SiteStoreSettings settings;
  settings.folder = folder;
  settings.create = true;
  settings.write_buffer_bytes = 1 << 20;
  settings.archive.file_size = 64 << 10;  // Many files begin and end.
  auto store = SiteStore::Open(settings, SystemClock());
  if (store.ok()) return *std::move(store);
  fmt::print(stderr, "{}\n", store.status().ToString());
  abort();
}

// Runs rounds of ten new pages, each page a group commit of its own, and writes
// a byte to `pipe` after each commit.
[[noreturn]] void CrawlUntilKilled(const std::string& folder, int pipe) {
  auto store = OpenStore(folder);
  int next = static_cast<int>(store->crawl_db().totals().KnownPages());
  for (;;) {
    CrawlSampleRound(*store, next, 10, [&] {
      if (write(pipe, ".", 1) != 1) _exit(2);
    });
    next += 10;
  }
}

// Empty if the data folder is as it should be with `committed` pages or one
// more.
std::string Problem(const std::string& folder, int64_t committed) {
  auto store = OpenStore(folder);
  for (const bool full : {false, true}) {
    const auto checks = store->Verify(full);
    if (!checks.ok()) return checks.status().ToString();
    for (const Check& check : *checks) {
      if (!check.ok) return check.name + ": " + check.detail;
    }
  }
  const int64_t fetched =
      store->crawl_db().totals().pages_by_state[proto::FETCHED];
  if (fetched == committed || fetched == committed + 1) return "";
  return fmt::format("{} pages fetched, {} committed", fetched, committed);
}

TEST(SiteStoreKillTest, ArchiveAndCrawlDbAgreeAfterAnyKill) {
  const int kills = IsLongRun() ? 200 : 25;
  TemporaryFolder folder;
  std::mt19937_64 random(5);
  int64_t committed = 0;
  for (int i = 0; i < kills; ++i) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      CrawlUntilKilled(folder.path(), ends[1]);
    }
    close(ends[1]);
    char word = 0;
    ASSERT_EQ(read(ends[0], &word, 1), 1) << "the child died by itself";
    ++committed;
    usleep(random() % 80'000);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child stopped by itself";
    while (read(ends[0], &word, 1) == 1) ++committed;
    close(ends[0]);

    const pid_t judge = fork();
    if (judge == 0) {
      const std::string problem = Problem(folder.path(), committed);
      if (!problem.empty()) fmt::print(stderr, "{}\n", problem);
      auto store = OpenStore(folder.path());
      const int64_t more =
          store->crawl_db().totals().pages_by_state[proto::FETCHED] - committed;
      store.reset();
      _exit(problem.empty() ? static_cast<int>(more) : 99);
    }
    waitpid(judge, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_LE(WEXITSTATUS(status), 1) << "after kill " << i;
    committed += WEXITSTATUS(status);
  }
}

}  // namespace
}  // namespace gannet::storage
