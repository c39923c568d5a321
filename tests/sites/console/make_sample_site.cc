// make_sample_site DIR: a small site that console tests look at.
#include "tests/storage/site_store/sample_site.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  gannet::storage::SiteStoreSettings settings;
  settings.folder = argv[1];
  settings.create = true;
  auto store = gannet::storage::SiteStore::Open(settings,
                                                gannet::storage::SystemClock());
  if (!store.ok()) return 1;
  gannet::storage::CrawlSample(**store, 20);
}
