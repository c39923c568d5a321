// PageSelection: which pages `gannet export` takes out (--state, --host,
// --since), and the walk over them in key order. Memory does not grow with the
// site. Not thread-safe.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "proto/crawl_db.pb.h"
#include "storage/crawl_db/crawl_db.h"

namespace gannet::sites {

class PageSelection {
 public:
  void AddFlags(CLI::App& command);

  // Reads the flags. kInvalidArgument says which is wrong.
  absl::Status Prepare(absl::Time now);

  // Until `visit` says false. REQUIRES: Prepare() was OK.
  absl::Status ForEach(
      storage::CrawlDb& db,
      const std::function<bool(std::string_view page,
                               const proto::PageRecord&)>& visit) const;

  bool has_state() const { return state_.has_value(); }
  // Canonical; empty: all hosts.
  const std::string& host() const { return host_; }
  // Visits before it are not wanted.
  absl::Time since() const { return since_; }

 private:
  std::string state_flag_, host_flag_, since_flag_;
  std::optional<proto::PageState> state_;
  std::string host_;
  absl::Time since_ = absl::InfinitePast();
};

}  // namespace gannet::sites
