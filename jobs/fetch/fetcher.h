// Fetcher is the network half of a round's fetch phase, in one thread: it takes
// the fetch list host by host, gets each origin's robots.txt first, asks for
// pages politely (Turns) and hands the answers over. It does not deal with what
// becomes of an answer, only with what it says about the host: rests, failures,
// rules.
//
//   fetch list ─► hosts ─► robots.txt ─► turns ─► Network ─► Deliver
//
// Memory is bounded: by the fetch list (its keys), by the hosts of the round,
// by the limit of connections, by `max_undelivered` answers on their way, and
// by `rules_memory`. Each host may come with a robots.txt of 500 KiB; if the
// rules become too many, a host that has got its own is parked: it forgets them
// and takes them from the crawl DB when others are done.
//
// Not thread-safe but for Delivered(), BodyGone() and view().
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "jobs/fetch/address_check.h"
#include "jobs/fetch/committer.h"
#include "jobs/fetch/connect_to.h"
#include "jobs/fetch/connection_pace.h"
#include "jobs/fetch/download_request.h"
#include "jobs/fetch/host_state.h"
#include "jobs/fetch/network.h"
#include "jobs/fetch/page_task.h"
#include "jobs/fetch/resolver.h"
#include "jobs/fetch/turns.h"
#include "storage/clock.h"
#include "storage/crawl_db/crawl_db.h"
#include "storage/url/filter.h"
#include "storage/url/scope.h"

namespace gannet::jobs {

struct FetchSettings {
  std::string agent = "gannet";  // robots.txt's name for us.
  DownloadSettings download;
  ResolverSettings resolver;
  bool allow_private = false;
  std::vector<AddressRange> allowed_addresses;
  // No contact is configured, so only loopback may be crawled.
  bool loopback_only = false;
  std::optional<ConnectTo> connect_to;

  absl::Duration delay = absl::Seconds(1);
  // In a federation other sites may ask the same address, for big hosting
  // companies serve hosts of every site: the delay of an address is multiplied
  // by the number of sites.
  bool share_addresses = true;
  absl::Duration max_crawl_delay = absl::Seconds(60);
  size_t connections = 500;
  int64_t bandwidth = 0;  // Bytes a second, of all; 0: no limit.
  size_t max_bytes = 10 << 20;

  absl::Duration robots_lifetime = absl::Hours(24);
  // Of rules that say no because robots.txt could not be had.
  absl::Duration closed_lifetime = absl::Hours(1);
  // The first rest of a host that is busy or unreachable; doubles each time.
  absl::Duration rest = absl::Minutes(1);
  absl::Duration max_rest = absl::Hours(24);
  // A rest this short is waited for within the round; for a longer one the
  // host's pages go back to the frontier.
  absl::Duration patience = absl::Seconds(10);
  // After so many failures in a row the host is left alone for a while.
  uint32_t failures_to_rest = 3;

  // Answers on their way to the disk, in pages and bytes of body.
  size_t max_undelivered = 1024;
  size_t max_undelivered_bytes = 256 << 20;
  // Memory for the rules of all hosts that are being asked; further hosts wait.
  size_t rules_memory = 128 << 20;
  // What known pages are judged by once more before they are asked for, for it
  // may have changed since they were found. Null: by their scope only.
  const storage::UrlFilter* filter = nullptr;

  // If so many hosts in a row cannot be reached, the cause is this machine.
  int unreachable_to_stop = 100;
  // When a stop is asked for, requests under way get so long to end.
  absl::Duration stop_grace = absl::Seconds(3);
};

// Why `address` may not be connected to ("loopback", ...). One that the
// operator named in `connect_to` may.
std::optional<std::string_view> Refusal(const FetchSettings& settings,
                                        const AddressCheck& check,
                                        const Address& address);

// Where to connect to for `url`.
uint16_t PortFor(const FetchSettings& settings, const storage::Url& url);

struct FetchView {
  int64_t hosts_active = 0;
  int64_t connections = 0;
  int64_t bytes = 0;
  // How late the network thread is, was at most, and for how long it held back
  // new connections, because of that or for want of sockets.
  absl::Duration lag;
  absl::Duration max_lag;
  absl::Duration held_back;
};

class Fetcher {
 public:
  // An answer on its way; Delivered() says that it has arrived.
  using Deliver = std::function<void(Answer answer)>;

  // `sites` crawl at the same time, this one included. `seed` is of the jitter
  // in waits. What is borrowed must outlive this.
  Fetcher(FetchSettings settings, size_t sites, storage::Clock& clock,
          std::unique_ptr<Network> network, uint64_t seed,
          storage::CrawlDb* crawl_db, Committer* committer, Deliver deliver);

  // Fetches the open round's pages until none is left, `deadline` comes (what
  // is left is then released) or `stop` is set (what is left stays in the
  // round). Returns when nothing is under way but answers that were delivered.
  // `broken` ends it the same way: the page workers or the committer have
  // failed. `is_over`, if any, is asked in each turn of the loop; true counts
  // as the deadline.
  absl::Status Run(absl::Time deadline, const std::atomic<bool>& stop,
                   const std::atomic<bool>& broken,
                   const std::function<bool()>& is_over = {});

