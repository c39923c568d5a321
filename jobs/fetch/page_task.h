// A page of the open round on its way through fetch and parse. Plain data.
#pragma once

#include <cstdint>
#include <memory>

#include "jobs/fetch/response.h"
#include "proto/crawl_db.pb.h"
#include "storage/crawl_db/keys.h"
#include "storage/url/url.h"

namespace gannet::jobs {

struct PageTask {
  storage::PageKey page;
  uint32_t depth = 0;      // Links from the nearest seed.
  uint32_t redirects = 0;  // In a row, that led here.
  // Of a page that was asked for before; null for a new one, as most are.
  std::unique_ptr<proto::PageRecord> earlier;

  uint32_t retries() const { return earlier ? earlier->retries() : 0; }
};

struct Answer {
  PageTask task;
  storage::Url url;
  Response response;
  absl::Time ended;
};

}  // namespace gannet::jobs
