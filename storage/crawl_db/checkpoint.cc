// Copies of a crawl DB.
#include <rocksdb/utilities/checkpoint.h>

#include <memory>
#include <random>

#include "storage/crawl_db/crawl_db.h"
#include "storage/crawl_db/data_folder.h"
#include "storage/crawl_db/store.h"

namespace gannet::storage {

absl::Status CrawlDb::Checkpoint(const std::string& to) {
  rocksdb::Checkpoint* made = nullptr;
  rocksdb::Status created = rocksdb::Checkpoint::Create(&store_->db(), &made);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  // What is in memory is written out first, so the copy needs no log.
  if (created.ok()) created = checkpoint->CreateCheckpoint(to);
  if (!created.ok()) return FromRocksDb(created, "copying the crawl DB");
  return MarkFormat(to);
}

absl::Status CrawlDb::Reincarnate() {
  // A batch between the two would bring the old life's number into the new one.
  MutexLock nothing_is_received(&receive_mu_);
  absl::StatusOr<proto::SiteIdentity> identity = this->identity();
  if (!identity.ok()) return identity.status();
  std::random_device random;
  identity->set_incarnation(uint64_t{random()} << 32 | random());
  Edit edit;
  store_->PutMessage(edit, Column::kMeta, keys::kIdentity, *identity);
  // Who sends to this life begins at batch 1 (sending.cc).
  const std::string prefix = keys::ReceivedPrefix();
  std::unique_ptr<rocksdb::Iterator> it(store_->db().NewIterator(
      rocksdb::ReadOptions(), store_->column(Column::kMeta)));
  for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix);
       it->Next()) {
    edit.batch.Delete(store_->column(Column::kMeta), it->key());
  }
  if (!it->status().ok()) return FromRocksDb(it->status(), "reading the meta");
  return store_->Commit(edit, /*sync=*/true);
}

}  // namespace gannet::storage
