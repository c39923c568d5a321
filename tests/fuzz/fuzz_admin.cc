// Requests that no honest client would send, to every verb of the admin API, on
// a small site with a real runner of scripted rounds and a federation of one.
// Each must get a status and a reply that can be sent; nothing may crash, and
// the federation's map must stay valid. The first byte chooses the verb, the
// rest is the request as it comes off the wire.
//
// It writes only to a temporary folder: paths in requests are changed to that.
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "sites/admin/local_admin.h"
#include "sites/admin/message_json.h"
#include "tests/sites/agent/scripted_federation.h"
#include "tests/sites/agent/scripted_runner.h"
#include "tests/storage/site_store/sample_site.h"
#include "tests/temporary_folder.h"

namespace {

using namespace gannet;         // NOLINT
using namespace gannet::sites;  // NOLINT

void Require(bool truth) {
  if (!truth) abort();
}

// A small site, which is replaced by a new one after some calls.
class Site {
 public:
  Site() {
    storage::SiteStoreSettings settings;
    settings.folder = folder_.path() + "/site";
    settings.create = true;
    store_ = storage::SiteStore::Open(settings, storage::SystemClock()).value();
    storage::CrawlSample(*store_, 20);
    SiteConfig config;
    config.site.data = settings.folder;
    runner_ = std::make_unique<ScriptedRunner>(settings.folder);
    admin_ = std::make_unique<LocalAdmin>(
        config, "", *store_, &runner_->control(), storage::SystemClock());
    admin_->SetFederation(&federation_);
  }
  Admin& admin() { return *admin_; }
  // A new name in the temporary folder; "" for "".
  std::string Bent(std::string_view path) {
    if (path.empty()) return "";
    return fmt::format("{}/{}", folder_.path(), ++names_);
  }

 private:
  TemporaryFolder folder_;
  std::unique_ptr<storage::SiteStore> store_;
  std::unique_ptr<ScriptedRunner> runner_;
  ScriptedFederation federation_;
  std::unique_ptr<LocalAdmin> admin_;
  int names_ = 0;
};

constexpr int kCallsOfASite = 300;

template <typename Message>
void CanBeSent(const Message& reply) {
  Message again;
  Require(again.ParseFromString(reply.SerializeAsString()));
  (void)MessageJson(reply).dump();  // Throws at what is not UTF-8.
}

template <typename Request, typename Reply>
void Ask(Site& site, absl::Status (Admin::*verb)(const Request&, Reply&),
         std::string_view bytes) {
  Request request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return;
  }
  // What is written stays in the temporary folder.
  if constexpr (requires { request.set_to(""); }) {
    request.set_to(site.Bent(request.to()));
  }
  Reply reply;
  const absl::Status status = (site.admin().*verb)(request, reply);
  Require(status.ok() || !status.message().empty());
  if (status.ok()) CanBeSent(reply);
}

template <typename Request, typename Message>
void Listen(Site& site,
            absl::Status (Admin::*verb)(const Request&, const Sink<Message>&),
            std::string_view bytes) {
  Request request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return;
  }
  int messages = 0;
  const absl::Status status =
      (site.admin().*verb)(request, [&](const Message& message) {
        CanBeSent(message);
        return ++messages < 3;
      });
  Require(status.ok() || !status.message().empty());
}

enum Verb {
#define GANNET_VERB(Verb, ...) k##Verb,
  GANNET_ADMIN_VERBS(GANNET_VERB, GANNET_VERB)
#undef GANNET_VERB
      kVerbs
};

void Call(Site& site, uint8_t verb, std::string_view bytes) {
  switch (verb % kVerbs) {
#define GANNET_ASK(Verb, ...)       \
  case k##Verb:                     \
    Ask(site, &Admin::Verb, bytes); \
    break;
#define GANNET_LISTEN(Verb, ...)       \
  case k##Verb:                        \
    Listen(site, &Admin::Verb, bytes); \
    break;
    GANNET_ADMIN_VERBS(GANNET_ASK, GANNET_LISTEN)
#undef GANNET_ASK
#undef GANNET_LISTEN
  }
  if (verb % kVerbs != kChangeFederation) return;
  admin::Verification verified;
  Require(site.admin().VerifyFederation({}, verified).ok() && verified.ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Made on the first call, so that it is destroyed before RocksDB's own static
  // objects, which it has made.
  static std::unique_ptr<Site> site = std::make_unique<Site>();
  static int calls = 0;
  if (size == 0) return 0;
  if (++calls % kCallsOfASite == 0) {
    site.reset();
    site = std::make_unique<Site>();
  }
  Call(*site, data[0],
       std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1));
  return 0;
}
