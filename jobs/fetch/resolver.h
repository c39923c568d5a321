// Resolver turns host names into addresses by c-ares, driven by an EventLoop in
// the fetcher's thread: Debian's libcurl would start a thread for each look-up
// (getaddrinfo), and knows no TTLs. Names in /etc/hosts and localhost are
// answered from there, as c-ares does.
//
// A name is asked for IPv4 first, and for IPv6 only if it has none: half the
// queries, and most of the web has both. The answer is kept as long as the
// smallest TTL in it (CNAMEs too) says, within bounds.
//
// Not thread-safe: everything happens in the thread of its EventLoop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "jobs/fetch/address.h"
#include "jobs/fetch/dns_cache.h"
#include "jobs/fetch/event_loop.h"
#include "jobs/fetch/network.h"
#include "jobs/fetch/token_bucket.h"

struct ares_channeldata;
struct ares_addrinfo;

namespace gannet::jobs {

struct ResolverSettings {
  // "192.0.2.1", "192.0.2.1:5353", "[2001:db8::1]:53"; empty: the system's.
  std::vector<std::string> servers;
  // 0: no limit. A query that c-ares repeats counts once.
  int queries_per_second = 0;
  // Of the first try; each further one waits twice as long.
  absl::Duration timeout = absl::Seconds(5);
  int tries = 2;  // Per server.
  // TTLs of a few seconds serve load balancers; a crawler comes back later.
  absl::Duration min_ttl = absl::Seconds(30);
  absl::Duration max_ttl = absl::Hours(24);
  // Of names that do not exist.
  absl::Duration negative_ttl = absl::Seconds(60);
  size_t max_cached_names = 100'000;
  // Ask for IPv6 where there is no IPv4.
  bool ipv6 = true;
  int max_in_flight = 100;  // Names over this wait their turn.
};

class Resolver {
 public:
  using Result = Addresses;
  using Done = Network::Resolved;

  // kInvalidArgument names the setting that is wrong. `loop` must outlive it.
  static absl::StatusOr<std::unique_ptr<Resolver>> Create(
      ResolverSettings settings, EventLoop* loop);
  // Names still asked for are forgotten: their `done` is not called.
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // Calls `done` once: at once if `host` is an address, known, or in
  // /etc/hosts. A name that is being asked for already is not asked for again.
  // `done` may call Resolve(), but must not destroy the resolver.
  void Resolve(std::string_view host, Done done);

  // When OnTime() should be called at the latest: a query may have timed out,
  // or a waiting one may go. InfiniteFuture() if nothing is under way.
  absl::Time NextTimeout() const;
  void OnTime();

  // Counted since the start, for reports.
  struct Counts {
    int64_t queries = 0;  // A name asked for A and AAAA counts twice.
    int64_t cached = 0;
    int64_t not_found = 0;
    int64_t unavailable = 0;
  };
  const Counts& counts() const { return counts_; }
  // Names asked for and not answered yet.
  size_t pending() const { return asked_.size(); }

 private:
  struct Query;  // What c-ares hands back to us.

  Resolver(ResolverSettings settings, EventLoop* loop);
  absl::Time SteadyNow() const { return loop_->clock().SteadyNow(); }
  void StartWaiting();
  void Ask(const std::string& host, int family);
  static void SetSocketFunctions(Resolver* resolver);
  void OnAnswer(const Query& query, int status, ares_addrinfo* answer);
  void Finish(const std::string& host, const Result& result,
              absl::Duration keep);
  void WatchSocket(int fd, bool readable, bool writable);

  const ResolverSettings settings_;
  EventLoop* const loop_;
  ares_channeldata* channel_ = nullptr;
  bool ending_ = false;

  DnsCache cache_;
  TokenBucket tokens_;
  // By name: who waits for it.
  absl::flat_hash_map<std::string, std::vector<Done>> asked_;
  struct Waiting {
    std::string host;
    int family;
  };
  std::deque<Waiting> waiting_;  // Subset of asked_: not yet sent.
  int in_flight_ = 0;
  bool starting_ = false;
  uint64_t shortages_ = 0;  // Sockets that were not to be had here.
  Counts counts_;
};

}  // namespace gannet::jobs
