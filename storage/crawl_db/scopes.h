// Scopes keeps the rules that seeds came with, and answers what is in scope
// (storage/url/scope.h). A rule is written before its seed, so a kill between
// the two leaves a rule without a seed, which wants no page that nobody finds.
// Thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/crawl_db.pb.h"
#include "storage/mutex.h"
#include "storage/url/scope.h"

namespace gannet::storage {

class Store;

// kInvalidArgument if the message's kind is none of ours.
absl::StatusOr<ScopeRule> FromMessage(const proto::ScopeRule& message);
proto::ScopeRule ToMessage(const ScopeRule& rule);

class Scopes {
 public:
  explicit Scopes(Store& store) : store_(store) {}

  // What is in force; never null. It stays as it is while the caller has it.
  std::shared_ptr<const Scope> scope() const ABSL_LOCKS_EXCLUDED(mu_);
  // Sorted: seeds, then what is allowed, then what is denied.
  absl::StatusOr<std::vector<ScopeRule>> Rules();

  // The rule that the seed has, if any.
  absl::StatusOr<std::optional<ScopeRule>> RuleOfSeed(std::string_view seed);

  // Adds rules, each instead of the one that its seed (or name) had. Seeds that
  // came earlier without a rule keep their scope, which is everything.
  // kInvalidArgument: nothing was added.
  absl::Status Put(absl::Span<const ScopeRule> rules)
      ABSL_LOCKS_EXCLUDED(change_mu_, mu_);
  // The rules of that seed or name. kNotFound: there is none.
  // kFailedPrecondition: it is the last of a seed, which would open the scope.
  absl::Status Remove(std::string_view name)
      ABSL_LOCKS_EXCLUDED(change_mu_, mu_);
  // These instead of all.
  absl::Status Replace(absl::Span<const ScopeRule> rules)
      ABSL_LOCKS_EXCLUDED(change_mu_, mu_);

  // For Open().
  absl::Status Load() ABSL_LOCKS_EXCLUDED(change_mu_, mu_);

 private:
  // REQUIRES: all rules are good.
  absl::Status Change(absl::Span<const ScopeRule> put,
                      absl::Span<const ScopeRule> removed)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mu_) ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status Reload() ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mu_)
      ABSL_LOCKS_EXCLUDED(mu_);

  Store& store_;
  Mutex change_mu_;  // Held while rows and memory change.
  mutable Mutex mu_;
  std::shared_ptr<const Scope> scope_ ABSL_GUARDED_BY(mu_) =
      std::make_shared<const Scope>();
};

}  // namespace gannet::storage
