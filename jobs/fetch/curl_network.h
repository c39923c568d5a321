// CurlNetwork is the machine's network: requests by libcurl (Downloader), names
// by c-ares (Resolver), both on one event loop.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "jobs/fetch/downloader.h"
#include "jobs/fetch/event_loop.h"
#include "jobs/fetch/network.h"
#include "jobs/fetch/resolver.h"
#include "storage/clock.h"

namespace gannet::jobs {

class CurlNetwork : public Network {
 public:
  // `clock` must outlive it.
  static absl::StatusOr<std::unique_ptr<Network>> Create(
      const DownloadSettings& download, const ResolverSettings& resolver,
      storage::Clock& clock);

  void SetUser(Permit permit, Answered answered) override;
  void Resolve(std::string_view name, Resolved done) override;
  void Start(uint64_t id, Request request) override;
  size_t active() const override { return downloader_->active(); }
  size_t connecting() const override { return downloader_->connecting(); }
  void StopAll() override { downloader_->StopAll(); }
  void Run(absl::Duration at_most) override;
  absl::Duration lag() const override { return loop_->lag(); }
  void Wake() override { loop_->Wake(); }

 private:
  explicit CurlNetwork(storage::Clock& clock) : clock_(clock) {}

  storage::Clock& clock_;
  Permit permit_;
  Answered answered_;
  // Outlives the two below, which close sockets that it watches.
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<Resolver> resolver_;
  std::unique_ptr<Downloader> downloader_;
};

}  // namespace gannet::jobs