  // From any thread: so many pages are on the disk;
  void Delivered(size_t pages);
  // the body of an answer, so many bytes, is no longer in memory.
  void BodyGone(size_t bytes);
  FetchView view() const;

 private:
  struct Flight {
    uint32_t host = 0;
    PageTask task;
    storage::Url url;
    std::unique_ptr<RobotsQuest> quest;  // Null: a page.
  };

  // fetcher.cc
  absl::Status LoadFetchList();
  bool MayAsk(absl::Time now) const;
  void Ask(uint32_t host);
  void AskPage(HostState& host, uint32_t index);
  void OnResponse(uint64_t id, Response response);
  void OnPage(Flight flight, Response response);
  void NoSocket(const std::string& why, absl::Time now);
  void EndRound(bool release);
  absl::Duration TimeToNext(absl::Time now, absl::Time end) const;

  // fetcher_hosts.cc
  uint32_t HostOf(std::string_view name, storage::HostKey key);
  absl::Status Load(HostState& host);
  void Advance(uint32_t index);
  // Why the page is not asked for any more; `nullopt`: it is.
  std::optional<std::string_view> Unwanted(const storage::Url& url) const;
  // Completes the first page of the host without asking for it.
  void BlockFirst(HostState& state, std::string_view reason, absl::Time until);
  void WantTurn(uint32_t index);
  void Resolve(uint32_t index);
  void ResolveAgain(absl::Time now);
  void OnAddresses(uint32_t index, const Addresses& addresses);
  void FailAll(uint32_t index, Failure failure, const std::string& detail);
  void RestHost(uint32_t index, absl::Duration rest);
  void ReleasePages(uint32_t index);
  void DropBlocked();
  bool IsBlocked(const HostState& state) const;
  void GiveUpQuests(uint32_t index,
                    std::deque<std::unique_ptr<RobotsQuest>> quests);
  bool HasTooManyOrigins(const HostState& host, const storage::Url& url) const;
  void Retire(HostState& host);
  void ForgetRules(HostState& host);
  bool ShouldPark(const HostState& host) const;
  void Park(uint32_t index);
  void ActivateMore();
  void CountRules(HostState& host);
  void CouldNotBeReached(HostState& host);
  void SaveHost(HostState& host);
  absl::Duration NextRest(const HostState& host);
  std::optional<std::string_view> RefusalOf(const Address& address) const {
    return Refusal(settings_, address_check_, address);
  }

  // fetcher_robots.cc
  void AskRobots(HostState& host, uint32_t index,
                 std::unique_ptr<RobotsQuest> quest);
  void OnRobots(uint32_t asked, std::unique_ptr<RobotsQuest> quest,
                Response response);
  // Rules that say no are kept for `at_least`.
  void EndQuest(const RobotsQuest& quest, uint32_t status, std::string text,
                absl::Duration at_least = absl::ZeroDuration());
  OriginRules& RulesFor(HostState& host, const storage::Url& url);

  HostState& host(uint32_t index) { return *hosts_[index]; }

  const FetchSettings settings_;
  storage::Clock& clock_;
  storage::CrawlDb* const crawl_db_;
  Committer* const committer_;
  const Deliver deliver_;
  const AddressCheck address_check_;

  Turns turns_;
  ConnectionPace pace_;
  std::mt19937_64 random_;
  absl::Time started_;
  absl::Time deadline_;
  std::vector<std::unique_ptr<HostState>> hosts_;
  absl::flat_hash_map<std::string, uint32_t> host_index_;  // By key.
  absl::flat_hash_map<uint64_t, Flight> flights_;
  uint64_t next_flight_ = 0;
  int64_t pages_left_ = 0;       // In queues.
  uint64_t block_changes_ = 0;   // Of the block list that was applied.
  size_t next_dormant_ = 0;      // Hosts from here on were not taken up yet.
  std::deque<uint32_t> parked_;  // Hosts.
  // Hosts whose names could not be asked for, in kResolving.
  std::deque<uint32_t> without_socket_;
  int64_t active_hosts_ = 0;
  size_t rules_bytes_ = 0;
  int unreachable_hosts_ = 0;  // Since a host answered.
  uint64_t answers_ = 0;
  absl::Time bandwidth_free_at_ = absl::InfinitePast();
  bool ending_ = false;
  bool release_on_end_ = false;
  absl::Status error_;

  std::atomic<int64_t> undelivered_ = 0;
  std::atomic<int64_t> undelivered_bytes_ = 0;
  std::atomic<int64_t> view_hosts_ = 0;
  std::atomic<int64_t> view_connections_ = 0;
  std::atomic<int64_t> view_bytes_ = 0;
  std::atomic<int64_t> view_lag_us_ = 0;
  std::atomic<int64_t> view_max_lag_us_ = 0;
  std::atomic<int64_t> view_held_back_us_ = 0;

  // Last, so that it goes first: what it calls back for is still there.
  const std::unique_ptr<Network> network_;
};

}  // namespace gannet::jobs
