#include "federation/exchange/batch_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "federation/exchange/varint.h"
#include "federation/exchange/zstd_frame.h"

namespace gannet::federation {
namespace {

using storage::FoundUrl;
using storage::PageKey;
using ::testing::HasSubstr;

constexpr BatchLimits kLimits;
constexpr BatchCompression kPlain{.zstd = false};
constexpr int64_t kMostCash = std::numeric_limits<int64_t>::max();

PageKey Page(const std::string& url) {
  return storage::PageKeyOf(storage::Url::Parse(url).value());
}

bool Same(const std::vector<FoundUrl>& a, const std::vector<FoundUrl>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const FoundUrl& x, const FoundUrl& y) {
                      return x.page == y.page && x.cash == y.cash &&
                             x.depth == y.depth && x.redirects == y.redirects;
                    });
}

// A list such as rounds produce: some hosts, pages whose paths begin alike,
// cash from nothing to a seed's.
std::vector<FoundUrl> RandomUrls(size_t count, std::mt19937_64& random) {
  std::set<PageKey> pages;
  while (pages.size() < count) {
    static constexpr const char* kHosts[] = {
        "https://www.example.com", "http://example.co.uk",
        "http://127.0.0.1:8080",   "http://[2001:db8::1]",
        "http://a,b.c)d.example",  "https://shop.someone.github.io",
        "http://localhost",        "http://xn--caf-dma.example"};
    std::string url = kHosts[random() % std::size(kHosts)];
    if (random() % 3 == 0)
      url = "http://d" + std::to_string(random() % 500) + ".example";
    url += '/';
    for (auto n = random() % 4; n > 0; --n) {
      url += "directory" + std::to_string(random() % 9) + "/";
    }
    if (random() % 4 == 0) url += "?q=" + std::to_string(random());
    if (random() % 9 == 0) url += "x%00y";
    pages.insert(Page(url));
  }
  std::vector<FoundUrl> urls;
  int64_t left = kMostCash;
  for (const PageKey& page : pages) {
    const int64_t cash =
        std::min(left, static_cast<int64_t>(random() >> (1 + random() % 63)));
    left -= cash;
    urls.push_back({page, random() % 4 == 0 ? 0 : cash,
                    static_cast<uint32_t>(random() >> (32 + random() % 32)),
                    static_cast<uint32_t>(random() % 6)});
  }
  return urls;
}

proto::OutboxBatch OutboxOf(const std::vector<FoundUrl>& urls) {
  proto::OutboxBatch batch;
  for (const FoundUrl& url : urls) {
    proto::FoundUrl& out = *batch.add_urls();
    out.set_page(url.page.bytes);
    out.set_cash(url.cash);
    out.set_depth(url.depth);
    out.set_redirects(url.redirects);
  }
  return batch;
}

// The columns in the format that the header shows, without any checks.
std::string Columns(uint64_t count, const std::vector<uint64_t>& shared,
                    const std::vector<std::string>& rests,
                    const std::vector<uint64_t>& cash,
                    const std::vector<uint64_t>& depths,
                    const std::vector<uint64_t>& redirects) {
  std::string bytes;
  AppendVarint(count, bytes);
  for (const uint64_t n : shared) AppendVarint(n, bytes);
  for (const std::string& rest : rests) bytes += rest + '\0';
  for (const uint64_t n : cash) AppendVarint(n, bytes);
  for (const uint64_t n : depths) AppendVarint(n, bytes);
  for (const uint64_t n : redirects) AppendVarint(n, bytes);
  return bytes;
}

std::string Plain(const std::string& columns) {
  return std::string("\x01\x00", 2) + columns;
}

std::string ErrorOf(const std::string& bytes,
                    const BatchLimits& limits = kLimits) {
  const auto urls = DecodeBatch(bytes, limits);
  EXPECT_EQ(urls.status().code(), absl::StatusCode::kInvalidArgument)
      << urls.status();
  return std::string(urls.status().message());
}

TEST(BatchCodecTest, TheFormatIsTheOneInTheHeader) {
  const std::vector<FoundUrl> urls = {
      {Page("http://example.com/a"), 300, 2, 0},
      {Page("http://example.com/about"), 300, 2, 0}};
  ASSERT_EQ(urls[0].page.bytes,
            "\x8b"
            "com,example,)http/a");
  const std::string wanted = Plain(Columns(
      2, {0, 19}, {"com,example,)http/a", "bout"}, {300, 300}, {2, 2}, {0, 0}));
  EXPECT_EQ(EncodeBatch(urls, kPlain).value(), wanted);
  EXPECT_EQ(wanted.size(), 2 + 1 + 2 + 25 + 4 + 2 + 2u);
  EXPECT_TRUE(Same(DecodeBatch(wanted, kLimits).value(), urls));
}

