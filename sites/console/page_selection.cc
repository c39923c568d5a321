#include "sites/console/page_selection.h"

#include <fmt/format.h>

#include "sites/console/names.h"

namespace gannet::sites {

void PageSelection::AddFlags(CLI::App& command) {
  command
      .add_option("--state", state_flag_,
                  "only pages whose last outcome is this: new, fetched, moved, "
                  "gone, failed, blocked")
      ->type_name("S");
  command.add_option("--host", host_flag_, "only pages of this host")
      ->type_name("H");
  command
      .add_option("--since", since_flag_,
                  "only pages visited since: 2026-01-31, "
                  "2026-01-31T23:59:59Z, or 24h for a day ago")
      ->type_name("TIME");
}

absl::Status PageSelection::Prepare(absl::Time now) {
  if (!state_flag_.empty()) {
    state_ = StateOf(state_flag_);
    if (!state_.has_value()) {
      return absl::InvalidArgumentError(
          fmt::format("--state: found '{}', allowed is new, fetched, moved, "
                      "gone, failed or blocked",
                      state_flag_));
    }
  }
  if (!host_flag_.empty()) {
    absl::StatusOr<std::string> host = CanonicalHost(host_flag_);
    if (!host.ok()) return host.status();
    host_ = *host;
  }
  if (!since_flag_.empty()) {
    absl::StatusOr<absl::Time> since = ParseTime(since_flag_, now);
    if (!since.ok()) return since.status();
    since_ = *since;
  }
  return absl::OkStatus();
}

absl::Status PageSelection::ForEach(
    storage::CrawlDb& db,
    const std::function<bool(std::string_view page, const proto::PageRecord&)>&
        visit) const {
  const std::string prefix = host_.empty() ? "" : KeyOfHost(host_).bytes;
  const int64_t since_ms =
      since_ == absl::InfinitePast() ? 0 : absl::ToUnixMillis(since_);
  return db.ScanPages(
      {prefix}, [&](std::string_view page, const proto::PageRecord& record) {
        if (!page.starts_with(prefix)) return false;
        if (state_.has_value() && record.state() != *state_) return true;
        if (since_ms > 0 && record.visited_ms() < since_ms) return true;
        return visit(page, record);
      });
}

}  // namespace gannet::sites
