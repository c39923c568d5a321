// Network is what a fetcher needs of the outside: addresses of names, answers
// to requests, and waiting for them, all in one thread. A crawl has the
// machine's (curl_network.h); a test has one that answers by a script, in
// simulated time.
//
// Not thread-safe but for Wake().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "jobs/fetch/address.h"
#include "jobs/fetch/download_request.h"
#include "jobs/fetch/failure.h"
#include "jobs/fetch/response.h"

namespace gannet::jobs {

// Addresses (never none), IPv4 unless there is only IPv6; or kNotFound: the
// name has no address, do not ask soon again; or kUnavailable: no server gave
// an answer, try later; or kResourceExhausted: this machine had no socket to
// ask with, try soon.
using Addresses = absl::StatusOr<std::vector<Address>>;

// What addresses that are an error mean for a page.
inline Failure NameFailure(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
      return Failure::kNameNotFound;
    case absl::StatusCode::kResourceExhausted:
      return Failure::kNoSocket;
    default:
      return Failure::kNameNoAnswer;
  }
}

class Network {
 public:
  // Decides about the address that is really connected to.
  using Permit = std::function<bool(const Address& address)>;
  using Resolved = std::function<void(const Addresses& addresses)>;
  using Answered = std::function<void(uint64_t id, Response response)>;

  virtual ~Network() = default;

  // Who uses it; before anything else.
  virtual void SetUser(Permit permit, Answered answered) = 0;

  // Calls `done` once: at once if the answer is known, else from Run().
  virtual void Resolve(std::string_view name, Resolved done) = 0;

  // Asks; the answer comes from Run(), or from StopAll().
  virtual void Start(uint64_t id, Request request) = 0;
  // Requests under way, and those of them that are still to be connected, TLS
  // included.
  virtual size_t active() const = 0;
  virtual size_t connecting() const = 0;
  // Ends all requests with kStopped.
  virtual void StopAll() = 0;

  // Waits once for something to happen, at most so long, and calls back.
  virtual void Run(absl::Duration at_most) = 0;
  // How long an answer may have waited before the last Run() served it, because
  // this machine is busy.
  virtual absl::Duration lag() const = 0;
  // Ends a Run() that waits, or the next one. From any thread.
  virtual void Wake() = 0;
};

}  // namespace gannet::jobs