TEST(BatchCodecTest, EveryListComesBack) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 300; ++trial) {
    const std::vector<FoundUrl> urls = RandomUrls(random() % 200, random);
    for (const BatchCompression& compression :
         {kPlain, BatchCompression{.zstd = true, .level = 1},
          BatchCompression{}}) {
      const auto bytes = EncodeBatch(urls, compression);
      ASSERT_TRUE(bytes.ok()) << bytes.status();
      const auto again = DecodeBatch(*bytes, kLimits);
      ASSERT_TRUE(again.ok()) << again.status();
      ASSERT_TRUE(Same(*again, urls));
    }
  }
}

TEST(BatchCodecTest, AnOutboxIsWrittenAsTheSameBytes) {
  std::mt19937_64 random(1);
  const std::vector<FoundUrl> urls = RandomUrls(100, random);
  EXPECT_EQ(EncodeBatch(OutboxOf(urls)).value(), EncodeBatch(urls).value());
}

TEST(BatchCodecTest, CompressionIsLeftOutWhereItDoesNotPay) {
  EXPECT_EQ(EncodeBatch(std::vector<FoundUrl>{}).value(),
            Plain(Columns(0, {}, {}, {}, {}, {})));
  std::mt19937_64 random(1);
  const std::vector<FoundUrl> urls = RandomUrls(1000, random);
  const std::string packed = EncodeBatch(urls).value();
  EXPECT_EQ(packed[1], 1);
  EXPECT_LT(packed.size(), EncodeBatch(urls, kPlain).value().size());
}

