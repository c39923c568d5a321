// Requests that no honest client would send, to every verb of the admin API, on
// a small site with a real runner of scripted rounds and a federation of one: a
// status and a reply that can be sent, never a crash, and a map that others
// would believe. The first byte chooses the verb, the rest is the request as it
// comes off the wire.
//
// What it may write is in a temporary folder; paths in requests are bent there.
#include <fmt/format.h>
#include <google/protobuf/descriptor.h>

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

// A site that is made anew before it has grown.
class Site {
 public:
  Site() {
    storage::SiteStoreSettings settings;
    settings.folder = folder_.path() + "/site";
    settings.create = true;
    store_ = storage::SiteStore::Open(settings).value();
    storage::CrawlSample(*store_, 20);
    SiteConfig config;
    config.site.data = settings.folder;
    runner_ = std::make_unique<ScriptedRunner>(settings.folder);
    admin_ = std::make_unique<LocalAdmin>(
        config, "", *store_, &runner_->control(), storage::SystemClock());
    admin_->SetFederation(&federation_);
  }
  Admin& admin() { return *admin_; }
  // A new name in the temporary folder; nothing for nothing.
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
void Ask(
    Site& site, absl::Status (Admin::*verb)(const Request&, Reply&),
    std::string_view bytes,
    void (*bend)(Site&, Request&) = [](Site&, Request&) {}) {
  Request request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return;
  }
  bend(site, request);
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

void BendRelease(Site& site, admin::ReleaseArchiveFileRequest& request) {
  request.set_to(site.Bent(request.to()));
}
void BendBackup(Site& site, admin::BackupRequest& request) {
  request.set_to(site.Bent(request.to()));
}
// One look and no more: it would sleep as long as it is told.
void WatchOnce(Site& site, std::string_view bytes) {
  admin::WatchStatusRequest request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return;
  }
  (void)site.admin().WatchStatus(request, [](const auto&) { return false; });
}

void ChangeFederation(Site& site, std::string_view bytes) {
  Ask(site, &Admin::ChangeFederation, bytes);
  admin::Verification verified;
  Require(site.admin().VerifyFederation({}, verified).ok() && verified.ok());
}

constexpr int kVerbs = 29;

void Call(Site& site, uint8_t verb, std::string_view bytes) {
  switch (verb % kVerbs) {
    case 0:
      return Ask(site, &Admin::GetStatus, bytes);
    case 1:
      return WatchOnce(site, bytes);
    case 2:
      return Ask(site, &Admin::ListRounds, bytes);
    case 3:
      return Ask(site, &Admin::ListHosts, bytes);
    case 4:
      return Ask(site, &Admin::GetFrontier, bytes);
    case 5:
      return Ask(site, &Admin::GetPage, bytes);
    case 6:
      return Listen(site, &Admin::GetPageBody, bytes);
    case 7:
      return Listen(site, &Admin::Export, bytes);
    case 8:
      return Ask(site, &Admin::CheckUrl, bytes);
    case 9:
      return Ask(site, &Admin::GetRobots, bytes);
    case 10:
      return Ask(site, &Admin::GetConfiguration, bytes);
    case 11:
      return Ask(site, &Admin::Verify, bytes);
    case 12:
      return Ask(site, &Admin::Inject, bytes);
    case 13:
      return Ask(site, &Admin::Block, bytes);
    case 14:
      return Ask(site, &Admin::ListBlocked, bytes);
    case 15:
      return Ask(site, &Admin::Forget, bytes);
    case 16:
      return Ask(site, &Admin::ListArchive, bytes);
    case 17:
      return Ask(site, &Admin::FinishArchiveFile, bytes);
    case 18:
      return Ask(site, &Admin::ReleaseArchiveFile, bytes, BendRelease);
    case 19:
      return Ask(site, &Admin::Backup, bytes, BendBackup);
    case 20:
      return Listen(site, &Admin::RunRounds, bytes);
    case 21:
      return Ask(site, &Admin::StopRounds, bytes);
    case 22:
      return Ask(site, &Admin::PauseRounds, bytes);
    case 23:
      return Ask(site, &Admin::ResumeRounds, bytes);
    case 24:
      return Ask(site, &Admin::Reload, bytes);
    case 25:
      return Ask(site, &Admin::GetFederation, bytes);
    case 26:
      return ChangeFederation(site, bytes);
    case 27:
      return Ask(site, &Admin::PlanFederation, bytes);
    case 28:
      return Ask(site, &Admin::VerifyFederation, bytes);
    default:
      Require(false);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Made at once, so that it is destroyed before what RocksDB made with it.
  static std::unique_ptr<Site> site = std::make_unique<Site>();
  static int calls = 0;
  // Whoever adds a verb adds it here.
  Require(admin::Status::descriptor()->file()->service(0)->method_count() ==
          kVerbs);
  if (size == 0) return 0;
  if (++calls % kCallsOfASite == 0) {
    site.reset();
    site = std::make_unique<Site>();
  }
  Call(*site, data[0],
       std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1));
  return 0;
}
