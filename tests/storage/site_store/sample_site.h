// A small site for tests: seeds, one round in which some are fetched and
// archived, and what it found.
#pragma once

#include "storage/site_store/site_store.h"

namespace gannet::storage {

PageKey SamplePage(int i);
std::string SampleUrl(int i);

// Injects `pages` seeds and fetches them in one round that is left open, so
// that every kind of row is there. Aborts if anything fails.
void CrawlSample(SiteStore& store, int pages);

}  // namespace gannet::storage
