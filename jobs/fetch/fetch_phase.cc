#include "jobs/fetch/fetch_phase.h"

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "jobs/fetch/thread_name.h"
#include "jobs/fetch/work_queue.h"

namespace gannet::jobs {
namespace {

// The first error of several threads.
class FirstError {
 public:
  void Set(const absl::Status& status) {
    storage::MutexLock lock(&mu_);
    if (status_.ok()) status_ = status;
    is_set_ = true;
  }
  absl::Status Get() {
    storage::MutexLock lock(&mu_);
    return status_;
  }
  const std::atomic<bool>& is_set() const { return is_set_; }

 private:
  storage::Mutex mu_;
  absl::Status status_ ABSL_GUARDED_BY(mu_);
  std::atomic<bool> is_set_ = false;
};

// What a page's outlinks hold in memory, about: a small page may have
// thousands.
int64_t LinkBytes(const storage::Completion& completion) {
  int64_t bytes = 0;
  for (const storage::PageKey& link : completion.outlinks) {
    bytes += static_cast<int64_t>(sizeof link + link.bytes.size());
  }
  return bytes;
}

}  // namespace

absl::Status FetchPhase::Run(storage::SiteStore& store, absl::Time deadline,
                             const std::atomic<bool>& stop) {
  WorkQueue<Answer> answers;
  FirstError worker_error;
  Fetcher* fetcher_for_commits = nullptr;
  Committer committer(&store, settings_.commit,
                      [&](const std::vector<storage::Completion>& group) {
                        int64_t bytes = 0;
                        for (const auto& page : group) bytes += LinkBytes(page);
                        fetcher_for_commits->Delivered(group.size(), bytes);
                      });
  absl::StatusOr<std::unique_ptr<Fetcher>> fetcher =
      Fetcher::Create(settings_.fetch, &store.crawl_db(), &committer,
                      [&](Answer answer) { answers.Push(std::move(answer)); });
  if (!fetcher.ok()) return fetcher.status();
  fetcher_for_commits = fetcher->get();
  {
    storage::MutexLock lock(&mu_);
    running_ = fetcher->get();
  }

  const auto work = [&](int number) {
    NameThread("parse-" + std::to_string(number));
    PageWorker worker(settings_.page, &store);
    while (std::optional<Answer> answer = answers.Pop()) {
      if (worker_error.is_set()) continue;  // The page stays in the round.
      const auto bytes = static_cast<int64_t>(answer->response.body.size());
      absl::StatusOr<storage::Completion> completion =
          worker.Complete(*std::move(answer));
      if (completion.ok()) {
        // The body has gone; the links wait for their group.
        (*fetcher)->Delivered(0, bytes - LinkBytes(*completion));
        committer.Complete(*std::move(completion));
      } else {
        worker_error.Set(completion.status());
      }
    }
  };
  const int workers =
      settings_.workers > 0
          ? settings_.workers
          : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (int i = 0; i < workers; ++i) threads.emplace_back(work, i);

  absl::Status status;
  std::thread network([&] {
    NameThread("network");
    status = (*fetcher)->Run(deadline, stop, worker_error.is_set());
  });
  network.join();
  answers.Close();
  for (std::thread& thread : threads) thread.join();
  const absl::Status committed = committer.Finish();
  {
    storage::MutexLock lock(&mu_);
    running_ = nullptr;
  }
  if (status.ok()) status = worker_error.Get();
  return status.ok() ? committed : status;
}

FetchView FetchPhase::view() const {
  storage::MutexLock lock(&mu_);
  return running_ == nullptr ? FetchView() : running_->view();
}

}  // namespace gannet::jobs
