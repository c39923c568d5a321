#include "jobs/fetch/fetcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "jobs/fetch/outcome.h"
#include "storage/url/surt.h"

namespace gannet::jobs {
namespace {

constexpr size_t kListChunk = 4096;
// The least bandwidth of one transfer, in bytes a second.
constexpr int64_t kLeastBandwidth = 16 << 10;
constexpr absl::Duration kLookForStop = absl::Milliseconds(100);

// A validator is sent back in a request: it must not have bytes that end a
// line.
std::string HeaderValue(const std::string& value) {
  const bool clean = std::all_of(value.begin(), value.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
  });
  return clean ? value : "";
}

absl::Duration AddressDelay(const FetchSettings& settings, size_t sites) {
  // One address that the operator named holds all hosts of a test web.
  const bool one_for_all =
      settings.connect_to.has_value() && !settings.connect_to->is_range();
  if (one_for_all || !settings.download.proxy.empty()) {
    return absl::ZeroDuration();
  }
  return settings.share_addresses ? settings.delay * std::max<size_t>(sites, 1)
                                  : settings.delay;
}

}  // namespace

Fetcher::Fetcher(FetchSettings settings, size_t sites, storage::Clock& clock,
                 std::unique_ptr<Network> network, uint64_t seed,
                 storage::CrawlDb* crawl_db, Committer* committer,
                 Deliver deliver)
    : settings_(std::move(settings)),
      clock_(clock),
      crawl_db_(crawl_db),
      committer_(committer),
      deliver_(std::move(deliver)),
      address_check_(settings_.allow_private, settings_.allowed_addresses),
      turns_(AddressDelay(settings_, sites)),
      pace_(settings_.connections),
      random_(seed),
      network_(std::move(network)) {
  network_->SetUser(
      [this](const Address& address) {
        return !RefusalOf(address).has_value();
      },
      [this](uint64_t id, Response response) {
        OnResponse(id, std::move(response));
      });
}

absl::Status Fetcher::LoadFetchList() {
  storage::PageKey after;
  for (;;) {
    absl::StatusOr<std::vector<storage::PageKey>> pages =
        crawl_db_->round().FetchList(after, kListChunk);
    if (!pages.ok()) return pages.status();
    if (pages->empty()) return absl::OkStatus();
    after = pages->back();
    auto records = crawl_db_->records().GetPages(*pages);
    if (!records.ok()) return records.status();
    for (size_t i = 0; i < pages->size(); ++i) {
      std::optional<proto::PageRecord>& record = (*records)[i];
      if (!record.has_value()) continue;  // Forgotten meanwhile.
      PageTask task;
      task.page = std::move((*pages)[i]);
      task.depth = record->depth();
      task.redirects = record->redirects();
      if (record->state() != proto::NEW) {
        task.earlier = std::make_unique<proto::PageRecord>(*std::move(record));
      }
      const std::string_view key = storage::HostPartOf(task.page.bytes);
      uint32_t index = 0;
      // The list is in key order, so a host's pages come together.
      if (!hosts_.empty() && hosts_.back()->key.bytes == key) {
        index = static_cast<uint32_t>(hosts_.size() - 1);
      } else {
        absl::StatusOr<std::string> url =
            storage::UrlFromSurt(storage::SurtOf(task.page.bytes));
        if (!url.ok()) return url.status();
        absl::StatusOr<storage::Url> parsed = storage::Url::Parse(*url);
        if (!parsed.ok()) return parsed.status();
        index = HostOf(parsed->host(), storage::HostKey{std::string(key)});
      }
      host(index).pages.push_back(std::move(task));
      ++pages_left_;
    }
  }
}

bool Fetcher::MayAsk(absl::Time now) const {
  return !ending_ &&
         pace_.MayBegin(network_->active(), network_->connecting(), now) &&
         undelivered_ < static_cast<int64_t>(settings_.max_undelivered) &&
         static_cast<size_t>(undelivered_bytes_) + committer_->bytes() <
             settings_.max_undelivered_bytes &&
         bandwidth_free_at_ <= now &&
         (settings_.bandwidth == 0 ||
          static_cast<int64_t>(network_->active()) * kLeastBandwidth <=
              settings_.bandwidth);
}

absl::Duration Fetcher::TimeToNext(absl::Time now, absl::Time end) const {
  absl::Time next = std::min(end, now + kLookForStop);
  if (MayAsk(now)) {
    next = std::min(next, turns_.NextTime());
  } else if (bandwidth_free_at_ > now) {
    next = std::min(next, bandwidth_free_at_);
  }
  return std::max(next - now, absl::ZeroDuration());
}

