#include "jobs/fetch/page_worker.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "storage/archive/warc_reader.h"
#include "tests/temporary_folder.h"

namespace gannet::jobs {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

class PageWorkerTest : public testing::Test {
 protected:
  PageWorkerTest() {
    storage::SiteStoreSettings store;
    store.folder = folder_.path();
    store.create = true;
    store_ = storage::SiteStore::Open(store, storage::SystemClock()).value();
    filter_ = storage::UrlFilter::Create({}, canonicaliser_).value();
    settings_.canonicaliser = &canonicaliser_;
    settings_.filter = filter_.get();
    settings_.max_redirects = 2;
    settings_.max_retries = 1;
    settings_.retry_delay = absl::Seconds(60);
    settings_.max_retry_delay = absl::Seconds(100);
  }

  static Answer Answered(int status, std::string_view fields,
                         std::string_view body) {
    Answer answer;
    answer.url = storage::Url::Parse("http://a.example/page").value();
    answer.task.page = storage::PageKeyOf(answer.url);
    answer.response.status = status;
    answer.response.head = fmt::format(
        "HTTP/1.1 {} X\r\nContent-Type: text/html\r\n{}\r\n", status, fields);
    answer.response.request_head = "GET /page HTTP/1.1\r\n\r\n";
    answer.response.body = body;
    answer.response.started = answer.ended = kNow;
    return answer;
  }

  storage::Completion Complete(Answer answer) {
    return PageWorker(settings_, store_.get(), /*seed=*/1)
        .Complete(std::move(answer))
        .value();
  }

  static std::vector<storage::PageKey> Keys(
      const std::vector<std::string>& urls) {
    std::vector<storage::PageKey> keys;
    for (const std::string& url : urls) {
      keys.push_back(storage::PageKeyOf(storage::Url::Parse(url).value()));
    }
    return keys;
  }

