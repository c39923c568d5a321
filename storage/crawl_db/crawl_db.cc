#include "storage/crawl_db/crawl_db.h"

#include "storage/crawl_db/store.h"

namespace gannet::storage {

CrawlDb::CrawlDb(std::unique_ptr<Store> store) : store_(std::move(store)) {}
CrawlDb::~CrawlDb() = default;

absl::StatusOr<std::unique_ptr<CrawlDb>> CrawlDb::Finish(
    absl::StatusOr<std::unique_ptr<Store>> store) {
  if (!store.ok()) return store.status();
  std::unique_ptr<CrawlDb> crawl_db(new CrawlDb(*std::move(store)));
  if (absl::Status s = crawl_db->FinishBlocks(); !s.ok()) return s;
  return crawl_db;
}

absl::StatusOr<std::unique_ptr<CrawlDb>> CrawlDb::Open(
    const CrawlDbSettings& settings) {
  return Finish(Store::Open(settings.folder,
                            {.block_cache_bytes = settings.block_cache_bytes,
                             .write_buffer_bytes = settings.write_buffer_bytes},
                            settings.order));
}

absl::StatusOr<std::unique_ptr<CrawlDb>> CrawlDb::OpenOn(
    std::unique_ptr<OrderedStore> engine, std::optional<Order> order) {
  return Finish(Store::OpenOn(std::move(engine), order));
}

Order CrawlDb::order() const { return store_->order(); }

}  // namespace gannet::storage
