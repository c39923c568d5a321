#include "jobs/fetch/turns.h"

#include <algorithm>

namespace gannet::jobs {

HostId Turns::Add(absl::Duration delay, absl::Time earliest) {
  hosts_.push_back({.delay = delay, .not_before = earliest});
  return HostId{static_cast<uint32_t>(hosts_.size() - 1)};
}

void Turns::SetDelay(HostId host, absl::Duration delay) {
  At(host).delay = delay;
}

void Turns::SetAddress(HostId host, const Address& address,
                       absl::Time earliest) {
  if (address_delay_ <= absl::ZeroDuration()) return;
  const auto [it, is_new] = address_index_.try_emplace(
      address, static_cast<uint32_t>(addresses_.size()));
  if (is_new) {
    addresses_.emplace_back();
    addresses_.back().not_before = earliest;
  }
  At(host).address = it->second;
}

void Turns::Rest(HostId host, absl::Time until) {
  At(host).not_before = std::max(At(host).not_before, until);
}

void Turns::Queue(absl::Time time, uint32_t index, bool is_address) {
  by_time_.push({time, order_++, index, is_address});
}

void Turns::QueueAddress(uint32_t index) {
  Machine& address = addresses_[index];
  if (address.busy || address.is_queued || address.waiting.empty()) return;
  address.is_queued = true;
  Queue(address.not_before, index, /*is_address=*/true);
}

void Turns::Wants(HostId host) {
  Queue(At(host).not_before, static_cast<uint32_t>(host),
        /*is_address=*/false);
}

// The first of the line whose own time has come too: it may have been told to
// rest while it stood there.
std::optional<uint32_t> Turns::NextOfAddress(uint32_t index, absl::Time now) {
  Machine& address = addresses_[index];
  while (!address.waiting.empty()) {
    const uint32_t host = address.waiting.front();
    address.waiting.pop_front();
    if (hosts_[host].not_before <= now) return host;
    Queue(hosts_[host].not_before, host, /*is_address=*/false);
  }
  return std::nullopt;
}

std::optional<HostId> Turns::Next(absl::Time now) {
  while (!by_time_.empty() && by_time_.top().time <= now) {
    const Entry entry = by_time_.top();
    by_time_.pop();
    std::optional<uint32_t> host;
    if (entry.is_address) {
      Machine& address = addresses_[entry.index];
      address.is_queued = false;
      if (address.busy) continue;
      if (address.not_before > now) {
        QueueAddress(entry.index);
        continue;
      }
      host = NextOfAddress(entry.index, now);
      if (!host.has_value()) continue;
      address.busy = true;
    } else {
      Host& waiting = hosts_[entry.index];
      if (waiting.not_before > now) {
        Queue(waiting.not_before, entry.index, /*is_address=*/false);
        continue;
      }
      if (waiting.address >= 0) {
        // In line, behind those who came before.
        const auto index = static_cast<uint32_t>(waiting.address);
        addresses_[index].waiting.push_back(entry.index);
        QueueAddress(index);
        continue;
      }
      host = entry.index;
    }
    hosts_[*host].busy = true;
    return HostId{*host};
  }
  return std::nullopt;
}

void Turns::Answered(HostId id, absl::Time now) {
  Host& host = At(id);
  if (!host.busy) return;
  host.busy = false;
  host.not_before = std::max(host.not_before, now + host.delay);
  if (host.address < 0) return;
  Machine& address = addresses_[host.address];
  address.busy = false;
  address.not_before = std::max(address.not_before, now + address_delay_);
  QueueAddress(static_cast<uint32_t>(host.address));
}

void Turns::Passed(HostId id) {
  Host& host = At(id);
  if (!host.busy) return;
  host.busy = false;
  if (host.address < 0) return;
  addresses_[host.address].busy = false;
  QueueAddress(static_cast<uint32_t>(host.address));
}

absl::Time Turns::NextTime() const {
  return by_time_.empty() ? absl::InfiniteFuture() : by_time_.top().time;
}

}  // namespace gannet::jobs
