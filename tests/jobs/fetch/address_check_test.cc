#include "jobs/fetch/address_check.h"

#include <gtest/gtest.h>

namespace gannet::jobs {
namespace {

Address At(std::string_view text) { return Address::Parse(text).value(); }

// The name of what forbids it, or "".
std::string Why(std::string_view address,
                const AddressCheck& check = AddressCheck()) {
  return std::string(check.Refusal(At(address)).value_or(""));
}

struct Block {
  const char* name;
  const char* before;  // The address before the first...
  const char* first;
  const char* last;
  const char* after;        // ... and the one after the last.
  const char* before_name;  // What forbids these two, or "".
  const char* after_name;
};

// Written out by hand from the registries, so that a slip in the table of
// address_check.cc shows.
constexpr Block kBlocks[] = {
    {"this network", "0.0.0.0", "0.0.0.1", "0.255.255.255", "1.0.0.0",
     "unspecified", ""},
    {"private", "9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0", "",
     ""},
    {"carrier-grade NAT", "100.63.255.255", "100.64.0.0", "100.127.255.255",
     "100.128.0.0", "", ""},
    {"loopback", "126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0",
     "", ""},
    {"cloud metadata", "168.63.129.15", "168.63.129.16", "168.63.129.16",
     "168.63.129.17", "", ""},
    {"link-local", "169.253.255.255", "169.254.0.0", "169.254.255.255",
     "169.255.0.0", "", ""},
    {"cloud metadata", "169.254.169.253", "169.254.169.254", "169.254.169.254",
     "169.254.169.255", "link-local", "link-local"},
    {"cloud metadata", "169.254.170.1", "169.254.170.2", "169.254.170.2",
     "169.254.170.3", "link-local", "link-local"},
    {"cloud metadata", "169.254.170.22", "169.254.170.23", "169.254.170.23",
     "169.254.170.24", "link-local", "link-local"},
    {"cloud metadata", "100.100.100.199", "100.100.100.200", "100.100.100.200",
     "100.100.100.201", "carrier-grade NAT", "carrier-grade NAT"},
    {"private", "172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0",
     "", ""},
    {"protocol assignments", "191.255.255.255", "192.0.0.0", "192.0.0.255",
     "192.0.1.0", "", ""},
    {"cloud metadata", "192.0.0.191", "192.0.0.192", "192.0.0.192",
     "192.0.0.193", "protocol assignments", "protocol assignments"},
    {"documentation", "192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0",
     "", ""},
    {"6to4 relay", "192.88.98.255", "192.88.99.0", "192.88.99.255",
     "192.88.100.0", "", ""},
    {"private", "192.167.255.255", "192.168.0.0", "192.168.255.255",
     "192.169.0.0", "", ""},
    {"benchmarking", "198.17.255.255", "198.18.0.0", "198.19.255.255",
     "198.20.0.0", "", ""},
    {"documentation", "198.51.99.255", "198.51.100.0", "198.51.100.255",
     "198.51.101.0", "", ""},
    {"documentation", "203.0.112.255", "203.0.113.0", "203.0.113.255",
     "203.0.114.0", "", ""},
    {"multicast", "223.255.255.255", "224.0.0.0", "239.255.255.255",
     "240.0.0.0", "", "reserved"},
    {"reserved", "239.255.255.255", "240.0.0.0", "255.255.255.254",
     "255.255.255.255", "multicast", "broadcast"},

    {"loopback", "::", "::1", "::1", "::2", "unspecified",
     "IPv4-compatible form of a private address"},
    {"reserved", "::ffff:255.255.255.255", "::1:0:0:0",
     "64:ff9a:ffff::", "64:ff9b::8.8.8.8", "broadcast", ""},
    {"local NAT64", "64:ff9b:0:ffff:ffff:ffff:ffff:ffff",
     "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
     "64:ff9b:2::", "reserved", "reserved"},
    {"discard-only", "ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "100::",
     "100::ffff:ffff:ffff:ffff", "100:0:0:1::", "reserved", "dummy prefix"},
    {"dummy prefix", "100::ffff:ffff:ffff:ffff", "100:0:0:1::",
     "100::1:ffff:ffff:ffff:ffff", "100:0:0:2::", "discard-only", "reserved"},
    {"reserved", "100:0:0:1::", "100:0:0:2::",
     "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2000::", "dummy prefix", ""},
    {"protocol assignments", "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
     "2001:1::", "2001:1:ffff:ffff:ffff:ffff:ffff:ffff", "2001:2::", "",
     "benchmarking"},
    {"benchmarking", "2001:1:ffff:ffff:ffff:ffff:ffff:ffff",
     "2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff",
     "2001:2:1::", "protocol assignments", "protocol assignments"},
    {"protocol assignments", "2001:3:ffff:ffff:ffff:ffff:ffff:ffff",
     "2001:4::", "2001:4:111:ffff:ffff:ffff:ffff:ffff", "2001:4:112::", "", ""},
    {"protocol assignments", "2001:4:112:ffff:ffff:ffff:ffff:ffff",
     "2001:4:113::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::", "",
     ""},
    {"documentation", "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db8::",
     "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::", "", ""},
    {"documentation", "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
     "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::", "", ""},
    {"reserved", "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
     "4000::", "5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "5f00::", "",
     "segment routing"},
    {"segment routing", "5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
     "5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "5f01::", "reserved",
     "reserved"},
    {"unique local", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
     "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fe00::", "reserved",
     "reserved"},
    {"cloud metadata", "fd00:ec2::253", "fd00:ec2::254", "fd00:ec2::254",
     "fd00:ec2::255", "unique local", "unique local"},
    {"cloud metadata", "fd00:ec2::22", "fd00:ec2::23", "fd00:ec2::23",
     "fd00:ec2::24", "unique local", "unique local"},
    {"cloud metadata", "fd20:ce::253", "fd20:ce::254", "fd20:ce::254",
     "fd20:ce::255", "unique local", "unique local"},
    {"link-local", "fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
     "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fec0::", "reserved",
     "site-local"},
    {"site-local", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
     "fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
     "ff00::", "link-local", "multicast"},
    {"multicast", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
     "ff00::", "ff00::1", "ff02::1", "site-local", "multicast"},
};

// One more or less: the table's neighbours must really be neighbours.
Address Next(const Address& address) {
  std::array<uint8_t, 16> bytes = address.bytes();
  for (int i = 15; i >= 0 && ++bytes[i] == 0; --i) {
  }
  return Address::FromBytes(bytes);
}

TEST(AddressCheckTest, EveryBlockIsRefusedFromItsFirstToItsLastAddress) {
  for (const Block& block : kBlocks) {
    EXPECT_EQ(Why(block.first), block.name) << block.first;
    EXPECT_EQ(Why(block.last), block.name) << block.last;
    EXPECT_EQ(Why(block.before), block.before_name) << block.before;
    EXPECT_EQ(Why(block.after), block.after_name) << block.after;
  }
}

TEST(AddressCheckTest, TheIpv4TableOfThisTestHasNoGaps) {
  for (const Block& block : kBlocks) {
    if (!At(block.first).is_ipv4()) continue;
    EXPECT_EQ(Next(At(block.before)), At(block.first)) << block.first;
    EXPECT_EQ(Next(At(block.last)), At(block.after)) << block.last;
  }
}

TEST(AddressCheckTest, OrdinaryAddressesMayBeConnectedTo) {
  for (const char* address :
       {"8.8.8.8", "1.1.1.1", "192.31.196.1", "192.52.193.1", "192.175.48.1",
        "2606:2800:220:1:248:1893:25c8:1946", "2620:4f:8000::1", "2001:3::1",
        "2001:4:112::1", "2001:200::1"}) {
    EXPECT_EQ(Why(address), "") << address;
  }
}

TEST(AddressCheckTest, AMappedAddressIsTheIpv4Address) {
  EXPECT_EQ(Why("::ffff:127.0.0.1"), "loopback");
  EXPECT_EQ(Why("::ffff:a9fe:a9fe"), "cloud metadata");
  EXPECT_EQ(Why("::ffff:8.8.8.8"), "");
}

TEST(AddressCheckTest, AWrappedAddressIsJudgedByTheIpv4AddressInside) {
  EXPECT_EQ(Why("64:ff9b::127.0.0.1"), "NAT64 of a private address");
  EXPECT_EQ(Why("64:ff9b::8.8.8.8"), "");
  EXPECT_EQ(Why("2002:7f00:1::1"), "6to4 of a private address");
  EXPECT_EQ(Why("2002:a9fe:a9fe::1"), "6to4 of a private address");
  EXPECT_EQ(Why("2002:808:808::1"), "");
  EXPECT_EQ(Why("2003::1"), "");
  // Teredo: the server's address, then the client's with all bits turned.
  EXPECT_EQ(Why("2001:0:808:808:0:0:80ff:fffe"),
            "Teredo of a private address");  // 127.0.0.1.
  EXPECT_EQ(Why("2001:0:a00:1:0:0:f7f7:f7f7"), "Teredo of a private address");
  EXPECT_EQ(Why("2001:0:808:808:0:0:f7f7:f7f7"), "");
  EXPECT_EQ(Why("::127.0.0.1"), "IPv4-compatible form of a private address");
  EXPECT_EQ(Why("::8.8.8.8"), "reserved");
}

TEST(AddressCheckTest, AllowPrivateOpensOnesOwnNetworkAndNothingMore) {
  const AddressCheck check(/*allow_private=*/true);
  for (const char* address :
       {"127.0.0.1", "10.1.2.3", "169.254.1.1", "100.64.0.1", "192.0.2.1",
        "::1", "fd00::1", "fe80::1", "2001:db8::1", "64:ff9b::10.0.0.1"}) {
    EXPECT_EQ(Why(address, check), "") << address;
  }
  EXPECT_EQ(Why("169.254.169.254", check), "cloud metadata");
  EXPECT_EQ(Why("fd00:ec2::254", check), "cloud metadata");
  EXPECT_EQ(Why("0.0.0.0", check), "unspecified");
  EXPECT_EQ(Why("::", check), "unspecified");
  EXPECT_EQ(Why("224.0.0.1", check), "multicast");
  EXPECT_EQ(Why("255.255.255.255", check), "broadcast");
  EXPECT_EQ(Why("64:ff9b::169.254.169.254", check),
            "NAT64 of a private address");
}

TEST(AddressCheckTest, ANamedRangeIsOpenWhateverItHolds) {
  const AddressCheck check(
      /*allow_private=*/false,
      {AddressRange::Parse("127.0.0.0/30").value(),
       AddressRange::Parse("169.254.169.254").value()});
  EXPECT_EQ(Why("127.0.0.3", check), "");
  EXPECT_EQ(Why("127.0.0.4", check), "loopback");
  EXPECT_EQ(Why("169.254.169.254", check), "");
  EXPECT_EQ(Why("10.0.0.1", check), "private");
}

}  // namespace
}  // namespace gannet::jobs
