#include "jobs/fetch/fetch_phase.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "jobs/fetch/curl_network.h"
#include "jobs/fetch/thread_name.h"
#include "jobs/fetch/thread_priority.h"
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

}  // namespace

absl::Status FetchPhase::Run(storage::SiteStore& store, size_t sites,
                             absl::Time deadline, const std::atomic<bool>& stop,
                             const std::function<bool()>& is_over) {
  WorkQueue<Answer> answers;
  FirstError worker_error;
  Fetcher* fetcher_for_commits = nullptr;
  auto network = CurlNetwork::Create(settings_.fetch.download,
                                     settings_.fetch.resolver, clock_);
  if (!network.ok()) return network.status();
  Committer committer(&store, settings_.commit, clock_, [&](size_t pages) {
    fetcher_for_commits->Delivered(pages);
  });
  Fetcher fetcher(settings_.fetch, sites, clock_, *std::move(network),
                  std::random_device()(), &store.crawl_db(), &committer,
                  [&](Answer answer) { answers.Push(std::move(answer)); });
  fetcher_for_commits = &fetcher;
  {
    storage::MutexLock lock(&mu_);
    running_ = &fetcher;
  }

  // After this time no more answers are read: the end of the phase does not
  // wait for all of them.
  std::atomic<int64_t> patience_ends_ns = std::numeric_limits<int64_t>::max();
  const auto work = [&](int number) {
    NameThread("parse-" + std::to_string(number));
    YieldToNetwork();
    PageWorker worker(settings_.page, &store, std::random_device()());
    while (std::optional<Answer> answer = answers.Pop()) {
      committer.WaitForRoom();
      if (worker_error.is_set()) continue;  // The page stays in the round.
      if (absl::ToUnixNanos(clock_.SteadyNow()) > patience_ends_ns) {
        if (!stop) committer.Release({answer->task.page});
        continue;
      }
      const size_t bytes = answer->response.body.size();
      absl::StatusOr<storage::Completion> completion =
          worker.Complete(*std::move(answer));
      fetcher.BodyGone(bytes);
      if (completion.ok()) {
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
  std::thread network_thread([&] {
    NameThread("network");
    status = fetcher.Run(deadline, stop, worker_error.is_set(), is_over);
  });
  network_thread.join();
  if (stop || clock_.SteadyNow() >= deadline) {
    patience_ends_ns =
        absl::ToUnixNanos(clock_.SteadyNow() + settings_.fetch.stop_grace);
  }
  answers.Close();
  for (std::thread& thread : threads) thread.join();
  const absl::Status committed = committer.Finish();
  {
    storage::MutexLock lock(&mu_);
    last_ = running_->view();
    running_ = nullptr;
  }
  if (status.ok()) status = worker_error.Get();
  return status.ok() ? committed : status;
}

FetchView FetchPhase::view_not_taken() const {
  storage::MutexLock lock(&mu_);
  return running_ == nullptr ? last_ : running_->view();
}

FetchView FetchPhase::TakeLastView() {
  storage::MutexLock lock(&mu_);
  return std::exchange(last_, FetchView());
}

FetchView FetchPhase::view() const {
  storage::MutexLock lock(&mu_);
  return running_ == nullptr ? FetchView() : running_->view();
}

}  // namespace gannet::jobs
