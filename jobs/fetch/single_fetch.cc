#include "jobs/fetch/single_fetch.h"

#include <utility>

#include "jobs/fetch/curl_network.h"
#include "jobs/fetch/robots_answer.h"

namespace gannet::jobs {

SingleFetch::SingleFetch(FetchSettings settings, storage::Clock& clock,
                         std::unique_ptr<Network> network)
    : settings_(std::move(settings)),
      address_check_(settings_.allow_private, settings_.allowed_addresses),
      clock_(clock),
      network_(std::move(network)) {
  network_->SetUser(
      [this](const Address& address) {
        return !Refusal(settings_, address_check_, address).has_value();
      },
      [this](uint64_t, Response response) {
        response_ = std::move(response);
        has_response_ = true;
      });
}

absl::StatusOr<std::unique_ptr<SingleFetch>> SingleFetch::Create(
    FetchSettings settings) {
  storage::Clock& clock = storage::SystemClock();
  auto network =
      CurlNetwork::Create(settings.download, settings.resolver, clock);
  if (!network.ok()) return network.status();
  return std::make_unique<SingleFetch>(std::move(settings), clock,
                                       *std::move(network));
}

void SingleFetch::RunUntil(const bool& done) {
  while (!done) network_->Run(absl::Seconds(1));
}

Addresses SingleFetch::Resolve(const storage::Url& url) {
  std::string name(url.host());
  if (settings_.connect_to.has_value()) {
    if (const auto address = settings_.connect_to->AddressFor(name)) {
      return std::vector<Address>{*address};
    }
    name = settings_.connect_to->name();
  }
  Addresses result;
  bool done = false;
  network_->Resolve(name, [&](const Addresses& found) {
    result = found;
    done = true;
  });
  RunUntil(done);
  return result;
}

Response SingleFetch::Ask(const storage::Url& url, Request request) {
  Response failed;
  failed.started = clock_.Now();
  request.url = url.href();
  request.target = std::string(url.path_and_query());
  request.port = PortFor(settings_, url);
  // A proxy resolves, and the operator vouches for it.
  if (settings_.download.proxy.empty()) {
    const Addresses addresses = Resolve(url);
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
  network_->Start(/*id=*/0, std::move(request));
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
