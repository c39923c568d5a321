// LocalAdmin's verbs about what gets in: seeds and blocks.
#include <fmt/format.h>

#include "sites/admin/local_admin.h"
#include "sites/admin/names.h"
#include "sites/admin/seed_judge.h"
#include "sites/admin/utf8.h"
#include "storage/url/domain.h"

namespace gannet::sites {
namespace {

constexpr int kMostSeeds = 10'000;
// A file of another kind would fill the screen.
constexpr int kMostNamed = 20;

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
  std::vector<storage::PageKey> seeds;
  for (const admin::InjectRequest::Seed& seed : request.seeds()) {
    absl::StatusOr<storage::PageKey> key = judge->Judge(seed.url());
    if (key.ok()) {
      seeds.push_back(*std::move(key));
      continue;
    }
    reply.set_bad(reply.bad() + 1);
    if (reply.bad_seeds_size() >= kMostNamed) continue;
    admin::Injected::BadSeed& bad = *reply.add_bad_seeds();
    bad.set_where(seed.where());
    bad.set_why(Utf8(std::string(key.status().message())));
  }
  const auto counts = db().incoming().Inject(seeds, clock_.Now());
  if (!counts.ok()) return counts.status();
  reply.set_added(counts->added);
  reply.set_known(counts->known);
  reply.set_blocked(counts->blocked);
  if (FederationControl* federation = federation_) federation->OnInjected();
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
