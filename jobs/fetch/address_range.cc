#include "jobs/fetch/address_range.h"

#include <fmt/format.h>

#include "absl/strings/numbers.h"

namespace gannet::jobs {
namespace {

// The bytes of `address` with every bit from `prefix` on set to `value`.
std::array<uint8_t, 16> WithTail(const Address& address, int prefix,
                                 bool value) {
  std::array<uint8_t, 16> bytes = address.bytes();
  for (int bit = prefix; bit < 128; ++bit) {
    const auto mask = static_cast<uint8_t>(0x80 >> (bit % 8));
    uint8_t& byte = bytes[bit / 8];
    byte = static_cast<uint8_t>(value ? byte | mask : byte & ~mask);
  }
  return bytes;
}

}  // namespace

absl::StatusOr<AddressRange> AddressRange::Parse(std::string_view text) {
  const size_t slash = text.rfind('/');
  const std::optional<Address> address = Address::Parse(text.substr(0, slash));
  if (!address.has_value()) {
    return absl::InvalidArgumentError(
        fmt::format("\"{}\" is not a range of addresses; write one like "
                    "192.0.2.0/24, fd00::/64 or 192.0.2.1",
                    text));
  }
  // "::ffff:10.0.0.0/104" counts from the left of an IPv6 address though it
  // means an IPv4 one.
  const bool dotted = text.substr(0, slash).find(':') == text.npos;
  int prefix = 128;
  if (slash != text.npos) {
    const std::string_view digits = text.substr(slash + 1);
    const int most = dotted ? 32 : 128;
    if (digits.empty() || digits.size() > 3 ||
        digits.find_first_not_of("0123456789") != digits.npos ||
        !absl::SimpleAtoi(absl::string_view(digits.data(), digits.size()),
                          &prefix) ||
        prefix > most) {
      return absl::InvalidArgumentError(
          fmt::format("\"{}\": what follows the slash must be a number of bits "
                      "from 0 to {}",
                      text, most));
    }
    if (dotted) prefix += 96;
  }
  const Address first =
      Address::FromBytes(WithTail(*address, prefix, /*value=*/false));
  const AddressRange range(first, prefix);
  if (first != *address) {
    return absl::InvalidArgumentError(
        fmt::format("\"{}\" has bits set after its prefix; write {} if you "
                    "mean the range around it, {} if you mean the address",
                    text, range.ToString(), address->ToString()));
  }
  return range;
}

bool AddressRange::Contains(const Address& address) const {
  return address.is_ipv4() == is_ipv4() && first_ <= address &&
         address <= last();
}

Address AddressRange::last() const {
  return Address::FromBytes(WithTail(first_, prefix_, /*value=*/true));
}

std::string AddressRange::ToString() const {
  return fmt::format("{}/{}", first_.ToString(),
                     is_ipv4() ? prefix_ - 96 : prefix_);
}

}  // namespace gannet::jobs
