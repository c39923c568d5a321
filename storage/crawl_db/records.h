// Records is single records, read and written: pages, hosts, the site's
// identity, the archive's open files, and small notes that others keep here.
// Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/crawl_db.pb.h"
#include "storage/crawl_db/found_url.h"
#include "storage/crawl_db/keys.h"

namespace gannet::storage {

class Store;

class Records {
 public:
  explicit Records(Store& store) : store_(store) {}

  absl::StatusOr<proto::PageRecord> GetPage(const PageKey& page);
  // Records of sorted, distinct pages; nullopt for unknown ones.
  absl::StatusOr<std::vector<std::optional<proto::PageRecord>>> GetPages(
      absl::Span<const PageKey> pages);
  // In key order from `from` on, until `visit` says false.
  absl::Status ScanPages(
      const PageKey& from,
      const std::function<bool(std::string_view page,
                               const proto::PageRecord&)>& visit);
  // Removes a page from all columns that hold known pages; its cash goes to the
  // root. A link that is found later, or waits deferred, may bring it back.
  absl::Status Forget(const PageKey& page);
  absl::StatusOr<proto::HostRecord> GetHost(const HostKey& host);
  // Every host that has pages or a record, in key order from `from` on, until
  // `visit` says false.
  absl::Status ScanHosts(
      const HostKey& from,
      const std::function<bool(std::string_view host, int64_t pages,
                               const proto::HostRecord&)>& visit);
  absl::StatusOr<int64_t> HostPages(const HostKey& host);
  absl::Status PutHost(const HostUpdate& update);
  absl::StatusOr<proto::ArchiveState> archive_state();
  absl::StatusOr<proto::SiteIdentity> identity();
  // The same, synced: what may be told to other sites.
  absl::StatusOr<proto::SiteIdentity> PromisedIdentity();
  absl::Status SetIdentity(const proto::SiteIdentity& identity);

  // Small values that other rooms keep here, by name: the federation's map, for
  // example. kNotFound if there is none of that name.
  absl::StatusOr<std::string> GetNote(std::string_view name);
  // Synced.
  absl::Status PutNote(std::string_view name, std::string_view bytes);

 private:
  Store& store_;
};

}  // namespace gannet::storage