absl::Status Fetcher::Run(absl::Time deadline, const std::atomic<bool>& stop,
                          const std::atomic<bool>& broken,
                          const std::function<bool()>& is_over) {
  started_ = clock_.SteadyNow();
  deadline_ = deadline;
  block_changes_ = crawl_db_->blocks().block_changes();
  if (absl::Status status = LoadFetchList(); !status.ok()) return status;
  view_hosts_ = static_cast<int64_t>(hosts_.size());
  absl::Time end_at = absl::InfiniteFuture();
  for (;;) {
    const absl::Time now = clock_.SteadyNow();
    const bool must_stop =
        stop || broken || committer_->failed() || !error_.ok();
    if (!ending_ && (must_stop || now >= deadline || (is_over && is_over()))) {
      EndRound(/*release=*/!must_stop);
      end_at = now + settings_.stop_grace;
    }
    if (flights_.empty() && (ending_ || pages_left_ == 0)) break;
    if (now >= end_at) network_->StopAll();
    if (!ending_) {
      if (crawl_db_->blocks().block_changes() != block_changes_) DropBlocked();
      ActivateMore();
      ResolveAgain(now);
      while (MayAsk(now)) {
        const std::optional<HostId> turn = turns_.Next(now);
        if (!turn.has_value()) break;
        Ask(static_cast<uint32_t>(*turn));
      }
    }
    view_connections_ = static_cast<int64_t>(network_->active());
    network_->Run(TimeToNext(clock_.SteadyNow(), ending_ ? end_at : deadline));
    const absl::Time later = clock_.SteadyNow();
    pace_.OnTurn(network_->lag(), network_->active(), network_->connecting(),
                 /*is_wanted=*/!ending_ && turns_.NextTime() <= later, later);
    view_lag_us_ = absl::ToInt64Microseconds(network_->lag());
    view_max_lag_us_ = absl::ToInt64Microseconds(pace_.max_lag());
    view_held_back_us_ = absl::ToInt64Microseconds(pace_.held_back());
  }
  for (const std::unique_ptr<HostState>& host : hosts_) {
    if (host->is_dirty) SaveHost(*host);
  }
  view_connections_ = 0;
  view_hosts_ = 0;
  return error_;
}

// No more requests; what is under way may end.
void Fetcher::EndRound(bool release) {
  ending_ = true;
  release_on_end_ = release;
  if (!release) return;
  for (uint32_t index = 0; index < hosts_.size(); ++index) ReleasePages(index);
}

void Fetcher::Ask(uint32_t index) {
  HostState& asked = host(index);
  asked.stage = HostState::Stage::kBusy;
  if (!asked.quests.empty()) {
    std::unique_ptr<RobotsQuest> quest = std::move(asked.quests.front());
    asked.quests.pop_front();
    AskRobots(asked, index, std::move(quest));
  } else if (!asked.pages.empty()) {
    AskPage(asked, index);
  } else {
    turns_.Passed(asked.id);
    asked.stage = HostState::Stage::kIdle;
  }
}

void Fetcher::AskPage(HostState& asked, uint32_t index) {
  Flight flight;
  flight.host = index;
  flight.task = std::move(asked.pages.front());
  flight.url = std::move(asked.front_url);
  asked.pages.pop_front();
  --pages_left_;

  Request request;
  request.url = flight.url.href();
  request.target = std::string(flight.url.path_and_query());
  request.host = index;
  request.address = asked.address;
  request.port = PortFor(settings_, flight.url);
  request.max_bytes = settings_.max_bytes;
  if (flight.task.earlier != nullptr && flight.task.earlier->has_archive()) {
    request.if_none_match = HeaderValue(flight.task.earlier->etag());
    request.if_modified_since =
        HeaderValue(flight.task.earlier->last_modified());
  }
  const uint64_t id = next_flight_++;
  flights_.emplace(id, std::move(flight));
  network_->Start(id, std::move(request));
}

