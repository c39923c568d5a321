#include "jobs/fetch/address_check.h"

#include <algorithm>
#include <utility>

namespace gannet::jobs {
namespace {

enum class Kind {
  kOwnNetwork,  // What allow_private opens.
  kNever,       // Opened only by naming it.
  kWrapsIpv4,   // Judged by the IPv4 addresses inside.
  kReachable,   // An exception from a wider block below.
};

struct Block {
  const char* range;
  std::string_view name;
  Kind kind;
};

// The first block that holds an address decides, so exceptions stand before
// what they are exceptions from.
//
// IANA IPv4 Special-Purpose Address Registry and IANA IPv6 Special-Purpose
// Address Registry (RFC 6890 and its successors): all entries that are not
// "globally reachable". Globally reachable and therefore absent or kReachable:
// AS112 (192.31.196.0/24, 192.175.48.0/24, 2620:4f:8000::/48,
// 2001:4:112::/48), AMT (192.52.193.0/24, 2001:3::/32). Reachable by the
// registry, but nothing that could be crawled, and so refused with the block
// around them: the anycast addresses in 192.0.0.0/24 and 2001:1::/32, ORCHIDv2
// and drone identifiers in 2001::/23.
constexpr Block kBlocks[] = {
    // Where clouds answer virtual machines' questions about themselves, keys
    // included.
    {"169.254.169.254/32", "cloud metadata", Kind::kNever},  // Most clouds.
    {"169.254.170.2/32", "cloud metadata", Kind::kNever},    // Amazon ECS.
    {"169.254.170.23/32", "cloud metadata", Kind::kNever},   // Amazon EKS.
    {"100.100.100.200/32", "cloud metadata", Kind::kNever},  // Alibaba.
    {"192.0.0.192/32", "cloud metadata", Kind::kNever},      // Oracle.
    {"168.63.129.16/32", "cloud metadata", Kind::kNever},    // Azure.
    {"fd00:ec2::254/128", "cloud metadata", Kind::kNever},   // Amazon.
    {"fd00:ec2::23/128", "cloud metadata", Kind::kNever},    // Amazon EKS.
    {"fd20:ce::254/128", "cloud metadata", Kind::kNever},    // Google.

    {"0.0.0.0/32", "unspecified", Kind::kNever},
    {"0.0.0.0/8", "this network", Kind::kNever},  // Linux: 0.x may be loopback.
    {"10.0.0.0/8", "private", Kind::kOwnNetwork},
    {"100.64.0.0/10", "carrier-grade NAT", Kind::kOwnNetwork},
    {"127.0.0.0/8", "loopback", Kind::kOwnNetwork},
    {"169.254.0.0/16", "link-local", Kind::kOwnNetwork},
    {"172.16.0.0/12", "private", Kind::kOwnNetwork},
    {"192.0.0.0/24", "protocol assignments", Kind::kNever},
    {"192.0.2.0/24", "documentation", Kind::kOwnNetwork},
    {"192.88.99.0/24", "6to4 relay", Kind::kNever},
    {"192.168.0.0/16", "private", Kind::kOwnNetwork},
    {"198.18.0.0/15", "benchmarking", Kind::kOwnNetwork},
    {"198.51.100.0/24", "documentation", Kind::kOwnNetwork},
    {"203.0.113.0/24", "documentation", Kind::kOwnNetwork},
    {"224.0.0.0/4", "multicast", Kind::kNever},
    {"255.255.255.255/32", "broadcast", Kind::kNever},
    {"240.0.0.0/4", "reserved", Kind::kNever},

    {"::/128", "unspecified", Kind::kNever},
    {"::1/128", "loopback", Kind::kOwnNetwork},
    {"::/96", "IPv4-compatible", Kind::kWrapsIpv4},
    {"64:ff9b::/96", "NAT64", Kind::kWrapsIpv4},
    {"64:ff9b:1::/48", "local NAT64", Kind::kNever},
    {"100::/64", "discard-only", Kind::kNever},
    {"100:0:0:1::/64", "dummy prefix", Kind::kNever},
    {"2001::/32", "Teredo", Kind::kWrapsIpv4},
    {"2001:2::/48", "benchmarking", Kind::kOwnNetwork},
    {"2001:3::/32", "AMT", Kind::kReachable},
    {"2001:4:112::/48", "AS112", Kind::kReachable},
    {"2001::/23", "protocol assignments", Kind::kNever},
    {"2001:db8::/32", "documentation", Kind::kOwnNetwork},
    {"2002::/16", "6to4", Kind::kWrapsIpv4},
    {"3fff::/20", "documentation", Kind::kOwnNetwork},
    {"5f00::/16", "segment routing", Kind::kNever},
    {"fc00::/7", "unique local", Kind::kOwnNetwork},
    {"fe80::/10", "link-local", Kind::kOwnNetwork},
    {"fec0::/10", "site-local", Kind::kOwnNetwork},  // Deprecated, not gone.
    {"ff00::/8", "multicast", Kind::kNever},
    // RFC 4291, 2.4: global unicast is assigned from 2000::/3 only.
    {"2000::/3", "global unicast", Kind::kReachable},
    {"::/0", "reserved", Kind::kNever},
};

struct ParsedBlock {
  AddressRange range;
  const Block* block;
};

const std::vector<ParsedBlock>& ParsedBlocks() {
  static const auto& blocks = *[] {
    auto* parsed = new std::vector<ParsedBlock>();
    for (const Block& block : kBlocks) {
      parsed->push_back({AddressRange::Parse(block.range).value(), &block});
    }
    return parsed;
  }();
  return blocks;
}

const Block* BlockOf(const Address& address) {
  for (const ParsedBlock& parsed : ParsedBlocks()) {
    if (parsed.range.Contains(address)) return parsed.block;
  }
  return nullptr;  // An ordinary IPv4 address.
}

// The IPv4 address in the four bytes at `at`; `invert` as Teredo hides them.
Address Ipv4At(const Address& address, int at, bool invert = false) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | address.bytes()[at + i];
  return Address::FromIpv4(invert ? ~value : value);
}

std::vector<Address> WrappedIn(std::string_view wrapper,
                               const Address& address) {
  if (wrapper == "6to4") return {Ipv4At(address, 2)};  // RFC 3056, 2.
  if (wrapper == "Teredo") {                           // RFC 4380, 4.
    return {Ipv4At(address, 4), Ipv4At(address, 12, /*invert=*/true)};
  }
  return {Ipv4At(address, 12)};  // RFC 6052, 2.2; RFC 4291, 2.5.5.1.
}

// Static names, because the refusal is a view.
std::string_view NameOfWrapped(std::string_view wrapper) {
  if (wrapper == "6to4") return "6to4 of a private address";
  if (wrapper == "Teredo") return "Teredo of a private address";
  if (wrapper == "NAT64") return "NAT64 of a private address";
  return "IPv4-compatible form of a private address";
}

}  // namespace

AddressCheck::AddressCheck(bool allow_private,
                           std::vector<AddressRange> allowed)
    : allow_private_(allow_private), allowed_(std::move(allowed)) {}

std::optional<std::string_view> AddressCheck::Refusal(
    const Address& address) const {
  for (const AddressRange& range : allowed_) {
    if (range.Contains(address)) return std::nullopt;
  }
  const Block* block = BlockOf(address);
  if (block == nullptr) return std::nullopt;
  switch (block->kind) {
    case Kind::kReachable:
      return std::nullopt;
    case Kind::kOwnNetwork:
      if (allow_private_) return std::nullopt;
      return block->name;
    case Kind::kNever:
      return block->name;
    case Kind::kWrapsIpv4:
      for (const Address& inner : WrappedIn(block->name, address)) {
        if (Refusal(inner).has_value()) return NameOfWrapped(block->name);
      }
      // Deprecated and routed nowhere, whatever is inside.
      if (block->name == "IPv4-compatible") return "reserved";
      return std::nullopt;
  }
  return "reserved";  // Not reached: all kinds are above.
}

}  // namespace gannet::jobs
