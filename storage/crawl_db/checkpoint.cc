// Copies of a crawl DB.
#include <memory>
#include <random>

#include "storage/crawl_db/crawl_db.h"
#include "storage/crawl_db/data_folder.h"
#include "storage/crawl_db/store.h"

namespace gannet::storage {

absl::Status CrawlDb::Checkpoint(const std::string& to) {
  absl::Status copied = store_->engine().Checkpoint(to);
  if (!copied.ok()) return copied;
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
  edit.PutMessage(Column::kMeta, keys::kIdentity, *identity);
  // Who sends to this life begins at batch 1 (sending.cc).
  const std::string prefix = keys::ReceivedPrefix();
  const auto it = store_->Scan(Column::kMeta, prefix);
  for (it->Seek(prefix); it->Valid(); it->Next()) {
    edit.Delete(Column::kMeta, it->key());
  }
  if (!it->status().ok()) return it->status();
  return store_->Commit(edit, /*sync=*/true);
}

}  // namespace gannet::storage
