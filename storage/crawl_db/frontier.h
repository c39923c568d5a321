// Frontier is what generate reads: the pages that are ready, best first, and
// the schedule of those that become ready. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "storage/crawl_db/keys.h"

namespace gannet::storage {

class Store;

struct FrontierPage {
  PageKey page;
  uint8_t step = 0;
};

// Whether the pages of a host may be fetched; an empty one says yes to all.
using HostFilter = std::function<bool(std::string_view host)>;

struct FrontierSample {
  uint64_t score = 0;
  uint32_t depth = 0;
  double stands_for = 1;
};

struct Selection {
  std::vector<FrontierPage> pages;  // Best first.
  // Pages that stood in the way though their hosts rest; Claim puts them aside.
  std::vector<FrontierPage> resting;
};

// What a crawl would have to wait for.
struct Later {
  int64_t retries = 0;  // Pages that failed and are to be tried again.
  std::optional<absl::Time> next_retry;
  int64_t resting_hosts = 0;
  std::optional<absl::Time> next_rest_end, last_rest_end;
  HostKey last_host;       // Rests longest.
  bool is_counted = true;  // False: there are more than were looked at.
};

class Frontier {
 public:
  explicit Frontier(Store& store) : store_(store) {}

  // The best `width` pages of hosts that do not rest, at most `per_host` of one
  // host, the open round's pages counted in. Changes nothing. Costs the width
  // (essay in frontier.cc), and the hosts that it steps over because
  // `may_crawl` forbids them; it is asked once for each host.
  absl::StatusOr<Selection> Top(size_t width, size_t per_host,
                                const HostFilter& may_crawl = {});
  // Moves pages from the frontier to the open round's fetch list. A page that
  // has moved since Top saw it is left out. Returns how many were taken.
  // REQUIRES: `selection` is Top's, in its order.
  absl::StatusOr<int64_t> Claim(const Selection& selection);
  // Gives pages of the open round back to the frontier, with their cash.
  absl::Status Release(absl::Span<const PageKey> pages);
  // Moves what is due from the schedule to the frontier: at most `most` pages,
  // and as many that were put aside while their hosts rested, at most
  // `per_host` of one host. Returns how many.
  absl::StatusOr<int64_t> WakeDue(absl::Time now, int64_t most,
                                  int64_t per_host);
  // Puts aside what Top found in its way, as Claim does; at any time.
  absl::Status PutAside(const Selection& selection);
  // At most some `most` pages of the frontier, spread over all of it, and how
  // many each stands for. Costs `most`; the weights are estimates.
  absl::StatusOr<std::vector<FrontierSample>> SampleFrontier(size_t most);
  // When the next page is due, or the next host of which pages stand aside, if
  // any.
  absl::StatusOr<std::optional<absl::Time>> NextDue();
  // Looks at the first `most` pages of the schedule, and as many hosts.
  absl::StatusOr<Later> CountLater(size_t most);

 private:
  Store& store_;
};

}  // namespace gannet::storage
