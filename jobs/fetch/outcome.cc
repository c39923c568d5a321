#include "jobs/fetch/outcome.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "jobs/fetch/retry_after.h"
#include "storage/archive/http_message.h"

namespace gannet::jobs {
namespace {

// Kept with the page, and shown to people; parts of it come from the web.
constexpr size_t kMaxDetailBytes = 200;

std::string Clean(std::string_view detail) {
  std::string clean;
  for (const char c : detail.substr(0, kMaxDetailBytes)) {
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) clean += c;
  }
  return clean;
}

// Failures whose words do not tell enough: which name, which address, which of
// OpenSSL's many reasons.
bool DetailHelps(Failure failure) {
  switch (failure) {
    case Failure::kNameNotFound:
    case Failure::kNameNoAnswer:
    case Failure::kAddressRefused:
    case Failure::kConnectRefused:
    case Failure::kUnreachable:
    case Failure::kConnect:
    case Failure::kTlsCertificate:
    case Failure::kTlsOldProtocol:
    case Failure::kTlsHandshake:
    case Failure::kInternal:
      return true;
    default:
      return false;
  }
}

Outcome OfFailure(const Response& response) {
  const Failure failure = response.failure;
  Outcome outcome;
  outcome.kind = FailureName(failure);
  outcome.reason = fmt::format("{}: {}", outcome.kind, FailureWords(failure));
  if (DetailHelps(failure) && !response.detail.empty()) {
    outcome.reason += " (" + Clean(response.detail) + ")";
  }
  outcome.host_is_unreachable = IsUnreachable(failure);
  switch (failure) {
    // Would be the same next time.
    case Failure::kAddressRefused:
    case Failure::kTooLarge:
    case Failure::kHeadersTooLarge:
    case Failure::kInternal:
      break;
    default:
      outcome.try_again = true;
  }
  return outcome;
}

std::string_view KindOf(int status) {
  switch (status / 100) {
    case 3:
      return kind::kHttp3xx;
    case 4:
      return kind::kHttp4xx;
    case 5:
      return kind::kHttp5xx;
    default:
      return kind::kHttpOther;
  }
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
  outcome.kind = KindOf(response.status);
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
