// ScriptedFederation is a federation of one site, "tokyo", whose map changes as
// operators ask, by the functions that change real ones; without network, disk
// and threads. For tests of what may be asked. Not thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "federation/map/file_map.h"
#include "federation/map/map_changes.h"
#include "federation/map/map_check.h"
#include "federation/map/map_view.h"
#include "sites/admin/federation_control.h"
#include "sites/agent/federation_messages.h"

namespace gannet::sites {

class ScriptedFederation : public FederationControl {
 public:
  ScriptedFederation() {
    federation::Applicant tokyo;
    tokyo.name = "tokyo";
    tokyo.incarnation = 1;
    tokyo.address = "127.0.0.1:7701";
    map_ = federation::FoundFederation(tokyo, /*federation=*/7, {},
                                       /*is_registrar=*/true)
               .value();
  }

  void AddTo(admin::Status& status) override { status.set_epoch(map_.epoch()); }
  absl::Status Block(std::string_view domain, bool undo) override {
    const std::string name(domain);
    return Take(undo ? federation::Unblock(map_, name)
                     : federation::Block(map_, name));
  }
  void OnInjected() override {}

  absl::Status GetFederation(const admin::GetFederationRequest&,
                             admin::Federation& reply) override {
    federation::FederationSnapshot snapshot;
    auto view = federation::MapView::Create(map_, "tokyo");
    if (!view.ok()) return view.status();
    snapshot.view = *std::move(view);
    ToMessage(snapshot, {}, *reply.mutable_federation());
    return absl::OkStatus();
  }
  absl::Status ChangeFederation(const admin::ChangeFederationRequest& request,
                                admin::FederationChange& reply) override {
    auto change = ToChange(request, "tokyo");
    if (!change.ok()) return change.status();
    if (absl::Status s = Take((*change)(map_)); !s.ok()) return s;
    reply.set_epoch(map_.epoch());
    reply.set_map(federation::MapToText(map_));
    return absl::OkStatus();
  }
  absl::Status PlanFederation(const admin::ChangeFederationRequest& request,
                              admin::FederationPlan& reply) override {
    auto change = ToPlannedChange(request, "tokyo");
    if (!change.ok()) return change.status();
    auto next = (*change)(map_);
    if (!next.ok()) return next.status();
    federation::Plan plan;
    plan.next = *std::move(next);
    ToMessage(plan, map_, reply);
    return absl::OkStatus();
  }
  absl::Status VerifyFederation(const admin::VerifyRequest&,
                                admin::Verification& reply) override {
    reply.set_ok(federation::CheckMap(map_).ok());
    return absl::OkStatus();
  }

 private:
  absl::Status Take(absl::StatusOr<federation::Map> next) {
    if (!next.ok()) return next.status();
    map_ = *std::move(next);
    return absl::OkStatus();
  }

  federation::Map map_;
};

}  // namespace gannet::sites
