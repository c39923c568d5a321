#include "jobs/fetch/committer.h"

#include "jobs/fetch/thread_name.h"

namespace gannet::jobs {
namespace {

size_t BytesOf(const storage::Completion& completion) {
  size_t bytes = sizeof completion;
  for (const storage::PageKey& link : completion.outlinks) {
    bytes += sizeof link + link.bytes.size();
  }
  return bytes;
}

}  // namespace

Committer::Committer(storage::SiteStore* store, CommitSettings settings,
                     storage::Clock& clock, Written written)
    : store_(store),
      settings_(settings),
      clock_(clock),
      written_(std::move(written)) {
  thread_ = std::thread([this] { Run(); });
}

Committer::~Committer() { (void)Finish(); }

void Committer::Touch() {
  if (oldest_ == absl::InfiniteFuture()) {
    oldest_ = clock_.SteadyNow();
    changed_.SignalAll();
  } else if (IsFull()) {
    changed_.SignalAll();
  }
}

void Committer::Complete(storage::Completion completion) {
  storage::MutexLock lock(&mu_);
  const size_t bytes = BytesOf(completion);
  next_.bytes += bytes;
  bytes_ += bytes;
  next_.completions.push_back(std::move(completion));
  Touch();
}

void Committer::Release(std::vector<storage::PageKey> pages) {
  if (pages.empty()) return;
  storage::MutexLock lock(&mu_);
  for (storage::PageKey& page : pages) {
    next_.released.push_back(std::move(page));
  }
  Touch();
}

uint64_t Committer::Update(storage::HostUpdate host) {
  const size_t bytes = host.record.ByteSizeLong();
  storage::MutexLock lock(&mu_);
  proto::HostRecord& record = next_.hosts[host.host.bytes];
  const size_t before = record.ByteSizeLong();
  record = std::move(host.record);
  next_.bytes += bytes - before;
  bytes_ += bytes - before;
  Touch();
  return number_;
}

void Committer::WaitForRoom() {
  storage::MutexLock lock(&mu_);
  while (next_.bytes >= settings_.bytes && !finishing_) taken_.Wait(&mu_);
}

absl::Status Committer::Write(Group& group) {
  if (!group.completions.empty() || !group.hosts.empty()) {
    std::vector<storage::HostUpdate> hosts;
    hosts.reserve(group.hosts.size());
    for (auto& [key, record] : group.hosts) {
      hosts.push_back({storage::HostKey{key}, std::move(record)});
    }
    absl::StatusOr<int64_t> completed =
        store_->Complete(group.completions, hosts);
    if (!completed.ok()) return completed.status();
  }
  if (!group.released.empty()) {
    return store_->crawl_db().frontier().Release(group.released);
  }
  return absl::OkStatus();
}

void Committer::Run() {
  NameThread("commit");
  for (;;) {
    Group group;
    {
      storage::MutexLock lock(&mu_);
      while (!finishing_ && !IsFull() &&
             clock_.SteadyNow() < oldest_ + settings_.age) {
        clock_.WaitUntil(changed_, &mu_, oldest_ + settings_.age);
      }
      std::swap(group, next_);
      ++number_;
      taken_.SignalAll();
      oldest_ = absl::InfiniteFuture();
      if (group.empty() && finishing_) return;
      if (!status_.ok()) {
        bytes_ -= group.bytes;
        continue;
      }
    }
    const absl::Status status = Write(group);
    if (!status.ok()) {
      storage::MutexLock lock(&mu_);
      status_ = status;
    }
    bytes_ -= group.bytes;
    ++next_to_write_;
    written_(group.completions.size());
  }
}

absl::Status Committer::Finish() {
  {
    storage::MutexLock lock(&mu_);
    finishing_ = true;
    changed_.SignalAll();
  }
  if (thread_.joinable()) thread_.join();
  storage::MutexLock lock(&mu_);
  return status_;
}

bool Committer::failed() const {
  storage::MutexLock lock(&mu_);
  return !status_.ok();
}

}  // namespace gannet::jobs
