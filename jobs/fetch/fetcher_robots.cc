// The fetcher's robots.txt: asked for in the host's turn like any page, through
// up to five redirects (RFC 9309, 2.3.1.2), each hop in the turn of the host
// that it leads to and with its address checked.
#include <algorithm>

#include "jobs/fetch/fetcher.h"
#include "jobs/fetch/outcome.h"
#include "jobs/fetch/robots_answer.h"

namespace gannet::jobs {
namespace {

constexpr int kMostLocalFailures = 10;

}  // namespace

// A host may have a web server on each of its ports; 65,535 robots.txt files of
// 500 KiB it may not.
bool Fetcher::HasTooManyOrigins(const HostState& state,
                                const storage::Url& url) const {
  constexpr size_t kMost = 8;
  return state.origins.size() >= kMost &&
         !state.origins.contains(OriginOf(url));
}

OriginRules& Fetcher::RulesFor(HostState& state, const storage::Url& url) {
  std::string name = OriginOf(url);
  OriginRules& origin = state.origins[name];
  if (origin.stored.origin().empty()) origin.stored.set_origin(name);
  return origin;
}

void Fetcher::AskRobots(HostState& asked, uint32_t index,
                        std::unique_ptr<RobotsQuest> quest) {
  Flight flight;
  flight.host = index;
  storage::Url::Parse(quest->url, nullptr, flight.url);
  Request request;
  request.url = flight.url.href();
  request.target = std::string(flight.url.path_and_query());
  request.host = index;
  request.address = asked.address;
  request.port = PortFor(settings_, flight.url);
  request.compressed = false;
  request.max_bytes = RobotsRules::kMaxBytes;
  request.keep_cut = true;
  flight.quest = std::move(quest);
  const uint64_t id = next_flight_++;
  flights_.emplace(id, std::move(flight));
  network_->Start(id, std::move(request));
}

void Fetcher::OnRobots(uint32_t asked, std::unique_ptr<RobotsQuest> quest,
                       Response response) {
  if (ending_) return;
  HostState& asker = host(quest->asker);
  if (IsLocal(response.failure)) {
    // The cause is on this machine: it is asked for again, now or, if only this
    // one fails so, in another round. If all fail so, ConnectionPace ends the
    // phase.
    OriginRules& origin = asker.origins[quest->origin];
    origin.stage = OriginRules::Stage::kUnknown;
    const bool is_alone =
        response.failure != Failure::kNoSocket || pace_.in_vain() <= 1;
    if (is_alone && ++origin.local_failures >= kMostLocalFailures) {
      origin.local_failures = 0;
      ReleasePages(quest->asker);
    }
    return Advance(quest->asker);
  }
  if (response.failure != Failure::kNone) {
    if (quest->redirects > 0) return EndQuest(*quest, /*status=*/0, "");
    // The host's own: it is tried again in its next turn, a few times.
    asker.origins[quest->origin].stage = OriginRules::Stage::kUnknown;
    if (asker.failures + 1 < settings_.failures_to_rest) {
      return asker.CountFailure(FailureName(response.failure));
    }
    return FailAll(quest->asker, response.failure, response.detail);
  }
  RobotsAnswer answer =
      ReadRobotsAnswer(response, quest->url, quest->redirects);
  if (answer.next_url.empty()) {
    const Outcome outcome =
        OutcomeOf(response, /*was_conditional=*/false, clock_.Now());
    if (!outcome.host_is_busy) {
      return EndQuest(*quest, answer.status, std::move(answer.text));
    }
    // 429 and 503 ask for a rest of the host that sent them, also for
    // robots.txt.
    host(asked).CountFailure(outcome.kind);
    const absl::Duration rest =
        std::min(outcome.retry_after.value_or(NextRest(host(asked))),
                 settings_.max_rest);
    EndQuest(*quest, answer.status, "", rest);
    return RestHost(asked, rest);
  }
  ++quest->redirects;
  quest->url = std::move(answer.next_url);
  storage::Url to;
  storage::Url::Parse(quest->url, nullptr, to);
  const storage::PageKey page = storage::PageKeyOf(to);
  // Blocked means asked for nothing, robots.txt too.
  if (crawl_db_->blocks().IsBlocked(page))
    return EndQuest(*quest, /*status=*/0, "");
  const uint32_t next =
      HostOf(to.host(),
             storage::HostKey{std::string(storage::HostPartOf(page.bytes))});
  host(next).quests.push_back(std::move(quest));
  if (!host(next).is_active) ++view_hosts_;
  Advance(next);
}

// The rules of an origin are known now, whatever they are.
void Fetcher::EndQuest(const RobotsQuest& quest, uint32_t status,
                       std::string text, absl::Duration at_least) {
  HostState& asker = host(quest.asker);
  OriginRules& origin = asker.origins[quest.origin];
  const absl::Time now = clock_.Now();
  origin.stage = OriginRules::Stage::kKnown;
  origin.local_failures = 0;
  const bool closed = status == 0 || status >= 500 || status == 429;
  if (!closed) asker.ForgetFailures();
  origin.expires = now + (closed ? std::max(settings_.closed_lifetime, at_least)
                                 : settings_.robots_lifetime);
  origin.stored.set_origin(quest.origin);
  origin.stored.set_http_status(status);
  origin.stored.set_text(std::move(text));
  origin.stored.set_expires_ms(storage::ToMillis(origin.expires));
  origin.rules = RulesFromStored(origin.stored, settings_.agent);

  asker.crawl_delay = absl::ZeroDuration();
  for (const auto& [name, known] : asker.origins) {
    asker.crawl_delay = std::max(
        asker.crawl_delay,
        std::min(known.rules.crawl_delay().value_or(absl::ZeroDuration()),
                 settings_.max_crawl_delay));
  }
  const absl::Duration delay = std::max(settings_.delay, asker.crawl_delay);
  turns_.SetDelay(asker.id, delay);
  turns_.Rest(asker.id, clock_.SteadyNow() + delay);
  asker.is_dirty = true;
  SaveHost(asker);
  CountRules(asker);
  Advance(quest.asker);
}

}  // namespace gannet::jobs
