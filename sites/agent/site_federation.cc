#include "sites/agent/site_federation.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <utility>
#include <vector>

#include "federation/exchange/sent_urls.h"
#include "federation/map/file_map.h"
#include "federation/member/membership.h"
#include "federation/peers/channel_arguments.h"
#include "sites/admin/keep_grpc.h"
#include "sites/admin/utf8.h"
#include "sites/admin/verification_message.h"
#include "sites/agent/certificate.h"
#include "sites/agent/federation_messages.h"
#include "sites/agent/resend.h"
#include "sites/agent/scope_edit.h"
#include "sites/agent/tls_credentials.h"
#include "storage/clock.h"
#include "storage/mutex.h"
#include "storage/url/domain.h"

namespace gannet::sites {
namespace {

using federation::Map;
using federation::Membership;

constexpr absl::Duration kRateOver = absl::Seconds(10);

// The same everywhere and for ever: sites compare it.
std::string Fingerprint(const std::string& text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha256(), nullptr);
  std::string hex;
  for (unsigned int i = 0; i < 8 && i < size; ++i) {
    hex += fmt::format("{:02x}", digest[i]);
  }
  return hex;
}

std::string ListText(const std::vector<std::string>& list) {
  return fmt::format("[{}]", fmt::join(list, "\n"));
}

std::string ListText(const UrlListSection& list) {
  return ListText(list.domains) + ListText(list.hosts) +
         ListText(list.prefixes) + ListText(list.regexes);
}

// Pages a second over the last ten. Thread-safe.
class PageRate {
 public:
  explicit PageRate(storage::Clock& clock) : clock_(clock) {}

  void CountBy(std::function<int64_t()> fetched) ABSL_LOCKS_EXCLUDED(mu_) {
    storage::MutexLock lock(&mu_);
    fetched_ = std::move(fetched);
  }

  double PerSecond() ABSL_LOCKS_EXCLUDED(mu_) {
    const absl::Time now = clock_.SteadyNow();
    storage::MutexLock lock(&mu_);
    if (!fetched_) return 0;
    const int64_t pages = fetched_();
    if (now - then_ > kRateOver) {
      rate_ = then_ == absl::InfinitePast()
                  ? 0
                  : static_cast<double>(pages - before_) /
                        absl::ToDoubleSeconds(now - then_);
      then_ = now;
      before_ = pages;
    }
    return rate_;
  }

 private:
  storage::Clock& clock_;
  storage::Mutex mu_;
  std::function<int64_t()> fetched_ ABSL_GUARDED_BY(mu_);
  absl::Time then_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
  int64_t before_ ABSL_GUARDED_BY(mu_) = 0;
  double rate_ ABSL_GUARDED_BY(mu_) = 0;
};

// kUnavailable is the word for an agent that does not answer; this one does.
absl::Status SayOfOthers(const absl::Status& status) {
  return absl::IsUnavailable(status)
             ? absl::FailedPreconditionError(status.message())
             : status;
}

}  // namespace

proto::MapRules RulesOf(const SiteConfig& config) {
  proto::MapRules rules;
  rules.set_public_suffixes(std::string(storage::PublicSuffixListHash()));
  rules.set_canonical(Fingerprint(ListText(config.urls.drop_parameters)));
  const UrlsSection& urls = config.urls;
  rules.set_filters(Fingerprint(fmt::format(
      "{} {} {} {} {} {} {}", ListText(urls.allow), ListText(urls.deny),
      urls.max_bytes, urls.max_path_depth, urls.max_segment_repeats,
      urls.max_query_parameters, urls.max_query_bytes)));
  rules.set_channel(config.federation.channel == federation::ChannelUnit::kHost
                        ? proto::CHANNEL_HOST
                        : proto::CHANNEL_DOMAIN);
  rules.set_exchange(config.federation.exchange == ExchangeMode::kCash
                         ? proto::EXCHANGE_CASH
                         : proto::EXCHANGE_URLS);
  return rules;
}

