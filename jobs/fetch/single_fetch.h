// SingleFetch asks for one URL at a time, and waits: `gannet check` wants to
// know what a crawl would do, without a round. It uses what the fetcher uses
// (network, address check, reading of robots.txt) except turns: a
// single request needs no queue. Nothing is stored. Not thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "jobs/fetch/fetcher.h"
#include "jobs/fetch/network.h"
#include "proto/crawl_db.pb.h"
#include "storage/clock.h"
#include "storage/url/url.h"

namespace gannet::jobs {

class SingleFetch {
 public:
  // By the machine's network.
  static absl::StatusOr<std::unique_ptr<SingleFetch>> Create(
      FetchSettings settings);
  // `clock` must outlive it.
  SingleFetch(FetchSettings settings, storage::Clock& clock,
              std::unique_ptr<Network> network);

  // Resolves, checks the address, asks. Robots.txt is the caller's to ask
  // first. What goes wrong is in the response.
  Response Get(const storage::Url& url);

  struct Robots {
    proto::RobotsRules stored;      // As a host's record would have it.
    std::vector<std::string> urls;  // Where it was looked for, in order.
    Failure failure = Failure::kNone;
    std::string detail;
  };
  // The robots.txt of the URL's origin, through redirects.
  Robots GetRobots(const storage::Url& url);

 private:
  Response Ask(const storage::Url& url, Request request);
  Addresses Resolve(const storage::Url& url);
  // Until `done`.
  void RunUntil(const bool& done);

  const FetchSettings settings_;
  const AddressCheck address_check_;
  storage::Clock& clock_;
  Response response_;
  bool has_response_ = false;
  const std::unique_ptr<Network> network_;
};

}  // namespace gannet::jobs
