#include "storage/crawl_db/scopes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "storage/crawl_db/store.h"

namespace gannet::storage {
namespace {

using Kind = ScopeRule::Kind;

// A seed has one rule, whatever its kind.
std::string KeyOf(const ScopeRule& rule) {
  switch (rule.kind) {
    case Kind::kAllow:
      return keys::Scope("a/" + rule.name);
    case Kind::kDeny:
      return keys::Scope("d/" + rule.name);
    default:
      return keys::Scope("/" + rule.name);
  }
}

std::set<std::string> Encoded(absl::Span<const ScopeRule> rules) {
  std::set<std::string> encoded;
  for (const ScopeRule& rule : rules) {
    encoded.insert(ToMessage(rule).SerializeAsString());
  }
  return encoded;
}

bool IsOfSeed(const ScopeRule& rule) {
  return rule.kind != Kind::kAllow && rule.kind != Kind::kDeny;
}

}  // namespace

absl::StatusOr<ScopeRule> FromMessage(const proto::ScopeRule& message) {
  if (!proto::ScopeRule::Kind_IsValid(message.kind())) {
    return absl::InvalidArgumentError(
        "a scope rule has a kind that this version does not know");
  }
  ScopeRule rule{static_cast<Kind>(message.kind()), message.name()};
  if (message.has_max_depth()) rule.max_depth = message.max_depth();
  return rule;
}

proto::ScopeRule ToMessage(const ScopeRule& rule) {
  proto::ScopeRule message;
  message.set_kind(static_cast<proto::ScopeRule::Kind>(rule.kind));
  message.set_name(rule.name);
  if (rule.max_depth.has_value()) message.set_max_depth(*rule.max_depth);
  return message;
}

std::shared_ptr<const Scope> Scopes::scope() const {
  MutexLock lock(&mu_);
  return scope_;
}

absl::StatusOr<std::vector<ScopeRule>> Scopes::Rules() {
  std::vector<ScopeRule> rules;
  const std::string prefix = keys::Scope("");
  const auto it = store_.Scan(Column::kMeta, prefix);
  for (it->Seek(prefix); it->Valid(); it->Next()) {
    proto::ScopeRule message;
    if (!message.ParseFromArray(it->value().data(),
                                static_cast<int>(it->value().size()))) {
      return absl::DataLossError("a rule of the scope cannot be decoded");
    }
    absl::StatusOr<ScopeRule> rule = FromMessage(message);
    if (!rule.ok()) return rule.status();
    rules.push_back(*std::move(rule));
  }
  if (!it->status().ok()) return it->status();
  return rules;
}

absl::StatusOr<std::optional<ScopeRule>> Scopes::RuleOfSeed(
    std::string_view seed) {
  const auto message = store_.GetMessage<proto::ScopeRule>(
      Column::kMeta, KeyOf({Kind::kAny, std::string(seed)}));
  if (!message.ok()) return message.status();
  // A row that is not there reads as an empty message.
  if (message->name().empty()) return std::optional<ScopeRule>();
  return FromMessage(*message);
}

absl::Status Scopes::Load() {
  MutexLock changing(&change_mu_);
  return Reload();
}

absl::Status Scopes::Reload() {
  const auto rules = Rules();
  if (!rules.ok()) return rules.status();
  auto scope = Scope::Create(*rules);
  if (!scope.ok()) return absl::DataLossError(scope.status().message());
  MutexLock lock(&mu_);
  scope_ = std::make_shared<const Scope>(*std::move(scope));
  return absl::OkStatus();
}

absl::Status Scopes::Put(absl::Span<const ScopeRule> rules) {
  if (auto checked = Scope::Create({rules.begin(), rules.end()});
      !checked.ok()) {
    return checked.status();
  }
  MutexLock changing(&change_mu_);
  std::vector<ScopeRule> put(rules.begin(), rules.end());
  if (!scope()->HasSeeds() && store_.totals().injected > 0 &&
      std::any_of(put.begin(), put.end(), IsOfSeed)) {
    put.push_back({Kind::kAny, ""});
  }
  return Change(put, {});
}

absl::Status Scopes::Remove(std::string_view name) {
  MutexLock changing(&change_mu_);
  auto rules = Rules();
  if (!rules.ok()) return rules.status();
  const auto is_of_seed = [&](bool this_one) {
    return std::any_of(rules->begin(), rules->end(), [&](const auto& rule) {
      return IsOfSeed(rule) && (rule.name == name) == this_one;
    });
  };
  if (store_.totals().injected > 0 && is_of_seed(true) && !is_of_seed(false)) {
    return absl::FailedPreconditionError(
        "this is the last seed with a scope, and without it everything would "
        "be in scope; if that is meant, give the seed --scope any");
  }
  std::erase_if(*rules,
                [&](const ScopeRule& rule) { return rule.name != name; });
  if (rules->empty()) {
    return absl::NotFoundError(
        fmt::format("the scope has no seed or name '{:.200}'", name));
  }
  return Change({}, *rules);
}

absl::Status Scopes::Replace(absl::Span<const ScopeRule> rules) {
  if (auto checked = Scope::Create({rules.begin(), rules.end()});
      !checked.ok()) {
    return checked.status();
  }
  MutexLock changing(&change_mu_);
  auto before = Rules();
  if (!before.ok()) return before.status();
  if (Encoded(rules) == Encoded(*before)) return absl::OkStatus();
  return Change(rules, *before);
}

absl::Status Scopes::Change(absl::Span<const ScopeRule> put,
                            absl::Span<const ScopeRule> removed) {
  std::map<std::string, const ScopeRule*> by_key;  // The last of a seed counts.
  for (const ScopeRule& rule : put) by_key[KeyOf(rule)] = &rule;
  std::vector<std::string> keys;
  for (const auto& [key, rule] : by_key) keys.push_back(key);
  const auto before = store_.MultiGet(Column::kMeta, keys);
  if (!before.ok()) return before.status();
  Edit edit;
  for (const ScopeRule& rule : removed) {
    edit.Delete(Column::kMeta, KeyOf(rule));
  }
  bool only_adds = removed.empty();
  std::vector<const ScopeRule*> added;
  for (size_t i = 0; i < keys.size(); ++i) {
    const ScopeRule& rule = *by_key[keys[i]];
    const std::string bytes = ToMessage(rule).SerializeAsString();
    const std::optional<std::string>& known = (*before)[i];
    if (removed.empty() && known == bytes) continue;
    only_adds = only_adds && !known.has_value();
    edit.Put(Column::kMeta, keys[i], bytes);
    added.push_back(&rule);
  }
  if (removed.empty() && added.empty()) return absl::OkStatus();
  if (absl::Status s = store_.Commit(edit); !s.ok()) return s;
  if (absl::Status s = store_.Sync(); !s.ok()) return s;
  if (!only_adds) return Reload();
  // Seeds may come by the million: what is known is not read again.
  Scope scope = *this->scope();
  for (const ScopeRule* rule : added) {
    if (absl::Status s = scope.Add(*rule); !s.ok()) return s;
  }
  MutexLock lock(&mu_);
  scope_ = std::make_shared<const Scope>(std::move(scope));
  return absl::OkStatus();
}

}  // namespace gannet::storage