class SiteFederation::Impl {
 public:
  Impl(const SiteConfig& config, storage::SiteStore& store, Log& log,
       storage::Clock& clock)
      : config(config), store(store), log(log), clock(clock) {}
  // What is sent again asks the membership.
  ~Impl() {
    if (resend != nullptr) resend->End();
    // If saving fails, some URLs are sent once more.
    if (sent != nullptr) (void)sent->Save(/*at_once=*/true);
  }

  absl::Status Start();
  void OnStranger(const absl::Status& why) ABSL_LOCKS_EXCLUDED(mu);

  const SiteConfig config;
  storage::SiteStore& store;
  Log& log;
  storage::Clock& clock;
  PageRate page_rate{clock};
  std::unique_ptr<storage::Canonicaliser> canonicaliser;
  std::unique_ptr<storage::UrlFilter> filter;
  // The rounds' thread's.
  std::unique_ptr<federation::SentUrls> sent;
  std::unique_ptr<Resend> resend;
  federation::BatchBytes reported_bytes;
  std::atomic<int64_t> refused_handshakes = 0;
  storage::Mutex mu;
  absl::Time stranger_noted ABSL_GUARDED_BY(mu) = absl::InfinitePast();
  // The last, so that it ends first: it uses the others.
  std::unique_ptr<Membership> membership;
};

// A scanner may connect thousands of times: a line a minute is enough.
void SiteFederation::Impl::OnStranger(const absl::Status& why) {
  ++refused_handshakes;
  const absl::Time now = clock.SteadyNow();
  {
    storage::MutexLock lock(&mu);
    if (now - stranger_noted < absl::Minutes(1)) return;
    stranger_noted = now;
  }
  log.Warning("stranger_refused", {{"error", std::string(why.message())}});
}

absl::Status SiteFederation::Impl::Start() {
  absl::Status lost;
  auto loaded = federation::SentUrls::Load(
      {.bytes = config.federation.cache,
       .random =
           [] {
             std::random_device random;
             return uint64_t{random()} << 32 | random();
           }},
      store.crawl_db(), clock, &lost);
  if (!loaded.ok()) return loaded.status();
  if (!lost.ok()) {
    log.Warning("sent_cache_lost", {{"error", std::string(lost.message())}});
  }
  sent = *std::move(loaded);
  auto made = storage::Canonicaliser::Create(CanonicalRulesOf(config));
  if (!made.ok()) return made.status();
  canonicaliser = std::make_unique<storage::Canonicaliser>(*std::move(made));
  auto made_filter =
      storage::UrlFilter::Create(FilterRulesOf(config), *canonicaliser);
  if (!made_filter.ok()) return made_filter.status();
  filter = *std::move(made_filter);

  resend = std::make_unique<Resend>(
      store, *canonicaliser, *filter,
      static_cast<uint32_t>(config.fetch.redirects), log, clock);

  const FederationSection& section = config.federation;
  federation::MembershipSettings settings;
  settings.self.name = config.site.name;
  settings.self.address = config.PeersAddress();
  settings.self.capacity = static_cast<uint32_t>(section.capacity);
  settings.self.rules = RulesOf(config);
  // Of a federation that is founded here.
  const auto scope = store.crawl_db().scopes().Rules();
  if (!scope.ok()) return scope.status();
  for (const storage::ScopeRule& rule : *scope) {
    *settings.self.rules.add_scope() = storage::ToMessage(rule);
  }
  if (config.site.location.has_value()) {
    settings.self.location.set_latitude(config.site.location->latitude);
    settings.self.location.set_longitude(config.site.location->longitude);
  }
  if (section.map == MapSource::kFile) settings.map_file = section.file;
  settings.join = section.join;
  settings.server.address = config.listen.peers;
  if (config.tls.IsComplete()) {
    if (auto expires = CheckTlsFiles(config.tls); !expires.ok()) {
      return expires.status();
    }
    settings.server.credentials = TlsServerCredentials(
        config.tls, [this](const absl::Status& why) { OnStranger(why); });
    settings.server.site_name_of = SiteNameOf;
    settings.connect =
        TlsConnect(config.tls, federation::PeerChannelArguments());
  }
  settings.receiver.most_host_pages = config.urls.max_pages_per_host;
  settings.on_map = [this](Membership& member) {
    resend->Begin(member.maps(), member.losses(),
                  [&member] { member.OnForeignPages(); });
  };
  settings.answers.pages_per_second = [this] { return page_rate.PerSecond(); };
  settings.answers.verify = [this](bool full) { return store.Verify(full); };
  settings.note =
      [this](std::string_view event,
             const std::vector<std::pair<std::string, std::string>>& fields) {
        std::vector<LogField> line;
        for (const auto& [key, value] : fields) {
          line.push_back({key.c_str(), value});
        }
        const bool is_bad =
            event.ends_with("_error") || event.ends_with("_refused");
        log.Write(is_bad ? LogLevel::kWarning : LogLevel::kInfo, event,
                  absl::MakeConstSpan(line));
      };
  auto member = Membership::Start(std::move(settings), store.crawl_db(),
                                  *canonicaliser, *filter, clock);
  if (!member.ok()) return member.status();
  membership = *std::move(member);
  return absl::OkStatus();
}

