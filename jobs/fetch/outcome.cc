#include "jobs/fetch/outcome.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "jobs/fetch/retry_after.h"
#include "storage/archive/http_message.h"

namespace gannet::jobs {
namespace {

// Kept with the page, and shown to people: strangers had a say in it.
constexpr size_t kMaxDetailBytes = 200;

std::string Clean(std::string_view detail) {
  std::string clean;
  for (const char c : detail.substr(0, kMaxDetailBytes)) {
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) clean += c;
  }
  return clean;
}

// Which address, which certificate: where the name alone leaves an operator
// with a riddle.
bool DetailHelps(Failure failure) {
  return failure == Failure::kDns || failure == Failure::kAddressRefused ||
         failure == Failure::kConnect || failure == Failure::kTls;
}

Outcome OfFailure(const Response& response) {
  const Failure failure = response.failure;
  Outcome outcome;
  outcome.reason = FailureName(failure);
  if (DetailHelps(failure) && !response.detail.empty()) {
    outcome.reason += ": " + Clean(response.detail);
  }
  switch (failure) {
    // Would be the same next time.
    case Failure::kAddressRefused:
    case Failure::kTooLarge:
    case Failure::kHeadersTooLarge:
    case Failure::kInternal:
      break;
    case Failure::kDns:
    case Failure::kConnect:
    case Failure::kTls:
    case Failure::kFirstByte:
      outcome.host_is_unreachable = true;
      outcome.try_again = true;
      break;
    default:
      outcome.try_again = true;
  }
  return outcome;
}

}  // namespace

Outcome OutcomeOf(const Response& response, bool was_conditional,
                  absl::Time now) {
  if (response.failure != Failure::kNone) return OfFailure(response);
  Outcome outcome;
  if (response.status >= 200 && response.status < 300) {
    outcome.state = proto::FETCHED;
    return outcome;
  }
  outcome.reason = fmt::format("http {}", response.status);
  const storage::HttpHead head = storage::SplitHttpResponse(response.head);
  if (storage::IsRedirect(response.status)) {
    outcome.location = head.Get("Location");
    if (outcome.location.empty()) {
      outcome.reason += " without a Location";
    } else {
      outcome.state = proto::MOVED;
    }
    return outcome;
  }
  switch (response.status) {
    case 304:
      if (was_conditional) {
        outcome.state = proto::FETCHED;
        outcome.unchanged = true;
      }
      return outcome;
    case 404:
    case 410:
      outcome.state = proto::GONE;
      return outcome;
    case 429:
    case 503:
      outcome.host_is_busy = true;
      outcome.retry_after = ParseRetryAfter(head.Get("Retry-After"), now);
      outcome.try_again = true;
      return outcome;
    case 408:
    case 425:
      outcome.try_again = true;
      return outcome;
    default:
      outcome.try_again = response.status >= 500;
      return outcome;
  }
}

}  // namespace gannet::jobs
