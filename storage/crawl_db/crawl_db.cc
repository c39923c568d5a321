#include "storage/crawl_db/crawl_db.h"

#include "storage/crawl_db/data_folder.h"
#include "storage/crawl_db/store.h"

namespace gannet::storage {

CrawlDb::CrawlDb(std::unique_ptr<Store> store)
    : store_(std::move(store)),
      frontier_(*store_),
      round_(*store_),
      waiting_(*store_),
      outgoing_(*store_),
      incoming_(*store_),
      moves_(*store_),
      records_(*store_),
      blocks_(*store_),
      scopes_(*store_),
      checks_(*store_) {}
CrawlDb::~CrawlDb() = default;

absl::StatusOr<std::unique_ptr<CrawlDb>> CrawlDb::Finish(
    absl::StatusOr<std::unique_ptr<Store>> store) {
  if (!store.ok()) return store.status();
  std::unique_ptr<CrawlDb> crawl_db(new CrawlDb(*std::move(store)));
  if (absl::Status s = crawl_db->blocks().Finish(); !s.ok()) return s;
  if (absl::Status s = crawl_db->scopes().Load(); !s.ok()) return s;
  return crawl_db;
}

absl::StatusOr<std::unique_ptr<CrawlDb>> CrawlDb::Open(
    const CrawlDbSettings& settings) {
  return Finish(Store::Open(settings.folder,
                            {.block_cache_bytes = settings.block_cache_bytes,
                             .write_buffer_bytes = settings.write_buffer_bytes,
                             .max_open_files = settings.max_open_files},
                            settings.order));
}

absl::StatusOr<std::unique_ptr<CrawlDb>> CrawlDb::OpenOn(
    std::unique_ptr<OrderedStore> engine, std::optional<Order> order) {
  return Finish(Store::OpenOn(std::move(engine), order));
}

Totals CrawlDb::totals() const { return store_->totals(); }
Order CrawlDb::order() const { return store_->order(); }
absl::Status CrawlDb::broken() const { return store_->broken(); }

absl::Status CrawlDb::Checkpoint(const std::string& to) {
  absl::Status copied = store_->engine().Checkpoint(to);
  if (!copied.ok()) return copied;
  return MarkFormat(to);
}

}  // namespace gannet::storage
