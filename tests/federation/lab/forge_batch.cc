// forge_batch DATA FROM: puts a batch into the crawl DB of a site that does not
// run, as if the site FROM had sent it, with 1,000 units of cash and no URL.
// Every invariant of that site still holds afterwards; only `federation verify`
// can find that FROM never sent it.
#include <fmt/format.h>

#include <cstdio>

#include "absl/time/clock.h"
#include "federation/map/map_check.h"
#include "proto/federation.pb.h"
#include "storage/crawl_db/crawl_db.h"

namespace gannet {
namespace {

absl::Status Forge(const std::string& data, const std::string& from) {
  storage::CrawlDbSettings settings;
  settings.folder = data + "/crawl_db";
  auto db = storage::CrawlDb::Open(settings);
  if (!db.ok()) return db.status();
  const auto note = (*db)->records().GetNote("map");
  if (!note.ok()) return note.status();
  proto::FederationMap map;
  if (!map.ParseFromString(*note)) return absl::DataLossError("no map");
  const proto::MapSite* site = federation::FindSite(map, from);
  if (site == nullptr) return absl::NotFoundError("no such site");

  storage::Delivery delivery;
  delivery.from = {storage::SiteId{site->id()}, site->incarnation()};
  const auto pair = (*db)->incoming().received_pair(delivery.from);
  if (!pair.ok()) return pair.status();
  delivery.sequence = pair->last() + 1;
  delivery.cash_so_far = pair->cash() + 1000;
  delivery.dropped.push_back({storage::kKnownAtItsOwner, 1000, 0});
  return (*db)->incoming().Receive(delivery, {absl::Now()}).status();
}

}  // namespace
}  // namespace gannet

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const absl::Status status = gannet::Forge(argv[1], argv[2]);
  if (!status.ok()) fmt::print(stderr, "{}\n", status.ToString());
  return status.ok() ? 0 : 1;
}
