// LocalAdmin's verbs about the federation: passed on to the site's part in it.
#include "sites/admin/local_admin.h"

namespace gannet::sites {
namespace {

// An empty reply says so.
absl::Status InNone(const admin::Federation&) { return absl::OkStatus(); }

template <typename Reply>
absl::Status InNone(const Reply&) {
  return absl::FailedPreconditionError(
      "this site is in no federation here: federation.map in site.yaml says "
      "that it is to be in one, and 'gannet serve' runs it");
}

}  // namespace

#define GANNET_PASS_ON(Verb, Request, Reply, ...)                    \
  absl::Status LocalAdmin::Verb(const admin::Request& request,       \
                                admin::Reply& reply) {               \
    FederationControl* const federation = federation_;               \
    return federation == nullptr ? InNone(reply)                     \
                                 : federation->Verb(request, reply); \
  }
GANNET_FEDERATION_VERBS(GANNET_PASS_ON, )
#undef GANNET_PASS_ON

}  // namespace gannet::sites
