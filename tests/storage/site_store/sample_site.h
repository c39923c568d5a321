// A small site for tests: seeds, one round in which some are fetched and
// archived, and what it found.
#pragma once

#include <functional>
#include <string>

#include "storage/site_store/site_store.h"

namespace gannet::storage {

PageKey SamplePage(int i);
std::string SampleUrl(int i);

// Injects `pages` seeds and fetches them in one round that is left open, so
// that every kind of row is there. Aborts if anything fails.
void CrawlSample(SiteStore& store, int pages);

// Goes on where a killed process stopped: finishes the round that is open, or
// runs one with the seeds `first` .. `first + pages - 1`. Each page is a group
// commit of its own; `committed` is called after each.
void CrawlSampleRound(SiteStore& store, int first, int pages,
                      const std::function<void()>& committed);

}  // namespace gannet::storage
