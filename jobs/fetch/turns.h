// Turns says which host may be asked now. All politeness is here: one request
// at a time to a host, a delay after each answer, and the same once more for
// each address, because a thousand hosts may live on one machine.
//
//   Wants(host) ──► by time ──► by address ──► Next() ──► Answered(host)
//                                                 (busy)
//
// A host waits first for its own time, and only then stands in line for its
// address: a host in a long rest does not hold up its neighbours. Costs are
// logarithmic in the number of waiting hosts. Time comes in by argument. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <queue>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "jobs/fetch/address.h"

namespace gannet::jobs {

enum class HostId : uint32_t {};

class Turns {
 public:
  // No address is asked twice within `address_delay`; zero: addresses do not
  // matter (as when a test web lives on one).
  explicit Turns(absl::Duration address_delay)
      : address_delay_(address_delay) {}

  // A new host, not asked before `earliest`.
  HostId Add(absl::Duration delay, absl::Time earliest);
  void SetDelay(HostId host, absl::Duration delay);
  absl::Duration delay(HostId host) const { return At(host).delay; }
  absl::Duration address_delay() const { return address_delay_; }
  // REQUIRES: the host is neither waiting nor busy. An address that is new is
  // not asked before `earliest`.
  void SetAddress(HostId host, const Address& address, absl::Time earliest);
  // Not asked before `until`, if that is later than it would be.
  void Rest(HostId host, absl::Time until);
  // When it may be asked, if no other host of its address is before it.
  absl::Time NotBefore(HostId host) const { return At(host).not_before; }

  // The host has something to ask. REQUIRES: it is neither waiting nor busy.
  void Wants(HostId host);
  // A host that may be asked at once, if any; it is busy from now on.
  std::optional<HostId> Next(absl::Time now);
  // The last byte of its answer came, or the request was given up.
  void Answered(HostId host, absl::Time now);
  // The host got its turn but was asked nothing, so the turn does not count.
  void Passed(HostId host);

  // When Next() may return a host again, unless Answered() is called before.
  absl::Time NextTime() const;

 private:
  struct Host {
    absl::Duration delay;
    absl::Time not_before;
    int64_t address = -1;  // Index in addresses_.
    bool busy = false;
  };
  struct Machine {
    absl::Time not_before;
    bool busy = false;
    bool is_queued = false;  // In by_time_.
    std::deque<uint32_t> waiting;
  };
  // A host whose own time comes, or an address whose time comes.
  struct Entry {
    absl::Time time;
    uint64_t order;  // First come, first served.
    uint32_t index;
    bool is_address;
    bool operator>(const Entry& other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };

  Host& At(HostId host) { return hosts_[static_cast<uint32_t>(host)]; }
  const Host& At(HostId host) const {
    return hosts_[static_cast<uint32_t>(host)];
  }
  void Queue(absl::Time time, uint32_t index, bool is_address);
  void QueueAddress(uint32_t index);
  std::optional<uint32_t> NextOfAddress(uint32_t index, absl::Time now);

  const absl::Duration address_delay_;
  std::vector<Host> hosts_;
  std::vector<Machine> addresses_;
  absl::flat_hash_map<Address, uint32_t> address_index_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> by_time_;
  uint64_t order_ = 0;
};

}  // namespace gannet::jobs
