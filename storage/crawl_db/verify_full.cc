// The full check: every column once, in order (verify.cc has the idea).
#include <fmt/format.h>

#include "storage/crawl_db/verifier.h"
#include "storage/engine/count.h"

namespace gannet::storage {

absl::Status Verifier::ScanPages() {
  std::string host;
  int64_t pages_of_host = 0;
  proto::PageRecord record;
  const auto close_host = [&] {
    if (pages_of_host > 0) hosts_wanted_.Add(host, pages_of_host);
  };
  absl::Status status = Scan(Column::kPages, "", [&](auto page, auto value) {
    if (!record.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
      return absl::DataLossError(
          fmt::format("the record of {} cannot be decoded", Readable(page)));
    }
    if (look_ && !look_(page, record)) looked_fine_ = false;
    counted_.pages += record.cash();
    if (!proto::PageState_IsValid(record.state())) {
      return absl::DataLossError(fmt::format("{} has the unknown state {}",
                                             Readable(page), record.state()));
    }
    ++counted_.pages_by_state[record.state()];
    if (record.place() == proto::SCHEDULED) {
      schedule_wanted_.Add(page, record.ready_ms());
    } else if (record.place() == proto::FINISHED) {
      ++counted_.finished_pages;
    } else if (fetch_list_.contains(std::string(page))) {
      ++in_round_;
    } else {
      frontier_wanted_.Add(page, store_.StepOf(page, record));
    }
    const std::string_view page_host = HostPartOf(page);
    if (page_host != host) {
      close_host();
      host = page_host;
      pages_of_host = 0;
    }
    ++pages_of_host;
    return absl::OkStatus();
  });
  close_host();
  return status;
}

absl::Status Verifier::ScanIndexes() {
  int64_t ready_ms = 0;
  absl::Status status = Scan(Column::kSchedule, "", [&](auto key, auto) {
    std::string_view target;
    if (!keys::ParseSchedule(key, ready_ms, target)) {
      return absl::DataLossError("a row of the schedule cannot be decoded");
    }
    if (key[0] == 'p') {
      schedule_found_.Add(target, ready_ms);
    } else {
      rests_found_.Add(target, ready_ms);
      resting_hosts_.emplace(target);
    }
    return absl::OkStatus();
  });
  if (!status.ok()) return status;

  int64_t lost_aside = 0;
  uint8_t step = 0;
  status = Scan(Column::kFrontier, "", [&](auto key, auto) {
    std::string_view page;
    std::string aside;
    if (keys::ParseActiveFrontier(key, step, page)) {
      frontier_found_.Add(page, step);
    } else if (keys::ParseRestingFrontier(key, step, aside)) {
      frontier_found_.Add(aside, step);
      // Nothing would ever bring it back.
      if (!resting_hosts_.contains(std::string(HostPartOf(aside)))) {
        ++lost_aside;
      }
    } else {
      return absl::DataLossError("a row of the frontier cannot be decoded");
    }
    return absl::OkStatus();
  });
  if (!status.ok()) return status;

  proto::HostRecord host;
  status = Scan(Column::kHosts, "", [&](auto key, auto value) {
    const std::string_view name = key.substr(0, key.size() - 1);
    if (key.ends_with('n')) {
      const int64_t pages = DecodeCount(value);
      if (pages != 0) hosts_found_.Add(name, pages);
      return absl::OkStatus();
    }
    if (!host.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
      return absl::DataLossError("a host's record cannot be decoded");
    }
    if (host.rest_until_ms() != 0)
      rests_wanted_.Add(name, host.rest_until_ms());
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  Compare("I1 pages set aside for good", lost_aside, 0);
  Report("I1 every rest has its end", rests_wanted_ == rests_found_,
         fmt::format("{} hosts rest, {} in the schedule", rests_wanted_.rows,
                     rests_found_.rows));
  return absl::OkStatus();
}

absl::Status Verifier::ScanWaiting() {
  RowSum by_page, by_cash;
  proto::FoundUrl url;
  const auto parse = [](auto& message, std::string_view value) {
    return message.ParseFromArray(value.data(), static_cast<int>(value.size()))
               ? absl::OkStatus()
               : absl::DataLossError("a waiting URL cannot be decoded");
  };
  absl::Status status = Scan(Column::kDeferred, "u", [&](auto key, auto value) {
    if (absl::Status status = parse(url, value); !status.ok()) return status;
    by_page.Add(key.substr(1), url.cash());
    counted_.deferred += url.cash();
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  status = Scan(Column::kDeferred, "c", [&](auto key, auto) {
    int64_t cash = 0;
    std::string_view page;
    if (!keys::ParseDeferredByCash(key, cash, page)) {
      return absl::DataLossError("a row of deferred cannot be decoded");
    }
    by_cash.Add(page, cash);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  Compare("I4 deferred URLs", by_page.rows, booked_.deferred_urls);
  Report("I4 index of deferred URLs", by_page == by_cash,
         fmt::format("{} URLs, {} in the index", by_page.rows, by_cash.rows));
  Compare("I3 cash of deferred URLs", counted_.deferred, booked_.deferred);

  proto::OutboxBatch batch;
  status = Scan(Column::kOutbox, "", [&](auto key, auto value) {
    SiteId site{};
    std::string_view rest;
    if (!keys::ParseOutbox(key, site, rest)) {
      return absl::DataLossError("a row of the outbox cannot be decoded");
    }
    int64_t& urls = counted_.outbox_urls[site];
    if (key[0] != 's') {
      if (absl::Status status = parse(url, value); !status.ok()) return status;
      counted_.outbox += url.cash();
      ++urls;
    } else {
      if (absl::Status status = parse(batch, value); !status.ok()) {
        return status;
      }
      for (const auto& sent : batch.urls()) counted_.outbox += sent.cash();
      for (const auto& moved : batch.pages()) {
        counted_.outbox += moved.record().cash();
      }
      urls += batch.urls_size() + batch.pages_size();
    }
    // A batch that only says "complete" is of no URL.
    if (urls == 0) counted_.outbox_urls.erase(site);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  Report("I4 URLs in outboxes", counted_.outbox_urls == booked_.outbox_urls,
         fmt::format("{} sites", counted_.outbox_urls.size()));
  Compare("I3 cash of outboxes", counted_.outbox, booked_.outbox);
  return absl::OkStatus();
}

absl::Status Verifier::NameMisplaced(std::string& detail) {
  size_t named = 0;
  proto::PageRecord record;
  return Scan(Column::kPages, "", [&](auto page, auto value) {
    std::string why;
    record.ParseFromArray(value.data(), static_cast<int>(value.size()));
    if (named >= kMostNamed) return absl::OkStatus();
    absl::Status status = Misplaced(page, record, why);
    if (!why.empty()) {
      detail += "; " + why;
      ++named;
    }
    return status;
  });
}

absl::Status Verifier::Full() {
  for (absl::Status status : {ScanPages(), ScanIndexes(), ScanWaiting()}) {
    if (!status.ok()) return status;
  }
  const bool placed = frontier_wanted_ == frontier_found_ &&
                      schedule_wanted_ == schedule_found_ &&
                      in_round_ == static_cast<int64_t>(fetch_list_.size());
  std::string detail = fmt::format(
      "{} in the frontier (rows {}), {} scheduled (rows {}), {} in the open "
      "round (rows {}), {} finished",
      frontier_wanted_.rows, frontier_found_.rows, schedule_wanted_.rows,
      schedule_found_.rows, in_round_, fetch_list_.size(),
      counted_.finished_pages);
  if (!placed) {
    if (absl::Status status = NameMisplaced(detail); !status.ok()) {
      return status;
    }
  }
  Report("I1 every page in exactly one place", placed, std::move(detail));
  Compare("pages in the frontier", frontier_found_.rows,
          booked_.frontier_pages);
  Compare("pages in the schedule", schedule_found_.rows,
          booked_.scheduled_pages);
  Compare("finished pages", counted_.finished_pages, booked_.finished_pages);
  Report("pages by state", counted_.pages_by_state == booked_.pages_by_state,
         fmt::format("{} known, {} booked", counted_.KnownPages(),
                     booked_.KnownPages()));
  Report("pages by host", hosts_wanted_ == hosts_found_,
         fmt::format("{} hosts, {} booked", hosts_wanted_.rows,
                     hosts_found_.rows));
  Compare("I3 cash of pages", counted_.pages, booked_.pages);
  return absl::OkStatus();
}

}  // namespace gannet::storage
