// Writes HTTP answers, for the files of Responder. There is no Date header, so
// that the same request gives the same bytes. Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "tests/fake_web/responder.h"

namespace gannet::fake_web {

std::string_view ReasonOf(int status);
// `headers`: whole lines. Content-Length and, unless the connection stays
// open, Connection are added.
void WriteReply(int status, std::string_view headers, std::string_view body,
                Reply* reply);
// Writes an answer whose body is a line of HTML that says the status.
void WriteShortReply(int status, std::string_view headers, Reply* reply);
std::string HttpDate(absl::Time time);

}  // namespace gannet::fake_web