SiteFederation::SiteFederation(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}
SiteFederation::~SiteFederation() = default;

absl::StatusOr<std::unique_ptr<SiteFederation>> SiteFederation::Start(
    const SiteConfig& config, storage::SiteStore& store, Log& log,
    storage::Clock& clock) {
  KeepGrpc();
  auto impl = std::make_unique<Impl>(config, store, log, clock);
  if (absl::Status s = impl->Start(); !s.ok()) return s;
  return std::unique_ptr<SiteFederation>(new SiteFederation(std::move(impl)));
}

void SiteFederation::CountPagesBy(std::function<int64_t()> fetched_pages) {
  impl_->page_rate.CountBy(std::move(fetched_pages));
}

int SiteFederation::port() const { return impl_->membership->port(); }

// --- For the rounds ----------------------------------------------------------

jobs::FederationNow SiteFederation::Snapshot() {
  Membership& membership = *impl_->membership;
  jobs::FederationNow now;
  now.map = membership.maps().view();
  if (now.map == nullptr) return now;
  auto may_crawl = membership.MayCrawl(now.map);
  // If it cannot be read now, nothing is crawled now.
  now.may_begin = membership.MayBeginRound();
  now.may_begin.Update(may_crawl.status());
  now.may_crawl = may_crawl.ok() ? *std::move(may_crawl)
                                 : [](std::string_view) { return false; };
  impl_->sent->Follow(*now.map);
  now.sent = &impl_->sent->cache();
  return now;
}

bool SiteFederation::IsOut() const {
  const auto view = impl_->membership->maps().view();
  return view != nullptr && view->self() == nullptr;
}

absl::Status SiteFederation::OnSettled() { return impl_->sent->Save(); }

federation::BatchBytes SiteFederation::TakeBytesSent() {
  const federation::BatchBytes now = impl_->membership->bytes_sent();
  const federation::BatchBytes before =
      std::exchange(impl_->reported_bytes, now);
  // The counts of a neighbour that left are gone, so a sum may be smaller than
  // before.
  return {now.urls - std::min(now.urls, before.urls),
          now.pages - std::min(now.pages, before.pages)};
}

// --- For operators -----------------------------------------------------------

void SiteFederation::AddTo(admin::Status& status) {
  const auto view = impl_->membership->maps().view();
  if (view == nullptr) return;
  status.set_epoch(view->map().epoch());
  status.clear_outbox();
  for (const auto& [site, urls] :
       impl_->store.crawl_db().totals().outbox_urls) {
    const proto::MapSite* named =
        federation::FindSite(view->map(), static_cast<uint32_t>(site));
    (*status.mutable_outbox())[named != nullptr
                                   ? named->name()
                                   : std::to_string(
                                         static_cast<uint32_t>(site))] = urls;
  }
}

