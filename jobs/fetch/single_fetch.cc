#include "jobs/fetch/single_fetch.h"

#include <algorithm>
#include <utility>

#include "jobs/fetch/robots_answer.h"
#include "jobs/fetch/steady_now.h"

namespace gannet::jobs {

SingleFetch::SingleFetch(FetchSettings settings)
    : settings_(std::move(settings)),
      address_check_(settings_.allow_private, settings_.allowed_addresses) {}

// In this order: both close sockets that the loop watches.
SingleFetch::~SingleFetch() {
  downloader_.reset();
  resolver_.reset();
}

absl::StatusOr<std::unique_ptr<SingleFetch>> SingleFetch::Create(
    FetchSettings settings) {
  std::unique_ptr<SingleFetch> fetch(new SingleFetch(std::move(settings)));
  absl::StatusOr<std::unique_ptr<EventLoop>> loop = EventLoop::Create();
  if (!loop.ok()) return loop.status();
  fetch->loop_ = *std::move(loop);
  absl::StatusOr<std::unique_ptr<Resolver>> resolver = Resolver::Create(
      fetch->settings_.resolver, fetch->loop_.get(), SteadyNow);
  if (!resolver.ok()) return resolver.status();
  fetch->resolver_ = *std::move(resolver);
  SingleFetch* self = fetch.get();
  absl::StatusOr<std::unique_ptr<Downloader>> downloader = Downloader::Create(
      fetch->settings_.download, fetch->loop_.get(),
      [self](const Address& address) {
        return !Refusal(self->settings_, self->address_check_, address)
                    .has_value();
      },
      [self](uint64_t, Response response) {
        self->response_ = std::move(response);
        self->has_response_ = true;
      });
  if (!downloader.ok()) return downloader.status();
  fetch->downloader_ = *std::move(downloader);
  return fetch;
}

void SingleFetch::RunUntil(const bool& done) {
  while (!done) {
    const absl::Time next =
        std::min(downloader_->NextTimeout(), resolver_->NextTimeout());
    loop_->Run(std::clamp(next - SteadyNow(), absl::ZeroDuration(),
                          absl::Duration(absl::Seconds(1))));
    const absl::Time now = SteadyNow();
    if (downloader_->NextTimeout() <= now) downloader_->OnTime();
    if (loop_->is_drained() && resolver_->NextTimeout() <= now) {
      resolver_->OnTime();
    }
  }
}

Resolver::Result SingleFetch::Resolve(const storage::Url& url) {
  std::string name(url.host());
  if (settings_.connect_to.has_value()) {
    if (const auto address = settings_.connect_to->AddressFor(name)) {
      return std::vector<Address>{*address};
    }
    name = settings_.connect_to->name();
  }
  Resolver::Result result;
  bool done = false;
  resolver_->Resolve(name, [&](const Resolver::Result& found) {
    result = found;
    done = true;
  });
  RunUntil(done);
  return result;
}

Response SingleFetch::Ask(const storage::Url& url, Request request) {
  Response failed;
  failed.started = absl::Now();
  request.url = url.href();
  request.target = std::string(url.path_and_query());
  request.port = PortFor(settings_, url);
  // A proxy resolves, and the operator vouches for it.
  if (settings_.download.proxy.empty()) {
    const Resolver::Result addresses = Resolve(url);
    if (!addresses.ok()) {
      failed.failure = NameFailure(addresses.status());
      failed.detail = std::string(addresses.status().message());
      return failed;
    }
    failed.failure = Failure::kAddressRefused;
    for (const Address& address : *addresses) {
      failed.address = address;
      const auto refusal = Refusal(settings_, address_check_, address);
      if (!refusal.has_value()) {
        failed.failure = Failure::kNone;
        break;
      }
      failed.detail = address.ToString() + " is " + std::string(*refusal);
    }
    if (failed.failure != Failure::kNone) return failed;
    request.address = failed.address;
  }
  has_response_ = false;
  downloader_->Start(/*id=*/0, std::move(request));
  RunUntil(has_response_);
  return std::move(response_);
}

Response SingleFetch::Get(const storage::Url& url) {
  Request request;
  request.max_bytes = settings_.max_bytes;
  return Ask(url, std::move(request));
}

SingleFetch::Robots SingleFetch::GetRobots(const storage::Url& url) {
  Robots robots;
  robots.stored.set_origin(OriginOf(url));
  std::string at = robots.stored.origin() + "/robots.txt";
  for (int redirects = 0;; ++redirects) {
    robots.urls.push_back(at);
    storage::Url parsed;
    storage::Url::Parse(at, nullptr, parsed);
    Request request;
    request.compressed = false;
    request.max_bytes = RobotsRules::kMaxBytes;
    request.keep_cut = true;
    const Response response = Ask(parsed, std::move(request));
    if (response.failure != Failure::kNone) {
      robots.failure = response.failure;
      robots.detail = response.detail;
      return robots;
    }
    RobotsAnswer answer = ReadRobotsAnswer(response, at, redirects);
    if (answer.next_url.empty()) {
      robots.stored.set_http_status(answer.status);
      robots.stored.set_text(std::move(answer.text));
      return robots;
    }
    at = std::move(answer.next_url);
  }
}

}  // namespace gannet::jobs
