// The process is killed at random moments. A binary of its own: RocksDB's
// threads do not survive a fork, so the process that forks must never have
// opened a DB.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <random>

#include "tests/storage/crawl_db/random_verbs.h"
#include "tests/temporary_folder.h"
#include "tests/test_run.h"

namespace gannet::storage::model {
namespace {

// Runs `body` in a process of its own and returns what it returns; -1 if it
// crashes.
int RunInChild(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Does verbs from `begin` on until it is killed, and writes a byte to `pipe`
// after each.
[[noreturn]] void VerbsUntilKilled(const std::string& folder, uint64_t seed,
                                   int begin, Model model, int pipe) {
  auto db = OpenSmallDb(folder);
  for (int i = begin;; ++i) {
    const std::string problem = DoRandomVerb({seed, i}, model, db.get());
    const char word = problem.empty() ? '.' : '!';
    if (!problem.empty()) fprintf(stderr, "%s\n", problem.c_str());
    if (write(pipe, &word, 1) != 1 || word == '!') _exit(2);
  }
}

TEST(CrawlDbKillTest, AKilledProcessLeavesEachVerbDoneOrNotDone) {
  const int kills = IsLongRun() ? 300 : 30;
  TemporaryFolder folder;
  Model model;
  const uint64_t seed = 77;
  int done = 0;
  std::mt19937_64 random(seed);
  for (int kill_number = 0; kill_number < kills; ++kill_number) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(ends[0]);
      VerbsUntilKilled(folder.path(), seed, done, model, ends[1]);
    }
    close(ends[1]);
    // Kills after at least one verb, so that the test makes progress, at any
    // moment.
    int acknowledged = 0;
    char word = 0;
    ASSERT_EQ(read(ends[0], &word, 1), 1) << "the child died by itself";
    ASSERT_EQ(word, '.');
    ++acknowledged;
    usleep(random() % 60'000);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child stopped by itself";
    while (read(ends[0], &word, 1) == 1) {
      ASSERT_EQ(word, '.');
      ++acknowledged;
    }
    close(ends[0]);

    for (int i = 0; i < acknowledged; ++i) {
      DoRandomVerb({seed, done++}, model, nullptr);
    }
    // The verb that was under way is done wholly or not at all.
    enum Answer { kNotDone, kDone, kNeither };
    const int answer = RunInChild([&] {
      auto db = OpenSmallDb(folder.path());
      const std::string problem = Compare(model, *db);
      if (problem.empty()) return kNotDone;
      Model next = model;
      DoRandomVerb({seed, done}, next, nullptr);
      const std::string with_next = Compare(next, *db);
      if (with_next.empty()) return kDone;
      fprintf(stderr, "%s\nor: %s\n", problem.c_str(), with_next.c_str());
      return kNeither;
    });
    ASSERT_THAT(answer, testing::AnyOf(kNotDone, kDone))
        << "after kill " << kill_number << " and " << done << " verbs";
    if (answer == kDone) DoRandomVerb({seed, done++}, model, nullptr);
  }
  EXPECT_GT(done, kills);
}

}  // namespace
}  // namespace gannet::storage::model
