#include "federation/member/move_estimate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "absl/time/clock.h"
#include "federation/exchange/moved_codec.h"
#include "storage/url/url.h"
#include "tests/temporary_folder.h"

namespace gannet::federation {
namespace {

class MoveEstimateTest : public testing::Test {
 protected:
  MoveEstimateTest() {
    db_ = storage::CrawlDb::Open({.folder = folder_.path()}).value();
  }

  void Inject(const std::vector<std::string>& urls) {
    std::vector<storage::PageKey> pages;
    for (const std::string& url : urls) {
      pages.push_back(storage::PageKeyOf(storage::Url::Parse(url).value()));
    }
    ASSERT_TRUE(db_->incoming().Inject(pages, absl::Now()).ok());
  }
  std::string Random(size_t length) {
    std::string text;
    for (; length > 0; --length) {
      text += static_cast<char>('a' + random_() % 26);
    }
    return text;
  }
  // What the estimate says of all that is there, and what it is.
  double Guess() {
    MoveEstimate estimate(*db_);
    int64_t all = 0;
    EXPECT_TRUE(db_->records()
                    .ScanHosts({},
                               [&](std::string_view host, int64_t pages,
                                   const proto::HostRecord&) {
                                 estimate.Add(host, pages);
                                 all += pages;
                                 return true;
                               })
                    .ok());
    const auto per_byte = estimate.PerByteNow();
    EXPECT_TRUE(per_byte.ok()) << per_byte.status();
    return static_cast<double>(all) * per_byte->bytes_of_page *
           per_byte->compressed;
  }
  double Truth() {
    double bytes = 0;
    proto::OutboxBatch batch;
    const auto send = [&] {
      bytes += static_cast<double>(EncodeMoved(batch).size());
      batch.Clear();
    };
    EXPECT_TRUE(db_->records()
                    .ScanPages({},
                               [&](std::string_view page,
                                   const proto::PageRecord& record) {
                                 auto& moved = *batch.add_pages();
                                 moved.set_page(std::string(page));
                                 *moved.mutable_record() = record;
                                 if (batch.pages_size() == 1000) send();
                                 return true;
                               })
                    .ok());
    send();
    return bytes;
  }

  TemporaryFolder folder_;
  std::unique_ptr<storage::CrawlDb> db_;
  std::mt19937 random_{7};
};

TEST_F(MoveEstimateTest, ASiteWithoutPagesHasNoBytes) { EXPECT_EQ(Guess(), 0); }

// The keys' first byte is the domain's bucket, so that some domain is first
// whatever it is called: here all have short URLs but the last.
TEST_F(MoveEstimateTest, TheFirstPagesDoNotStandForTheRest) {
  std::vector<std::string> domains;
  for (int i = 0; i < 40; ++i) domains.push_back(fmt::format("d{}.example", i));
  const auto key = [](const std::string& domain) {
    return storage::PageKeyOf(
        storage::Url::Parse("http://" + domain + "/").value());
  };
  std::sort(domains.begin(), domains.end(),
            [&](const auto& a, const auto& b) { return key(a) < key(b); });
  std::vector<std::string> urls;
  for (size_t d = 0; d < domains.size(); ++d) {
    for (int i = 0; i < 100; ++i) {
      urls.push_back(fmt::format("http://{}/{}", domains[d],
                                 d < 20 ? std::to_string(i) : Random(300)));
    }
  }
  Inject(urls);
  EXPECT_NEAR(Guess() / Truth(), 1, 0.3);
}

TEST_F(MoveEstimateTest, PagesCountAsTheyAreSentAndSoCompressed) {
  std::vector<std::string> urls;
  const std::string path = Random(300);
  for (int i = 0; i < 3000; ++i) {
    urls.push_back(fmt::format("http://h{}.example/{}/{}", i / 100, path, i));
  }
  Inject(urls);
  EXPECT_NEAR(Guess() / Truth(), 1, 0.5);
  EXPECT_LT(Guess(), 3000 * 100);
}

// One host of a thousand has nearly all pages.
TEST_F(MoveEstimateTest, HostsCountByTheirPages) {
  std::vector<std::string> urls;
  for (int i = 0; i < 1000; ++i) {
    urls.push_back(fmt::format("http://h{}.example/", i));
  }
  for (int i = 0; i < 9000; ++i) {
    urls.push_back("http://large.example/" + Random(200));
  }
  Inject(urls);
  EXPECT_NEAR(Guess() / Truth(), 1, 0.5);
}

}  // namespace
}  // namespace gannet::federation
