// LocalAdmin's verbs about what gets in: seeds and blocks.
#include <fmt/format.h>

#include "sites/admin/local_admin.h"
#include "sites/admin/names.h"
#include "sites/admin/seed_judge.h"
#include "sites/admin/seed_scopes.h"
#include "sites/admin/utf8.h"
#include "storage/url/domain.h"

namespace gannet::sites {
namespace {

constexpr int kMostSeeds = 10'000;
// A file of another kind would fill the screen.
constexpr int kMostNamed = 20;
constexpr int kMostRulesShown = 1000;

absl::Status ScopeOfMap() {
  return absl::FailedPreconditionError(
      "in a federation the scope is a rule of the map, the same for all sites: "
      "'gannet federation switch --rules' changes it (--help tells how)");
}

// A name such as co.uk, of which an operator may expect more than he gets.
bool IsSuffix(const std::string& domain) {
  return !storage::RegistrableDomainIfAny(domain).has_value() &&
         domain.find('.') != std::string::npos &&
         domain.find_first_not_of("0123456789.") != std::string::npos;
}

}  // namespace

absl::Status LocalAdmin::Inject(const admin::InjectRequest& request,
                                admin::Injected& reply) {
  if (request.seeds_size() > kMostSeeds) {
    return absl::InvalidArgumentError(
        fmt::format("{} seeds in one request; {} are allowed, so send several",
                    request.seeds_size(), kMostSeeds));
  }
  const absl::StatusOr<SeedJudge> judge = SeedJudge::Create(*config());
  if (!judge.ok()) return judge.status();
  const auto say = [&](const admin::InjectRequest::Seed& seed,
                       const std::string& why) {
    reply.set_bad(reply.bad() + 1);
    if (reply.bad_seeds_size() >= kMostNamed) return;
    admin::Injected::BadSeed& bad = *reply.add_bad_seeds();
    bad.set_where(seed.where());
    bad.set_why(Utf8(why));
  };
  std::vector<std::pair<const admin::InjectRequest::Seed*, storage::Url>> good;
  std::vector<storage::ScopeRule> rules;
  for (const admin::InjectRequest::Seed& seed : request.seeds()) {
    absl::StatusOr<storage::Url> url = judge->Judge(seed.url());
    absl::StatusOr<std::optional<storage::ScopeRule>> rule = std::nullopt;
    if (url.ok()) {
      rule = RuleOf(seed, url->href(), request.default_scope());
    } else {
      rule = url.status();
    }
    if (!rule.ok()) {
      say(seed, std::string(rule.status().message()));
      continue;
    }
    good.emplace_back(&seed, *std::move(url));
    if (rule->has_value()) rules.push_back(**std::move(rule));
  }
  if (!ScopeIsOfMap()) {
    if (absl::Status s = db().scopes().Put(rules); !s.ok()) return s;
  }
  const auto scope = db().scopes().scope();
  std::vector<storage::PageKey> seeds;
  for (const auto& [seed, url] : good) {
    if (scope->Judge(url, 0) == storage::UrlVerdict::kAllowed) {
      seeds.push_back(storage::PageKeyOf(url));
    } else {
      say(*seed, fmt::format("{} is out of the scope ({})", url.href(),
                             scope->Words()));
    }
  }
  reply.set_scope(Utf8(scope->Words()));
  const auto counts = db().incoming().Inject(seeds, clock_.Now());
  if (!counts.ok()) return counts.status();
  reply.set_added(counts->added);
  reply.set_known(counts->known);
  reply.set_blocked(counts->blocked);
  if (FederationControl* federation = federation_) federation->OnInjected();
  return absl::OkStatus();
}

bool LocalAdmin::ScopeIsOfMap() const {
  return config()->federation.map != MapSource::kNone;
}

absl::StatusOr<std::optional<storage::ScopeRule>> LocalAdmin::RuleOf(
    const admin::InjectRequest::Seed& seed, std::string_view url,
    const std::string& default_scope) {
  std::optional<uint32_t> max_depth;
  if (seed.has_max_depth()) max_depth = seed.max_depth();
  if (ScopeIsOfMap()) {
    if (seed.scope().empty() && !max_depth.has_value()) return std::nullopt;
    return ScopeOfMap();
  }
  std::string word = seed.scope();
  if (word.empty()) {
    const auto known = db().scopes().RuleOfSeed(url);
    if (!known.ok()) return known.status();
    // Who says nothing changes nothing.
    if (known->has_value() && !max_depth.has_value()) return std::nullopt;
    word = known->has_value() ? storage::ScopeKindName((*known)->kind)
                              : default_scope;
  }
  return SeedRule(*config(), db().scopes().scope()->HasSeeds(), url, word,
                  max_depth);
}

absl::Status LocalAdmin::ChangeScope(const admin::ScopeRequest& request,
                                     admin::ScopeRules& reply) {
  using Kind = storage::ScopeRule::Kind;
  std::optional<uint32_t> max_depth;
  if (request.has_max_depth()) max_depth = request.max_depth();
  std::vector<storage::ScopeRule> rules;
  for (const auto& [kind, names] : {std::pair(Kind::kAllow, &request.allow()),
                                    std::pair(Kind::kDeny, &request.deny())}) {
    for (const std::string& name : *names) {
      auto rule =
          NameRule(kind, name, kind == Kind::kAllow ? max_depth : std::nullopt);
      if (!rule.ok()) return rule.status();
      rules.push_back(*std::move(rule));
    }
  }
  if (ScopeIsOfMap() && (!rules.empty() || request.forget_size() > 0)) {
    return ScopeOfMap();
  }
  for (const std::string& name : request.forget()) {
    absl::Status s = db().scopes().Remove(RuleName(*config(), name));
    if (!s.ok()) return s;
  }
  if (absl::Status s = db().scopes().Put(rules); !s.ok()) return s;
  const auto all = db().scopes().Rules();
  if (!all.ok()) return all.status();
  reply.set_words(Utf8(db().scopes().scope()->Words()));
  reply.set_all_rules(static_cast<int64_t>(all->size()));
  reply.set_is_of_federation(ScopeIsOfMap());
  for (const storage::ScopeRule& rule : *all) {
    if (reply.rules_size() == kMostRulesShown) break;
    admin::ScopeRules::Rule& shown = *reply.add_rules();
    shown.set_kind(std::string(storage::ScopeKindName(rule.kind)));
    shown.set_name(rule.name);
    if (rule.max_depth.has_value()) shown.set_max_depth(*rule.max_depth);
  }
  return absl::OkStatus();
}

absl::Status LocalAdmin::Block(const admin::BlockRequest& request,
                               admin::BlockChange& reply) {
  const absl::StatusOr<std::string> domain = CanonicalHost(request.domain());
  if (!domain.ok()) return domain.status();
  absl::StatusOr<int64_t> pages =
      request.undo() ? Unblock(*domain) : db().blocks().Block(*domain);
  if (!pages.ok()) return pages.status();
  if (!request.undo()) {
    if (absl::Status s = TellOthersToBlock(*domain); !s.ok()) return s;
  }
  reply.set_domain(*domain);
  reply.set_blocked(!request.undo());
  reply.set_pages(*pages);
  reply.set_is_public_suffix(IsSuffix(*domain));
  if (config()->federation.map == MapSource::kFile) {
    reply.set_note(
        "this federation's map is a file: give the same command to every site");
  }
  return absl::OkStatus();
}

// The block is made here first, which takes effect at once.
absl::Status LocalAdmin::TellOthersToBlock(const std::string& domain) {
  if (config()->federation.map != MapSource::kRegistrar) {
    return absl::OkStatus();
  }
  FederationControl* const federation = federation_;
  const absl::Status told =
      federation == nullptr
          ? absl::FailedPreconditionError("no agent runs here")
          : federation->Block(domain, /*undo=*/false);
  if (told.ok()) return told;
  return absl::Status(
      told.code(),
      fmt::format("{} is blocked at this site, but the others could not be "
                  "told ({}); {}",
                  domain, std::string(told.message()),
                  federation == nullptr
                      ? "start it ('gannet serve') and give the command again"
                      : "try again"));
}

// In the map first: if that fails, nothing has changed and it can be tried
// again.
absl::StatusOr<int64_t> LocalAdmin::Unblock(const std::string& domain) {
  bool was_in_map = false;
  if (config()->federation.map == MapSource::kRegistrar) {
    FederationControl* const federation = federation_;
    const absl::Status told =
        federation == nullptr
            ? absl::FailedPreconditionError(
                  "no agent runs here: 'gannet serve' starts it")
            : federation->Block(domain, /*undo=*/true);
    was_in_map = told.ok();
    if (!told.ok() && !absl::IsNotFound(told)) {
      return absl::Status(
          told.code(),
          fmt::format("{} stays blocked: the others could not be told ({}); "
                      "then try again",
                      domain, std::string(told.message())));
    }
  }
  absl::StatusOr<int64_t> pages = db().blocks().Unblock(domain);
  if (!absl::IsNotFound(pages.status())) return pages;
  // Membership's watch may already have done what the map says.
  if (was_in_map) return 0;
  return absl::NotFoundError(fmt::format(
      "{} is not blocked; 'gannet block --list' shows what is", domain));
}

absl::Status LocalAdmin::ListBlocked(const admin::ListBlockedRequest&,
                                     admin::BlockedDomains& reply) {
  const auto blocked = db().blocks().Blocked();
  if (!blocked.ok()) return blocked.status();
  for (const std::string& domain : *blocked) reply.add_blocked(domain);
  return absl::OkStatus();
}

}  // namespace gannet::sites
