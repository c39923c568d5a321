// FakeNetwork answers by a script, in simulated time: its Run() moves the clock
// on to the next answer, so a test of a day's delays takes no time. It writes
// down who was asked, and when.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "jobs/fetch/network.h"
#include "tests/simulated_clock.h"

namespace gannet::jobs {

// An HTTP response as the downloader hands it over.
inline Response Http(int status, std::string body = "",
                     const std::string& headers = "") {
  Response response;
  response.status = status;
  response.head = fmt::format("HTTP/1.1 {} X\r\n{}\r\n", status, headers);
  response.body = std::move(body);
  response.bytes =
      static_cast<int64_t>(response.head.size() + response.body.size());
  response.had_socket = true;
  return response;
}

inline Response Failed(Failure failure) {
  Response response;
  response.failure = failure;
  response.detail = "by the script";
  return response;
}

class FakeNetwork : public Network {
 public:
  // What a test says of the outside. Without robots.txt of its own, a URL that
  // ends so gets 404.
  struct Script {
    std::function<Addresses(std::string_view name)> resolve =
        [](std::string_view) {
          return std::vector<Address>{Address::Parse("5.6.7.1").value()};
        };
    std::function<Response(const Request& request)> answer =
        [](const Request& request) {
          return request.target == "/robots.txt" ? Http(404) : Http(200, "x");
        };
    absl::Duration name_takes = absl::Milliseconds(20);
    absl::Duration answer_takes = absl::Milliseconds(100);
  };
  struct Asked {
    Request request;
    absl::Time began;
    absl::Time ended = absl::InfiniteFuture();
  };

  // Both must outlive it.
  FakeNetwork(const Script& script, SimulatedClock& clock)
      : script_(script), clock_(clock) {}

  void SetUser(Permit permit, Answered answered) override {
    permit_ = std::move(permit);
    answered_ = std::move(answered);
  }

  void Resolve(std::string_view name, Resolved done) override {
    names_.emplace_back(name);
    events_.emplace(clock_.SteadyNow() + script_.name_takes,
                    [this, name = std::string(name), done = std::move(done)] {
                      done(script_.resolve(name));
                    });
  }

  void Start(uint64_t id, Request request) override {
    const size_t number = asked_.size();
    asked_.push_back({request, clock_.SteadyNow()});
    active_.insert(id);
    most_active_ = std::max(most_active_, active_.size());
    events_.emplace(clock_.SteadyNow() + script_.answer_takes,
                    [this, id, number] { Answer(id, number); });
  }

  size_t active() const override { return active_.size(); }
  size_t connecting() const override { return 0; }

  void StopAll() override {
    const std::set<uint64_t> stopped = std::exchange(active_, {});
    for (const uint64_t id : stopped) answered_(id, Failed(Failure::kStopped));
  }

  void Run(absl::Duration at_most) override {
    if (is_woken_.exchange(false)) return;
    const absl::Time until = clock_.SteadyNow() + at_most;
    if (events_.empty() || events_.begin()->first > until) {
      // The threads that write to the disk do so in real time: the clock must
      // not run away from them.
      if (events_.empty()) absl::SleepFor(absl::Microseconds(200));
      return clock_.Advance(at_most);
    }
    const auto first = events_.begin();
    clock_.Advance(first->first - clock_.SteadyNow());
    const std::function<void()> event = std::move(first->second);
    events_.erase(first);
    event();
  }

  absl::Duration lag() const override { return absl::ZeroDuration(); }
  void Wake() override { is_woken_ = true; }

  const std::vector<Asked>& asked() const { return asked_; }
  const std::vector<std::string>& names() const { return names_; }
  size_t most_active() const { return most_active_; }

 private:
  void Answer(uint64_t id, size_t number) {
    if (active_.erase(id) == 0) return;  // Stopped meanwhile.
    asked_[number].ended = clock_.SteadyNow();
    Response response = script_.answer(asked_[number].request);
    response.started = clock_.Now() - script_.answer_takes;
    response.address = asked_[number].request.address;
    // Through a proxy there is no address here.
    if (response.address != Address() && !permit_(response.address)) {
      response = Failed(Failure::kAddressRefused);
    }
    answered_(id, std::move(response));
  }

  const Script& script_;
  SimulatedClock& clock_;
  Permit permit_;
  Answered answered_;
  std::multimap<absl::Time, std::function<void()>> events_;
  std::set<uint64_t> active_;
  size_t most_active_ = 0;
  std::vector<Asked> asked_;
  std::vector<std::string> names_;
  std::atomic<bool> is_woken_ = false;
};

}  // namespace gannet::jobs
