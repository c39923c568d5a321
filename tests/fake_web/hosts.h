// The hosts of a fake web: names, how many pages each has, and which share a
// registrable domain. Sizes follow a power law (Zipf, exponent 0.9) and add up
// to the pages asked for. Memory is some 100 bytes per host and nothing per
// page. Immutable after Create, so thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tests/fake_web/web_options.h"

namespace gannet::fake_web {

class Hosts {
 public:
  // REQUIRES: Validate(options) is ok.
  explicit Hosts(const WebOptions& options);
  Hosts(const Hosts&) = delete;
  Hosts& operator=(const Hosts&) = delete;

  static constexpr uint32_t kNoHost = ~uint32_t{0};

  uint32_t count() const { return static_cast<uint32_t>(sizes_.size()); }
  std::string_view Name(uint32_t host) const {
    return std::string_view(names_).substr(
        name_starts_[host], name_starts_[host + 1] - name_starts_[host]);
  }
  // `name` may be in any case, with or without a port. kNoHost if there is no
  // such host.
  uint32_t Find(std::string_view name) const;

  uint32_t Pages(uint32_t host) const { return sizes_[host]; }
  // Pages are numbered through the whole web: host 0's, then host 1's, ...
  uint64_t FirstPage(uint32_t host) const { return first_pages_[host]; }
  uint32_t HostOfPage(uint64_t page) const;
  uint64_t pages() const { return first_pages_.back(); }

  // The host with the r-th most pages.
  uint32_t ByRank(uint32_t rank) const { return by_rank_[rank]; }
  // Hosts of one registrable domain have the same number.
  uint32_t Domain(uint32_t host) const;

 private:
  void MakeNames(const WebOptions& options);
  void MakeSizes(const WebOptions& options);
  // Position of `host` within its domain's hosts.
  uint32_t PositionInDomain(uint32_t host) const { return host - Domain(host); }

  const uint64_t seed_;
  std::string names_;  // All names, one after another.
  std::vector<uint64_t> name_starts_;
  absl::flat_hash_map<std::string_view, uint32_t> by_name_;  // Into names_.
  std::vector<uint32_t> sizes_;
  std::vector<uint64_t> first_pages_;  // One more than hosts.
  std::vector<uint32_t> by_rank_;
};

}  // namespace gannet::fake_web