  TemporaryFolder folder_;
  storage::Canonicaliser canonicaliser_;
  std::unique_ptr<storage::UrlFilter> filter_;
  std::unique_ptr<storage::SiteStore> store_;
  PageSettings settings_;
};

TEST_F(PageWorkerTest, AFetchedPagePaysItsLinksAndComesBackInTime) {
  const storage::Completion done = Complete(
      Answered(200, "ETag: \"1\"\r\n", "<a href=/b>b</a><a href=/page>me</a>"));
  EXPECT_EQ(done.outcome.state(), proto::FETCHED);
  EXPECT_EQ(done.outlinks, Keys({"http://a.example/b"}));
  EXPECT_TRUE(done.keeps_history);
  EXPECT_EQ(done.ready, kNow + settings_.recrawl_interval);
  EXPECT_EQ(done.outcome.etag(), "\"1\"");
  EXPECT_TRUE(done.outcome.has_archive());
  EXPECT_TRUE(done.outcome.payload_digest().starts_with("sha1:"));
}

TEST_F(PageWorkerTest, TheSameBytesAgainAreUnchangedAndKeepTheirPlace) {
  const storage::Completion first = Complete(Answered(200, "", "<a href=/b>"));
  Answer again = Answered(200, "", "<a href=/b>");
  again.task.earlier = std::make_unique<proto::PageRecord>(first.outcome);
  const storage::Completion second = Complete(std::move(again));
  EXPECT_TRUE(second.unchanged);
  EXPECT_EQ(second.outcome.archive().offset(),
            first.outcome.archive().offset());
  EXPECT_EQ(second.outcome.change().visits(), 2u);
  EXPECT_EQ(second.outcome.change().changes(), 0u);
  Answer other = Answered(200, "", "<a href=/c>");
  other.task.earlier = std::make_unique<proto::PageRecord>(second.outcome);
  const storage::Completion third = Complete(std::move(other));
  EXPECT_FALSE(third.unchanged);
  EXPECT_EQ(third.outcome.change().changes(), 1u);
}

TEST_F(PageWorkerTest, APageThatCameFromAnotherSiteIsArchivedButHasNotChanged) {
  const storage::Completion there = Complete(Answered(200, "", "<a href=/b>"));
  Answer here = Answered(200, "", "<a href=/b>");
  here.task.earlier = std::make_unique<proto::PageRecord>(there.outcome);
  here.task.earlier->clear_archive();
  const storage::Completion done = Complete(std::move(here));
  EXPECT_FALSE(done.unchanged);  // A whole record, no revisit of one elsewhere.
  EXPECT_TRUE(done.outcome.has_archive());
  EXPECT_EQ(done.outlinks, Keys({"http://a.example/b"}));
  EXPECT_EQ(done.outcome.change().visits(), 2u);
  EXPECT_EQ(done.outcome.change().changes(), 0u);
}

// As libcurl writes the heads of an HTTP/2 connection.
TEST_F(PageWorkerTest, Http2IsArchivedAsHttp1AndItsRecordsSaySo) {
  Answer answer = Answered(200, "", "text");
  answer.response.head = "HTTP/2 200 \r\ncontent-type: text/html\r\n\r\n";
  answer.response.request_head = "GET /page HTTP/2\r\nHost: a.example\r\n\r\n";
  const storage::Completion done = Complete(std::move(answer));
  const proto::ArchivePosition& at = done.outcome.archive();
  const auto response = store_->archive().Read(
      {storage::FileNumber{at.file()}, at.offset(), at.length()});
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_TRUE(response->block.starts_with("HTTP/1.1 200 \r\n"))
      << response->block;
  EXPECT_EQ(response->header.Get("WARC-Protocol"), "h2");

  ASSERT_TRUE(store_->archive().Sync().ok());
  storage::WarcReader reader(
      storage::FileSource(
          std::filesystem::directory_iterator(folder_.path() + "/archive")
              ->path())
          .value());
  int requests = 0;
  while (reader.Next().value()) {
    if (reader.header().type != storage::RecordType::kRequest) continue;
    ++requests;
    EXPECT_EQ(reader.header().Get("WARC-Protocol"), "h2");
    EXPECT_EQ(reader.ReadWholeBlock().value(),
              "GET /page HTTP/1.1\r\nHost: a.example\r\n\r\n");
  }
  EXPECT_EQ(requests, 1);
}

TEST_F(PageWorkerTest, NotModifiedKeepsTheLinksOfTheArchive) {
  const storage::Completion first =
      Complete(Answered(200, "ETag: \"1\"\r\n", "<a href=/b><a href=/c>"));
  Answer again = Answered(304, "", "");
  again.task.earlier = std::make_unique<proto::PageRecord>(first.outcome);
  const storage::Completion second = Complete(std::move(again));
  EXPECT_EQ(second.outcome.state(), proto::FETCHED);
  EXPECT_TRUE(second.unchanged);
  EXPECT_EQ(second.outlinks,
            Keys({"http://a.example/b", "http://a.example/c"}));
}

TEST_F(PageWorkerTest, AMovedPagePaysItsTarget) {
  const storage::Completion done =
      Complete(Answered(301, "Location: //b.example/x#y\r\n", ""));
  EXPECT_EQ(done.outcome.state(), proto::MOVED);
  EXPECT_EQ(done.outlinks, Keys({"http://b.example/x"}));
  EXPECT_EQ(done.outlink_redirects, 1u);
  EXPECT_FALSE(done.keeps_history);
}

TEST_F(PageWorkerTest, TooManyRedirectsInARowFail) {
  Answer answer = Answered(301, "Location: /x\r\n", "");
  answer.task.redirects = settings_.max_redirects;
  const storage::Completion done = Complete(std::move(answer));
  EXPECT_EQ(done.outcome.state(), proto::FAILED);
  EXPECT_EQ(done.outcome.finished_reason(), "too many redirects in a row");
  EXPECT_TRUE(done.outlinks.empty());
  EXPECT_EQ(done.ready, std::nullopt);
}

TEST_F(PageWorkerTest, APageThatMovesToItselfPaysNobody) {
  const storage::Completion done =
      Complete(Answered(302, "Location: /page\r\n", ""));
  EXPECT_EQ(done.outcome.state(), proto::MOVED);
  EXPECT_TRUE(done.outlinks.empty());
}

TEST_F(PageWorkerTest, AFailureThatMayPassIsScheduledUntilItsRetriesAreUsedUp) {
  const storage::Completion first = Complete(Answered(500, "", ""));
  EXPECT_EQ(first.outcome.state(), proto::FAILED);
  EXPECT_EQ(first.outcome.retries(), 1u);
  ASSERT_TRUE(first.ready.has_value());
  EXPECT_GT(*first.ready, kNow);
  EXPECT_LE(*first.ready, kNow + settings_.max_retry_delay);
  Answer again = Answered(500, "", "");
  again.task.earlier = std::make_unique<proto::PageRecord>(first.outcome);
  const storage::Completion second = Complete(std::move(again));
  EXPECT_EQ(second.ready, std::nullopt);
  EXPECT_EQ(second.outcome.finished_reason(), "http 500");
}

TEST_F(PageWorkerTest, ARetryAfterIsAWaitButNoLongerThanTheLongest) {
  const storage::Completion done =
      Complete(Answered(503, "Retry-After: 99999\r\n", ""));
  EXPECT_EQ(done.ready, kNow + settings_.max_retry_delay);
}

TEST_F(PageWorkerTest, AnOverlongValidatorIsNotKept) {
  const storage::Completion done = Complete(
      Answered(200, fmt::format("ETag: {}\r\n", std::string(300, 'e')), "x"));
  EXPECT_EQ(done.outcome.etag(), "");
}

TEST_F(PageWorkerTest, OtherTypesAreArchivedOnlyIfTheOperatorWantsThem) {
  Answer answer = Answered(200, "", "%PDF");
  answer.response.head =
      "HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n";
  settings_.archive_other_types = false;
  const storage::Completion done = Complete(std::move(answer));
  EXPECT_EQ(done.outcome.state(), proto::FETCHED);
  EXPECT_FALSE(done.outcome.has_archive());
}

}  // namespace
}  // namespace gannet::jobs