absl::Status SiteFederation::Block(std::string_view domain, bool undo) {
  const std::string name(domain);
  return SayOfOthers(impl_->membership->follower()
                         .Change([&](const Map& map) {
                           return undo ? federation::Unblock(map, name)
                                       : federation::Block(map, name);
                         })
                         .status());
}

void SiteFederation::OnInjected() { impl_->membership->OnForeignPages(); }

absl::Status SiteFederation::GetFederation(
    const admin::GetFederationRequest& request, admin::Federation& reply) {
  const federation::FederationSnapshot snapshot =
      request.ask_all() ? impl_->membership->FreshSnapshot()
                        : impl_->membership->Snapshot();
  admin::FederationState& state = *reply.mutable_federation();
  if (snapshot.view == nullptr) {
    state.set_self(impl_->config.site.name);
    state.set_error(Utf8(snapshot.error));
    return absl::OkStatus();
  }
  ToMessage(snapshot, impl_->store.crawl_db().totals().outbox_urls, state);
  const auto cache = impl_->sent->cache().counts();
  state.set_sent_cache_lookups(static_cast<int64_t>(cache.lookups));
  state.set_sent_cache_hits(static_cast<int64_t>(cache.hits));
  state.set_refused_handshakes(impl_->refused_handshakes);
  return absl::OkStatus();
}

absl::Status SiteFederation::ChangeFederation(
    const admin::ChangeFederationRequest& request,
    admin::FederationChange& reply) {
  using Request = admin::ChangeFederationRequest;
  Membership& membership = *impl_->membership;
  absl::StatusOr<Map> next = absl::UnknownError("");
  switch (request.change_case()) {
    case Request::kJoin:
      next = membership.follower().Join(request.join().address());
      break;
    case Request::kRules: {
      const auto edit = ToScopeEdit(request.rules(), impl_->config);
      if (!edit.ok()) return edit.status();
      next = membership.follower().Change(
          [&](const Map& map) -> absl::StatusOr<Map> {
            proto::MapRules rules = RulesOf(impl_->config);
            *rules.mutable_scope() = map.rules().scope();
            if (auto s = federation::EditScope(*edit, rules); !s.ok()) return s;
            return federation::SetRules(map, rules);
          });
      break;
    }
    case Request::kAdopt:
      next = membership.follower().Adopt();
      break;
    default: {
      auto change = ToChange(request, impl_->config.site.name);
      if (!change.ok()) return change.status();
      next = membership.follower().Change(*change);
    }
  }
  if (!next.ok()) return SayOfOthers(next.status());
  reply.set_epoch(next->epoch());
  reply.set_term(federation::TermNumber(next->term()));
  reply.set_moves(federation::IsHandingOff(*next));
  if (membership.MapIsAFile()) {
    reply.set_map(federation::MapToText(*next));
  }
  return absl::OkStatus();
}

absl::Status SiteFederation::PlanFederation(
    const admin::ChangeFederationRequest& request,
    admin::FederationPlan& reply) {
  auto change = ToPlannedChange(request, impl_->config.site.name);
  if (!change.ok()) return change.status();
  Membership& membership = *impl_->membership;
  const auto now = membership.maps().view();
  if (now == nullptr) {
    const std::string why = membership.Snapshot().error;
    return absl::FailedPreconditionError(
        why.empty() ? "this site has not joined its federation yet"
                    : "this site is not in its federation: " + why);
  }
  const auto plan = membership.questions().MakePlan(*change);
  if (!plan.ok()) return plan.status();
  ToMessage(*plan, now->map(), reply);
  return absl::OkStatus();
}

absl::Status SiteFederation::VerifyFederation(
    const admin::VerifyRequest& request, admin::Verification& reply) {
  const auto checks = impl_->membership->questions().VerifyAll(request.full());
  if (!checks.ok()) return checks.status();
  reply.set_ok(true);
  for (const federation::FederationCheck& check : *checks) {
    AddCheck(check, reply).set_unanswered(check.is_unanswered);
  }
  return absl::OkStatus();
}

}  // namespace gannet::sites
