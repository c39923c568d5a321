#include "jobs/fetch/curl_network.h"

#include <algorithm>
#include <utility>

namespace gannet::jobs {

absl::StatusOr<std::unique_ptr<Network>> CurlNetwork::Create(
    const DownloadSettings& download, const ResolverSettings& resolver,
    storage::Clock& clock) {
  std::unique_ptr<CurlNetwork> network(new CurlNetwork(clock));
  absl::StatusOr<std::unique_ptr<EventLoop>> loop = EventLoop::Create(clock);
  if (!loop.ok()) return loop.status();
  network->loop_ = *std::move(loop);
  auto names = Resolver::Create(resolver, network->loop_.get());
  if (!names.ok()) return names.status();
  network->resolver_ = *std::move(names);
  auto downloader = Downloader::Create(
      download, network->loop_.get(),
      [self = network.get()](const Address& address) {
        return self->permit_(address);
      },
      [self = network.get()](uint64_t id, Response response) {
        self->answered_(id, std::move(response));
      });
  if (!downloader.ok()) return downloader.status();
  network->downloader_ = *std::move(downloader);
  return network;
}

void CurlNetwork::SetUser(Permit permit, Answered answered) {
  permit_ = std::move(permit);
  answered_ = std::move(answered);
}

void CurlNetwork::Resolve(std::string_view name, Resolved done) {
  resolver_->Resolve(name, std::move(done));
}

void CurlNetwork::Start(uint64_t id, Request request) {
  downloader_->Start(id, std::move(request));
}

void CurlNetwork::Run(absl::Duration at_most) {
  const absl::Time due =
      std::min(downloader_->NextTimeout(), resolver_->NextTimeout());
  loop_->Run(
      std::clamp(due - clock_.SteadyNow(), absl::ZeroDuration(), at_most));
  const absl::Time now = clock_.SteadyNow();
  if (downloader_->NextTimeout() <= now) downloader_->OnTime();
  // An answer that has arrived but was not read yet is not late.
  if (loop_->is_drained() && resolver_->NextTimeout() <= now) {
    resolver_->OnTime();
  }
}

}  // namespace gannet::jobs