TEST(BatchCodecTest, AnInvalidListIsNotWritten) {
  const PageKey a = Page("http://example.com/a");
  const PageKey b = Page("http://example.com/b");
  const auto error = [](const std::vector<FoundUrl>& urls) {
    const auto bytes = EncodeBatch(urls);
    EXPECT_EQ(bytes.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(bytes.status().message());
  };
  EXPECT_THAT(error({{b}, {a}}), HasSubstr("URL 2 of a batch: its key"));
  EXPECT_THAT(error({{a}, {a}}), HasSubstr("is not greater"));
  EXPECT_THAT(error({{a, -1}}), HasSubstr("below 0"));
  EXPECT_THAT(error({{a, kMostCash}, {b, 1}}), HasSubstr("63 bits"));
  EXPECT_TRUE(
      EncodeBatch(std::vector<FoundUrl>{{a, kMostCash - 1}, {b, 1}}).ok());
  EXPECT_THAT(error({{PageKey{""}}}), HasSubstr("not a SURT key"));
  EXPECT_THAT(error({{PageKey{"xcom,example,)ftp/"}}}),
              HasSubstr("not a SURT key"));
}

// The public suffix list may change while URLs wait for their site.
TEST(BatchCodecTest, KeysWithTheBucketsOfAnotherListAreMadeAnew) {
  std::mt19937_64 random(3);
  const std::vector<FoundUrl> urls = RandomUrls(300, random);
  const std::string expected = EncodeBatch(urls).value();
  std::vector<FoundUrl> old = urls;
  for (FoundUrl& url : old) {
    // Changes some domains only, and all URLs of such a domain alike.
    if (url.page.bytes[0] % 3 == 0) url.page.bytes[0] ^= 0x55;
  }
  std::sort(old.begin(), old.end(), [](const FoundUrl& a, const FoundUrl& b) {
    return a.page < b.page;
  });
  EXPECT_EQ(EncodeBatch(old).value(), expected);
  EXPECT_EQ(EncodeBatch(OutboxOf(old)).value(), expected);
}

TEST(BatchCodecTest, AUrlThatWasFoundBeforeAndAfterAChangeOfTheListIsOne) {
  const PageKey page = Page("http://example.com/a");
  PageKey old = page;
  --old.bytes[0];
  const auto bytes =
      EncodeBatch(std::vector<FoundUrl>{{old, 30, 3, 1}, {page, 12, 2, 2}});
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(*bytes,
            EncodeBatch(std::vector<FoundUrl>{{page, 42, 2, 1}}).value());
}

TEST(BatchCodecTest, RefusesOtherVersionsAndCompressions) {
  const auto code = [](std::string_view bytes) {
    return DecodeBatch(bytes, kLimits).status().code();
  };
  EXPECT_EQ(code(std::string_view("\x02\x00\x00", 3)),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(code(std::string_view("\x01\x02\x00", 3)),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(code(""), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code("\x01"), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code("\x01\x01not zstd"), absl::StatusCode::kInvalidArgument);
}

TEST(BatchCodecTest, SaysWhatIsWrongWithABatch) {
  const std::string a = "com,example,)http/a";
  const auto one = [](const std::string& rest, uint64_t shared = 0) {
    return Plain(Columns(1, {shared}, {rest}, {1}, {1}, {1}));
  };
  const auto two = [&](uint64_t shared, const std::string& rest) {
    return Plain(Columns(2, {0, shared}, {a, rest}, {1, 1}, {1, 1}, {1, 1}));
  };
  ASSERT_TRUE(DecodeBatch(one(a), kLimits).ok());
  ASSERT_TRUE(DecodeBatch(two(18, "b"), kLimits).ok());

  EXPECT_THAT(ErrorOf(Plain("")), HasSubstr("number of URLs is missing"));
  EXPECT_THAT(ErrorOf(Plain("\xff\xff\x05")),
              HasSubstr("more URLs than its bytes"));
  EXPECT_THAT(ErrorOf(one(a, 1)),
              HasSubstr("shares more bytes than the key before"));
  EXPECT_THAT(ErrorOf(two(20, "b")),
              HasSubstr("URL 2: shares more bytes than the key"));
  EXPECT_THAT(ErrorOf(two(17, "ab")), HasSubstr("not a SURT key"));
  EXPECT_THAT(ErrorOf(two(17, "/b")),
              HasSubstr("shares more bytes than it says"));
  EXPECT_THAT(ErrorOf(two(19, "")), HasSubstr("no bytes of its own"));
  EXPECT_THAT(ErrorOf(two(18, "A")), HasSubstr("is not greater"));
  EXPECT_THAT(ErrorOf(one("com,example,)gopher/")),
              HasSubstr("not a SURT key"));
  EXPECT_THAT(ErrorOf(one("no url at all")), HasSubstr("not a SURT key"));
  EXPECT_THAT(ErrorOf(one("com,example,)http/\x01")),
              HasSubstr("not a SURT key"));
  EXPECT_THAT(ErrorOf(Plain(Columns(1, {0}, {}, {}, {}, {}) + a)),
              HasSubstr("key without end"));
  EXPECT_THAT(ErrorOf(one(a) + "x"), HasSubstr("after the last column"));

  const uint64_t half = uint64_t{1} << 62;
  EXPECT_THAT(ErrorOf(Plain(Columns(1, {0}, {a}, {2 * half}, {1}, {1}))),
              HasSubstr("63 bits"));
  EXPECT_THAT(ErrorOf(Plain(
                  Columns(2, {0, 18}, {a, "b"}, {half, half}, {1, 1}, {1, 1}))),
              HasSubstr("URL 2: cash is missing, or the sum"));
  const uint64_t above = uint64_t{1} << 32;
  EXPECT_THAT(ErrorOf(Plain(Columns(1, {0}, {a}, {1}, {above}, {1}))),
              HasSubstr("depth is missing"));
  EXPECT_THAT(ErrorOf(Plain(Columns(1, {0}, {a}, {1}, {1}, {above}))),
              HasSubstr("redirects is missing"));
}

// The keys are in the order of the domains' names instead of their buckets.
TEST(BatchCodecTest, RefusesDomainsInAnotherOrderThanTheirBuckets) {
  std::vector<PageKey> pages = {Page("http://a.example/"),
                                Page("http://b.example/")};
  std::sort(pages.begin(), pages.end());
  const std::string first(storage::SurtOf(pages[0].bytes));
  const std::string second(storage::SurtOf(pages[1].bytes));
  const auto batch = [](const std::string& x, const std::string& y) {
    return Plain(Columns(2, {0, 8}, {x, y.substr(8)}, {1, 1}, {1, 1}, {1, 1}));
  };
  EXPECT_TRUE(DecodeBatch(batch(first, second), kLimits).ok());
  EXPECT_THAT(ErrorOf(batch(second, first)), HasSubstr("is not greater"));
}

TEST(BatchCodecTest, TakesWhatIsWithinTheLimitsAndNothingBeyond) {
  std::mt19937_64 random(1);
  const std::vector<FoundUrl> urls = RandomUrls(500, random);
  size_t longest = 0, all = 0;
  for (const FoundUrl& url : urls) {
    longest = std::max(longest, url.page.bytes.size());
    all += url.page.bytes.size();
  }
  for (const BatchCompression& compression : {kPlain, BatchCompression{}}) {
    const std::string bytes = EncodeBatch(urls, compression).value();
    const auto code = [&](const BatchLimits& limits) {
      return DecodeBatch(bytes, limits).status().code();
    };
    const BatchLimits just{.urls = 500, .bytes = all, .key_bytes = longest};
    EXPECT_EQ(code(just), absl::StatusCode::kOk);
    BatchLimits limits = just;
    limits.urls = 499;
    EXPECT_EQ(code(limits), absl::StatusCode::kResourceExhausted);
    limits = just;
    limits.bytes = all - 1;
    EXPECT_EQ(code(limits), absl::StatusCode::kResourceExhausted);
    limits.bytes = 100;  // Less than the columns.
    EXPECT_NE(code(limits), absl::StatusCode::kOk);
    limits = just;
    limits.key_bytes = longest - 1;
    EXPECT_EQ(code(limits), absl::StatusCode::kResourceExhausted);
  }
}

TEST(BatchCodecTest, ColumnsCountAsBytesEvenWhereKeysAreFew) {
  const std::string bytes =
      EncodeBatch(std::vector<FoundUrl>{{Page("http://example.com/a")}}, kPlain)
          .value();
  const size_t columns = bytes.size() - 2;
  EXPECT_TRUE(DecodeBatch(bytes, {.bytes = columns}).ok());
  EXPECT_EQ(DecodeBatch(bytes, {.bytes = columns - 1}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

// Shared beginnings multiply: these 60 KB would become 100 MB of keys.
TEST(BatchCodecTest, ABatchThatUnpacksToFarTooMuchIsStopped) {
  const std::string first = "com,example,)http/" + std::string(10'000, 'a');
  std::vector<uint64_t> shared = {0}, ones = {1};
  std::vector<std::string> rests = {first};
  for (int i = 1; i < 10'000; ++i) {
    shared.push_back(first.size() + (i == 1 ? 0 : i - 1));
    rests.push_back("b");
    ones.push_back(1);
  }
  const std::string columns =
      Columns(ones.size(), shared, rests, ones, ones, ones);
  const BatchLimits limits{
      .urls = 10'000, .bytes = 1 << 20, .key_bytes = 32 << 10};
  for (const std::string& bytes :
       {Plain(columns), std::string("\x01\x01") + CompressZstd(columns, 9)}) {
    EXPECT_LT(bytes.size(), 100'000u);
    EXPECT_EQ(DecodeBatch(bytes, limits).status().code(),
              absl::StatusCode::kResourceExhausted);
  }
}

// However a batch is changed, decoding gives an error or another valid list.
TEST(BatchCodecTest, MutatedBatchesAreRefusedOrMeanAValidList) {
  std::mt19937_64 random(1);
  int refused = 0, taken = 0;
  for (int trial = 0; trial < 10'000; ++trial) {
    const std::vector<FoundUrl> urls = RandomUrls(1 + random() % 8, random);
    std::string bytes =
        EncodeBatch(urls, {.zstd = trial % 4 == 0, .level = 1}).value();
    for (auto n = 1 + random() % 3; n > 0 && !bytes.empty(); --n) {
      const size_t at = random() % bytes.size();
      switch (random() % 4) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
          break;
        case 2:
          bytes.erase(at, 1 + random() % 8);
          break;
        case 3:
          bytes.insert(at, bytes.substr(random() % bytes.size(), 4));
          break;
      }
    }
    const auto read = DecodeBatch(bytes, kLimits);
    if (!read.ok()) {
      ++refused;
      continue;
    }
    ++taken;
    // Encoding checks that the list is valid.
    const auto again = EncodeBatch(*read, kPlain);
    ASSERT_TRUE(again.ok()) << again.status();
    if (bytes[1] == 0) {
      ASSERT_EQ(*again, bytes);  // A list has exactly one encoding.
    }
  }
  EXPECT_GT(refused, 2500);
  EXPECT_GT(taken, 250);
}

}  // namespace
}  // namespace gannet::federation
