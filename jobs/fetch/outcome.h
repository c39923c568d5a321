// What an answer means for its page and its host, by its failure or status
// alone; what the body holds is the parser's to say. A function; thread-safe.
#pragma once

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "jobs/fetch/response.h"
#include "proto/crawl_db.pb.h"

namespace gannet::jobs {

struct Outcome {
  proto::PageState state = proto::FAILED;
  // Of a failure: "http 500", "timeout: the page took too long".
  std::string reason;
  std::string_view kind;   // Of a failure, for counts (WordsOfKind()). Static.
  bool try_again = false;  // A failure that may pass.
  bool unchanged = false;  // 304.
  std::string location;    // Of a moved page, as written.
  // The server asked for a rest (429, 503), or could not be reached.
  bool host_is_busy = false;
  bool host_is_unreachable = false;
  std::optional<absl::Duration> retry_after;
};

// `was_conditional`: the request had a validator, so that 304 makes sense.
// Whether it says anything about the host but that it answers. If not, the
// host's state does not change.
inline bool ConcernsHost(const Response& response) {
  return response.failure != Failure::kNone || response.status == 429 ||
         response.status == 503;
}

Outcome OutcomeOf(const Response& response, bool was_conditional,
                  absl::Time now);

}  // namespace gannet::jobs
