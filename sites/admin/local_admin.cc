#include "sites/admin/local_admin.h"

#include <filesystem>
#include <utility>

#include "sites/admin/utf8.h"
#include "sites/admin/verification_message.h"
#include "sites/config/config_text.h"

namespace gannet::sites {
namespace {

absl::Status NoRounds() {
  return absl::FailedPreconditionError(
      "no agent runs here: 'gannet serve' starts one, 'gannet round' runs "
      "rounds by hand");
}

}  // namespace

LocalAdmin::LocalAdmin(SiteConfig config, std::string config_file,
                       storage::SiteStore& store, RoundsControl* rounds,
                       storage::Clock& clock)
    : config_file_(std::move(config_file)),
      store_(store),
      rounds_(rounds),
      clock_(clock),
      config_(std::make_shared<const SiteConfig>(std::move(config))) {}

std::shared_ptr<const SiteConfig> LocalAdmin::config() const {
  storage::MutexLock lock(&mu_);
  return config_;
}

void LocalAdmin::SetConfig(SiteConfig config) {
  auto shared = std::make_shared<const SiteConfig>(std::move(config));
  storage::MutexLock lock(&mu_);
  config_ = std::move(shared);
}

absl::Status LocalAdmin::GetConfiguration(const admin::GetConfigurationRequest&,
                                          admin::Configuration& reply) {
  reply.set_yaml(Utf8(ConfigText(*config())));
  reply.set_file(Utf8(config_file_));
  return absl::OkStatus();
}

absl::Status LocalAdmin::Verify(const admin::VerifyRequest& request,
                                admin::Verification& reply) {
  auto checks = store_.Verify(request.full());
  if (!checks.ok()) return checks.status();
  reply.set_ok(true);
  for (const storage::Check& check : *checks) AddCheck(check, reply);
  return absl::OkStatus();
}

#define GANNET_PASS_ON_ASK(Verb, Request, Reply, ...)                       \
  absl::Status LocalAdmin::Verb(const admin::Request& request,              \
                                admin::Reply& reply) {                      \
    return rounds_ == nullptr ? NoRounds() : rounds_->Verb(request, reply); \
  }
#define GANNET_PASS_ON_LISTEN(Verb, Request, Message, ...)                 \
  absl::Status LocalAdmin::Verb(const admin::Request& request,             \
                                const Sink<admin::Message>& sink) {        \
    return rounds_ == nullptr ? NoRounds() : rounds_->Verb(request, sink); \
  }
GANNET_ROUNDS_VERBS(GANNET_PASS_ON_ASK, GANNET_PASS_ON_LISTEN)
#undef GANNET_PASS_ON_ASK
#undef GANNET_PASS_ON_LISTEN

}  // namespace gannet::sites
