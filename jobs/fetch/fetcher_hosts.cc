// The fetcher's hosts: from the first page of the round to the last.
#include <fmt/format.h>

#include <algorithm>

#include "jobs/fetch/back_off.h"
#include "jobs/fetch/fetcher.h"
#include "jobs/fetch/page_worker.h"
#include "storage/url/surt.h"

namespace gannet::jobs {
namespace {

// A page that scope or filters turn away is judged again after this time.
constexpr absl::Duration kUnwantedRest = absl::Hours(24);

}  // namespace

uint32_t Fetcher::HostOf(std::string_view name, storage::HostKey key) {
  const auto [it, is_new] =
      host_index_.try_emplace(key.bytes, static_cast<uint32_t>(hosts_.size()));
  if (is_new) {
    auto state = std::make_unique<HostState>();
    state->name = std::string(name);
    state->key = std::move(key);
    // After a start no host is asked before one delay has passed: when it was
    // last asked is not known.
    state->id = turns_.Add(settings_.delay, started_ + settings_.delay);
    hosts_.push_back(std::move(state));
  }
  return it->second;
}

absl::Status Fetcher::Load(HostState& state) {
  absl::StatusOr<proto::HostRecord> record =
      crawl_db_->records().GetHost(state.key);
  if (!record.ok() && !absl::IsNotFound(record.status())) {
    return record.status();
  }
  const absl::Time now = clock_.Now();
  state.FromRecord(record.ok() ? *record : proto::HostRecord(), settings_.agent,
                   now);
  const absl::Duration delay = std::max(settings_.delay, state.crawl_delay);
  turns_.SetDelay(state.id, delay);
  turns_.Rest(state.id, started_ + delay);
  turns_.Rest(state.id, clock_.ToSteady(state.rest_until));
  CountRules(state);
  return absl::OkStatus();
}

void Fetcher::CountRules(HostState& state) {
  size_t bytes = 0;
  for (const auto& [name, origin] : state.origins) {
    bytes += 2 * origin.stored.text().size() + 64 * origin.rules.size();
  }
  rules_bytes_ += bytes - state.rules_bytes;
  state.rules_bytes = bytes;
}

void Fetcher::ForgetRules(HostState& state) {
  state.origins.clear();
  state.is_loaded = false;
  CountRules(state);
}

// At least one host stays active.
bool Fetcher::ShouldPark(const HostState& state) const {
  return rules_bytes_ > settings_.rules_memory && active_hosts_ > 1 &&
         state.rules_bytes > 0 && state.quests.empty();
}

void Fetcher::Park(uint32_t index) {
  HostState& state = host(index);
  if (state.is_dirty) SaveHost(state);
  ForgetRules(state);
  state.is_active = false;
  --active_hosts_;
  state.is_parked = true;
  parked_.push_back(index);
}

void Fetcher::ActivateMore() {
  // What a parked host forgot must be in the crawl DB before it comes back.
  while (!parked_.empty() && error_.ok() &&
         (active_hosts_ == 0 || rules_bytes_ < settings_.rules_memory / 2) &&
         host(parked_.front()).saved_in < committer_->next_to_write()) {
    const uint32_t index = parked_.front();
    parked_.pop_front();
    host(index).is_parked = false;
    Advance(index);
  }
  while (next_dormant_ < hosts_.size() && error_.ok() &&
         (active_hosts_ == 0 || rules_bytes_ <= settings_.rules_memory)) {
    const auto index = static_cast<uint32_t>(next_dormant_++);
    if (!host(index).is_active) Advance(index);
  }
}

// Finds out what the host is to be asked next, and lets it wait for its turn.
void Fetcher::Advance(uint32_t index) {
  HostState& state = host(index);
  if (state.stage != HostState::Stage::kIdle || ending_) return;
  // Other hosts must not wait for rules that they look for at this host.
  if (state.is_parked && state.quests.empty()) return;
  if (state.pages.empty() && state.quests.empty()) return Retire(state);
  if (!state.is_active) ++active_hosts_;
  state.is_active = true;
  if (!state.is_loaded) {
    if (absl::Status status = Load(state); !status.ok()) {
      error_ = status;
      return;
    }
  }
  // Also if another host's robots.txt leads to this host while it rests.
  if (state.rest_until > clock_.Now() + settings_.patience) {
    ReleasePages(index);
    return Retire(state);
  }
  storage::Url& url = state.front_url;
  while (state.quests.empty() && !state.pages.empty()) {
    const PageTask& task = state.pages.front();
    storage::Url::Parse(
        storage::UrlFromSurt(storage::SurtOf(task.page.bytes)).value_or(""),
        nullptr, url);
    const absl::Time now = clock_.Now();
    if (const auto reason = Unwanted(url)) {
      BlockFirst(state, *reason, now + kUnwantedRest);
      continue;
    }
    if (HasTooManyOrigins(state, url)) {
      BlockFirst(state, "too many ports of one host",
                 now + settings_.robots_lifetime);
      continue;
    }
    OriginRules& origin = RulesFor(state, url);
    if (origin.stage == OriginRules::Stage::kAsking) return;
    if (origin.stage == OriginRules::Stage::kUnknown || origin.expires <= now) {
      origin.stage = OriginRules::Stage::kAsking;
      auto quest = std::make_unique<RobotsQuest>();
      quest->asker = index;
      quest->origin = origin.stored.origin();
      quest->url = quest->origin + "/robots.txt";
      state.quests.push_back(std::move(quest));
      break;
    }
    const RobotsRules::Verdict verdict =
        origin.rules.Judge(url.path_and_query());
    if (verdict.allowed) break;
    BlockFirst(state, verdict.rule, origin.expires);
  }
  CountRules(state);
  if (state.pages.empty() && state.quests.empty()) return Retire(state);
  if (ShouldPark(state)) return Park(index);
  if (state.has_address) {
    WantTurn(index);
  } else {
    Resolve(index);
  }
}

std::optional<std::string_view> Fetcher::Unwanted(
    const storage::Url& url) const {
  using storage::UrlVerdict;
  const UrlVerdict verdict = settings_.filter == nullptr
                                 ? UrlVerdict::kAllowed
                                 : settings_.filter->Judge(url);
  if (verdict != UrlVerdict::kAllowed) return UrlVerdictName(verdict);
  // Not by its depth: a known page may be a seed now, or nearer to one.
  const auto scope = crawl_db_->scopes().scope();
  if (scope->MaxDepth(url).has_value()) return std::nullopt;
  return UrlVerdictName(scope->Judge(url, 0));
}

void Fetcher::BlockFirst(HostState& state, std::string_view reason,
                         absl::Time until) {
  ++undelivered_;  // Counted off when its group is written, as any page.
  committer_->Complete(
      PageWorker::Blocked(state.pages.front(), reason, clock_.Now(), until));
  state.pages.pop_front();
  --pages_left_;
}

void Fetcher::WantTurn(uint32_t index) {
  host(index).stage = HostState::Stage::kWaiting;
  turns_.Wants(host(index).id);
}

void Fetcher::Resolve(uint32_t index) {
  HostState& state = host(index);
  state.stage = HostState::Stage::kResolving;
  if (!settings_.download.proxy.empty()) {
    // The proxy resolves names, and the operator vouches for it; an address
    // that a page wrote itself is checked here.
    const std::optional<Address> literal = Address::Parse(state.name);
    if (literal.has_value()) {
      if (const auto refusal = RefusalOf(*literal)) {
        state.stage = HostState::Stage::kIdle;
        return FailAll(index, Failure::kAddressRefused,
                       literal->ToString() + " is " + std::string(*refusal));
      }
    }
    state.has_address = true;
    return WantTurn(index);
  }
  if (settings_.connect_to.has_value()) {
    if (const std::optional<Address> address =
            settings_.connect_to->AddressFor(state.name)) {
      return OnAddresses(index, std::vector<Address>{*address});
    }
    return network_->Resolve(
        settings_.connect_to->name(),
        [this, index](const Addresses& result) { OnAddresses(index, result); });
  }
  network_->Resolve(state.name, [this, index](const Addresses& result) {
    OnAddresses(index, result);
  });
}

std::optional<std::string_view> Refusal(const FetchSettings& settings,
                                        const AddressCheck& check,
                                        const Address& address) {
  if (settings.connect_to.has_value()) return std::nullopt;
  static const AddressRange kLoopback4 =
      AddressRange::Parse("127.0.0.0/8").value();
  static const AddressRange kLoopback6 = AddressRange::Parse("::1").value();
  if (settings.loopback_only && !kLoopback4.Contains(address) &&
      !kLoopback6.Contains(address)) {
    return "not loopback, and there is no contact";
  }
  return check.Refusal(address);
}

uint16_t PortFor(const FetchSettings& settings, const storage::Url& url) {
  return settings.connect_to.has_value()
             ? settings.connect_to->port(url.is_https())
             : url.port();
}

// Stops at the first host that gets no socket.
void Fetcher::ResolveAgain(absl::Time now) {
  while (!without_socket_.empty() &&
         pace_.MayBegin(network_->active(), network_->connecting(), now)) {
    const uint32_t index = without_socket_.front();
    without_socket_.pop_front();
    host(index).stage = HostState::Stage::kIdle;
    Advance(index);
  }
}

void Fetcher::OnAddresses(uint32_t index, const Addresses& addresses) {
  HostState& state = host(index);
  state.stage = HostState::Stage::kIdle;
  if (ending_) return;
  if (!addresses.ok()) {
    const Failure failure = NameFailure(addresses.status());
    const std::string detail(addresses.status().message());
    if (!IsLocal(failure)) return FailAll(index, failure, detail);
    // The cause is on this machine: the name is asked for again when there may
    // be a socket.
    state.stage = HostState::Stage::kResolving;
    without_socket_.push_back(index);
    return NoSocket(detail, clock_.SteadyNow());
  }
  std::string refused;
  for (const Address& address : *addresses) {
    const std::optional<std::string_view> refusal = RefusalOf(address);
    if (refusal.has_value()) {
      refused = address.ToString() + " is " + std::string(*refusal);
      continue;
    }
    state.address = address;
    state.has_address = true;
    turns_.SetAddress(state.id, address, started_ + turns_.address_delay());
    return WantTurn(index);
  }
  FailAll(index, Failure::kAddressRefused, refused);
}

// The host cannot be asked: all of its pages fail at once.
void Fetcher::FailAll(uint32_t index, Failure failure,
                      const std::string& detail) {
  HostState& state = host(index);
  state.CountFailure(FailureName(failure));
  SaveHost(state);
  if (failure != Failure::kAddressRefused) CouldNotBeReached(state);
  if (!error_.ok()) return;  // The pages stay.
  std::deque<std::unique_ptr<RobotsQuest>> quests = std::move(state.quests);
  state.quests.clear();
  const absl::Time now = clock_.Now();
  while (!state.pages.empty()) {
    Answer answer;
    answer.task = std::move(state.pages.front());
    state.pages.pop_front();
    --pages_left_;
    storage::Url::Parse(
        storage::UrlFromSurt(storage::SurtOf(answer.task.page.bytes))
            .value_or(""),
        nullptr, answer.url);
    answer.response.failure = failure;
    answer.response.detail = detail;
    answer.response.started = now;
    answer.ended = now;
    ++undelivered_;
    deliver_(std::move(answer));
  }
  GiveUpQuests(index, std::move(quests));
  Advance(index);
}

// This host is asked nothing for now. Other hosts need not wait for it; its own
// rules stay unknown, and are asked for with its next page.
void Fetcher::GiveUpQuests(uint32_t index,
                           std::deque<std::unique_ptr<RobotsQuest>> quests) {
  for (const std::unique_ptr<RobotsQuest>& quest : quests) {
    if (quest->asker == index) {
      host(index).origins[quest->origin].stage = OriginRules::Stage::kUnknown;
    } else {
      EndQuest(*quest, /*status=*/0, "");
    }
  }
}

absl::Duration Fetcher::NextRest(const HostState& state) {
  return BackOff(static_cast<int>(std::max<uint32_t>(state.failures, 1)),
                 settings_.rest, settings_.max_rest,
                 std::uniform_real_distribution<>(0, 1)(random_));
}

void Fetcher::RestHost(uint32_t index, absl::Duration rest) {
  HostState& state = host(index);
  const absl::Time until = clock_.Now() + rest;
  state.rest_until = std::max(state.rest_until, until);
  state.is_dirty = true;
  SaveHost(state);
  const absl::Time steady_until = clock_.SteadyNow() + rest;
  turns_.Rest(state.id, steady_until);
  if (rest > settings_.patience || steady_until > deadline_) {
    ReleasePages(index);
  }
}

void Fetcher::ReleasePages(uint32_t index) {
  HostState& state = host(index);
  std::vector<storage::PageKey> pages;
  pages.reserve(state.pages.size());
  for (PageTask& task : state.pages) pages.push_back(std::move(task.page));
  pages_left_ -= static_cast<int64_t>(state.pages.size());
  state.pages.clear();
  committer_->Release(std::move(pages));
  std::deque<std::unique_ptr<RobotsQuest>> quests = std::move(state.quests);
  state.quests.clear();
  if (!ending_) GiveUpQuests(index, std::move(quests));
}

// A webmaster complained: nothing more of that domain is asked for, not even
// the pages that are in the round. They go back to the frontier, from which the
// block takes them (storage/crawl_db/blocks.cc).
void Fetcher::DropBlocked() {
  block_changes_ = crawl_db_->blocks().block_changes();
  for (uint32_t index = 0; index < hosts_.size(); ++index) {
    HostState& state = host(index);
    if (state.pages.empty() && state.quests.empty()) continue;
    if (IsBlocked(state)) ReleasePages(index);
  }
}

bool Fetcher::IsBlocked(const HostState& state) const {
  return crawl_db_->blocks().IsBlocked(storage::PageKey{state.key.bytes});
}

void Fetcher::Retire(HostState& state) {
  if (!state.is_active) return;
  if (state.is_dirty) SaveHost(state);
  state.is_active = false;
  --active_hosts_;
  --view_hosts_;
  // Small ones stay, in case another host's robots.txt leads here.
  constexpr size_t kSmall = 16 << 10;
  if (state.rules_bytes > kSmall || rules_bytes_ > settings_.rules_memory / 2) {
    ForgetRules(state);
  }
}

// One host that is gone is ordinary. If a hundred different hosts cannot be
// reached, and none answers in between, the cause is this machine's network,
// and the pages should stay where they are.
void Fetcher::CouldNotBeReached(HostState& state) {
  if (state.unreachable_at == answers_) return;  // Counted.
  state.unreachable_at = answers_;
  if (++unreachable_hosts_ < settings_.unreachable_to_stop || !error_.ok()) {
    return;
  }
  error_ = absl::FailedPreconditionError(fmt::format(
      "none of the last {} hosts could be reached: is this machine's network "
      "up (DNS, proxy, connect_to)? The round stays open; if the hosts are "
      "really gone, run again and it goes on",
      unreachable_hosts_));
}

void Fetcher::SaveHost(HostState& state) {
  state.is_dirty = false;
  state.saved_in =
      committer_->Update({state.key, state.ToRecord(clock_.Now())});
}

}  // namespace gannet::jobs
