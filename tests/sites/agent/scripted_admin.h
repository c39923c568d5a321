// ScriptedAdmin is an Admin that answers what a test wants: every verb with the
// same status; streams with `messages` messages, or fewer if the caller wants
// no more. Thread-safe except the script, which must be written before calls
// come.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "tests/sites/admin/one_answer_admin.h"

namespace gannet::sites {

class ScriptedAdmin : public OneAnswerAdmin {
 public:
  absl::Status status;              // The answer of all verbs.
  int64_t messages = 3;             // Of a stream.
  std::function<void()> in_a_call;  // Run in each.
  std::function<void(admin::Status&)> fill_status = [](admin::Status&) {};
  std::string body_bytes = "body";

  std::atomic<int64_t> calls = 0;
  std::atomic<int64_t> streams_ended = 0;
  std::atomic<int64_t> sinks_that_said_no = 0;

  absl::Status GetStatus(const admin::GetStatusRequest&,
                         admin::Status& reply) override {
    fill_status(reply);
    return Answer();
  }
  absl::Status WatchStatus(const admin::WatchStatusRequest&,
                           const Sink<admin::Status>& sink) override {
    return Give({}, sink);
  }
  absl::Status GetPageBody(const admin::GetPageRequest&,
                           const Sink<admin::PageBody>& sink) override {
    admin::PageBody message;
    message.set_bytes(body_bytes);
    return Give(message, sink);
  }
  absl::Status Export(const admin::ExportRequest&,
                      const Sink<admin::ExportedLines>& sink) override {
    return Give({}, sink);
  }
  absl::Status RunRounds(const admin::RunRoundsRequest&,
                         const Sink<admin::RunProgress>& sink) override {
    return Give({}, sink);
  }

 protected:
  absl::Status Answer() override {
    ++calls;
    if (in_a_call) in_a_call();
    return status;
  }

 private:
  template <typename Message>
  absl::Status Give(const Message& message, const Sink<Message>& sink) {
    const absl::Status answer = Answer();
    for (int64_t i = 0; i < messages; ++i) {
      if (sink(message)) continue;
      ++sinks_that_said_no;
      break;
    }
    ++streams_ended;
    return answer;
  }
};

}  // namespace gannet::sites