void Fetcher::OnResponse(uint64_t id, Response response) {
  const auto it = flights_.find(id);
  Flight flight = std::move(it->second);
  flights_.erase(it);
  const absl::Time now = clock_.SteadyNow();
  HostState& asked = host(flight.host);
  turns_.Answered(asked.id, now);
  asked.stage = HostState::Stage::kIdle;
  if (response.connect_time > absl::ZeroDuration()) {
    asked.AddRtt(response.connect_time);
    asked.is_dirty = true;
  }
  view_bytes_ += response.bytes;
  if (response.failure == Failure::kNone) {
    ++answers_;
    unreachable_hosts_ = 0;
  }
  if (response.failure == Failure::kNoSocket) {
    NoSocket(response.detail, now);
  } else if (response.failure == Failure::kNone || response.had_socket) {
    pace_.OnSocket();  // Whatever the server answered.
  }
  if (settings_.bandwidth > 0) {
    bandwidth_free_at_ =
        std::max(now, bandwidth_free_at_) +
        absl::Seconds(static_cast<double>(response.bytes) /
                      static_cast<double>(settings_.bandwidth));
  }
  const uint32_t index = flight.host;
  if (flight.quest != nullptr) {
    OnRobots(index, std::move(flight.quest), std::move(response));
  } else {
    OnPage(std::move(flight), std::move(response));
  }
  Advance(index);
}

void Fetcher::OnPage(Flight flight, Response response) {
  if (response.failure == Failure::kStopped || IsLocal(response.failure)) {
    // Stopped by the operator, it stays in the round.
    if (release_on_end_ || response.failure == Failure::kMemory) {
      committer_->Release({flight.task.page});
    } else if (!ending_ && response.failure == Failure::kNoSocket) {
      if (IsBlocked(host(flight.host))) {  // While it was under way.
        committer_->Release({flight.task.page});
      } else {
        host(flight.host).pages.push_front(std::move(flight.task));
        ++pages_left_;
      }
    }
    return;
  }
  const absl::Time now = clock_.Now();
  HostState& asked = host(flight.host);
  Outcome outcome;
  if (ConcernsHost(response)) {
    outcome = OutcomeOf(response, /*was_conditional=*/true, now);
  }
  absl::Duration rest;
  if (outcome.host_is_unreachable) CouldNotBeReached(asked);
  if (outcome.host_is_busy || outcome.host_is_unreachable) {
    asked.CountFailure(outcome.kind);
    if (outcome.host_is_busy) {
      rest = std::min(outcome.retry_after.value_or(NextRest(asked)),
                      settings_.max_rest);
    } else if (asked.failures >= settings_.failures_to_rest) {
      rest = NextRest(asked);
    }
  } else if (response.failure == Failure::kNone && asked.failures > 0) {
    asked.ForgetFailures();
    asked.rest_until = absl::InfinitePast();
    SaveHost(asked);
  }
  // The host's rest first, so that it is written with this answer or before it.
  if (rest > absl::ZeroDuration()) RestHost(flight.host, rest);

  ++undelivered_;
  undelivered_bytes_ += static_cast<int64_t>(response.body.size());
  deliver_({std::move(flight.task), std::move(flight.url), std::move(response),
            now});
}

// This machine has no file handle or port left for a connection. Fewer at a
// time, then: nothing is recorded as failed for that.
void Fetcher::NoSocket(const std::string& why, absl::Time now) {
  pace_.OnNoSocket(network_->active(), now);
  if (!pace_.IsHopeless(now) || !error_.ok()) return;
  error_ = absl::FailedPreconditionError(fmt::format(
      "no connection can be opened here: {}. Raise the limit of open files "
      "(ulimit -n, or LimitNOFILE of the service), lower fetch.connections, or "
      "look at fetch.source_address if you have set it; the round stays open",
      why));
}

void Fetcher::Delivered(size_t pages) {
  const bool was_full =
      undelivered_ >= static_cast<int64_t>(settings_.max_undelivered);
  undelivered_ -= static_cast<int64_t>(pages);
  // The fetcher may have waited for the number of bytes to fall.
  if (was_full || committer_->failed() ||
      committer_->bytes() > settings_.max_undelivered_bytes / 4) {
    network_->Wake();
  }
}

void Fetcher::BodyGone(size_t bytes) {
  const bool was_full = static_cast<size_t>(undelivered_bytes_) >=
                        settings_.max_undelivered_bytes;
  undelivered_bytes_ -= static_cast<int64_t>(bytes);
  if (was_full) network_->Wake();
}

FetchView Fetcher::view() const {
  return {view_hosts_,
          view_connections_,
          view_bytes_,
          absl::Microseconds(view_lag_us_.load()),
          absl::Microseconds(view_max_lag_us_.load()),
          absl::Microseconds(view_held_back_us_.load())};
}

}  // namespace gannet::jobs
