// What an answer to a request for robots.txt means (RFC 9309, 2.3.1): the end
// of the search, or another place to look. Functions only; thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "jobs/fetch/response.h"
#include "storage/url/url.h"

namespace gannet::jobs {

// "https://example.org" or "http://example.org:8080": what has a robots.txt of
// its own.
std::string OriginOf(const storage::Url& url);

struct RobotsAnswer {
  std::string next_url;  // Empty: the search is over, and the rest counts.
  uint32_t status = 0;   // As proto::RobotsRules has it; 0: not to be had.
  std::string text;
};

// `url` was asked for, after so many redirects. REQUIRES: the response is no
// failure.
RobotsAnswer ReadRobotsAnswer(const Response& response, const std::string& url,
                              int redirects);

}  // namespace gannet::jobs
