#include "federation/member/map_scope.h"

#include <string>
#include <vector>

namespace gannet::federation {

void MapScope::Apply(const std::shared_ptr<const MapView>& view) {
  if (view == applied_) return;
  if (absl::Status s = ApplyRules(view->map().rules()); !s.ok()) {
    return note_("scope_failed", {{"error", std::string(s.message())}});
  }
  applied_ = view;
}

absl::Status MapScope::ApplyRules(const proto::MapRules& rules) {
  std::vector<storage::ScopeRule> wanted;
  for (const proto::ScopeRule& message : rules.scope()) {
    auto rule = storage::FromMessage(message);
    if (!rule.ok()) return rule.status();
    wanted.push_back(*std::move(rule));
  }
  // Most new maps leave it as it is.
  return crawl_db_.scopes().Replace(wanted);
}

}  // namespace gannet::federation
