// LocalAdmin's verbs about the federation: passed on to the site's part in it.
#include "sites/admin/local_admin.h"

namespace gannet::sites {
namespace {

absl::Status InNone() {
  return absl::FailedPreconditionError(
      "this site is in no federation here: federation.map in site.yaml says "
      "that it is to be in one, and 'gannet serve' runs it");
}

}  // namespace

absl::Status LocalAdmin::GetFederation(
    const admin::GetFederationRequest& request, admin::Federation& reply) {
  FederationControl* const federation = federation_;
  return federation == nullptr ? absl::OkStatus()
                               : federation->Get(request, reply);
}

absl::Status LocalAdmin::ChangeFederation(
    const admin::ChangeFederationRequest& request,
    admin::FederationChange& reply) {
  FederationControl* const federation = federation_;
  return federation == nullptr ? InNone() : federation->Change(request, reply);
}

absl::Status LocalAdmin::PlanFederation(
    const admin::ChangeFederationRequest& request,
    admin::FederationPlan& reply) {
  FederationControl* const federation = federation_;
  return federation == nullptr ? InNone() : federation->Plan(request, reply);
}

absl::Status LocalAdmin::VerifyFederation(const admin::VerifyRequest& request,
                                          admin::Verification& reply) {
  FederationControl* const federation = federation_;
  return federation == nullptr ? InNone() : federation->Verify(request, reply);
}

}  // namespace gannet::sites
