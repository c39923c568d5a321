// The judge of politeness, on logs made by hand and by the server.
#include "tests/fake_web/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/fake_web/raw_client.h"
#include "tests/fake_web/robots_file.h"
#include "tests/fake_web/server.h"

namespace gannet::fake_web {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr int64_t kMs = 1'000'000;

class JudgeTest : public testing::Test {
 protected:
  JudgeTest() {
    WebOptions options;
    options.hosts = 60;
    options.pages = 600;
    options.nasty = ParseNasty("robots").value();
    web_ = Web::Create(options).value();
  }

  LogEntry Entry(uint32_t host, uint32_t id, int64_t arrival_ms,
                 int64_t end_ms) {
    LogEntry entry;
    entry.host = std::string(web_->hosts().Name(host));
    web_->AppendTarget({.host = host, .id = id}, &entry.target);
    entry.arrival_ns = arrival_ms * kMs;
    entry.end_ns = end_ms * kMs;
    entry.address = 0x7f000100 + host;
    entry.asker = 0x7f000001;
    entry.status = 200;
    return entry;
  }
  uint32_t HostWith(Nasty robots) const {
    for (uint32_t host = 1; host < web_->hosts().count(); ++host) {
      if (web_->RobotsKind(host) == robots) return host;
    }
    ADD_FAILURE() << "no host with " << Name(robots);
    return 0;
  }

  const JudgeOptions options_ = {.delay = absl::Milliseconds(20)};
  std::unique_ptr<Web> web_;
};

TEST_F(JudgeTest, APoliteLogPasses) {
  const Verdict verdict =
      Judge(*web_,
            {Entry(0, 0, 0, 5), Entry(0, 1, 25, 30), Entry(0, 2, 50, 51),
             Entry(2, 0, 1, 3), Entry(2, 1, 23, 24)},
            options_);
  EXPECT_TRUE(verdict.ok());
  EXPECT_EQ(verdict.requests, 5u);
  EXPECT_EQ(verdict.hosts, 2u);
  EXPECT_EQ(verdict.smallest_host_gaps[0].gap, absl::Milliseconds(20));
  EXPECT_THAT(FormatVerdict(verdict), HasSubstr("\npolite\n"));
}

TEST_F(JudgeTest, ARequestTooSoonAfterTheLastByteIsFoundAndNamed) {
  const LogEntry early = Entry(0, 2, 49, 51);
  const Verdict verdict =
      Judge(*web_, {early, Entry(0, 1, 25, 30), Entry(0, 0, 0, 5)}, options_);
  EXPECT_FALSE(verdict.ok());
  EXPECT_EQ(verdict.too_early_on_host, 1u);
  EXPECT_EQ(verdict.smallest_host_gaps[0].gap, absl::Milliseconds(19));
  EXPECT_EQ(verdict.smallest_host_gaps[0].url,
            "http://" + early.host + early.target);
  const auto json = nlohmann::json::parse(FormatVerdictJson(verdict));
  EXPECT_FALSE(json["ok"].get<bool>());
  EXPECT_EQ(json["too_early_on_host"], 1);
}

TEST_F(JudgeTest, TwoRequestsAtOnceAreANegativeGap) {
  // The second arrives during the first's answer, the third after both.
  const Verdict verdict = Judge(
      *web_, {Entry(0, 0, 0, 100), Entry(0, 1, 50, 60), Entry(0, 2, 110, 111)},
      options_);
  EXPECT_EQ(verdict.too_early_on_host, 2u);
  EXPECT_EQ(verdict.smallest_host_gaps[0].gap, absl::Milliseconds(-50));
  EXPECT_EQ(verdict.smallest_host_gaps[1].gap, absl::Milliseconds(10));
}

TEST_F(JudgeTest, TwoHostsOnOneAddressShareItsDelay) {
  LogEntry first = Entry(0, 0, 0, 5), second = Entry(2, 0, 10, 12);
  second.address = first.address;
  EXPECT_EQ(Judge(*web_, {first, second}, options_).too_early_on_address, 1u);
  JudgeOptions by_host = options_;
  by_host.per_address = false;
  EXPECT_TRUE(Judge(*web_, {first, second}, by_host).ok());
}

TEST_F(JudgeTest, AnAnswerThatTheAskerLeftEndsAtItsArrival) {
  LogEntry aborted = Entry(0, 0, 0, 300);
  aborted.end = LogEnd::kAborted;
  EXPECT_TRUE(Judge(*web_, {aborted, Entry(0, 1, 280, 281)}, options_).ok());
}

TEST_F(JudgeTest, RobotsTxtIsARequestUnlessExempt) {
  LogEntry robots = Entry(0, 0, 0, 5);
  robots.target = "/robots.txt";
  robots.kind = Nasty::kRobots;
  const std::vector<LogEntry> log = {robots, Entry(0, 0, 10, 12)};
  EXPECT_EQ(Judge(*web_, log, options_).too_early_on_host, 1u);
  JudgeOptions free = options_;
  free.robots_free = true;
  EXPECT_TRUE(Judge(*web_, log, free).ok());
}

TEST_F(JudgeTest, ForbiddenAndNeverLinkedAndRepeatedUrlsAreNamed) {
  const uint32_t closed = HostWith(Nasty::kRobotsClosed);
  LogEntry absent = Entry(2, 0, 100, 101);
  absent.target = "/never/was.html";
  absent.kind = Nasty::kAbsent;
  absent.status = 404;
  const std::vector<LogEntry> log = {Entry(closed, 0, 0, 1), absent,
                                     Entry(0, 1, 0, 1), Entry(0, 1, 50, 51)};
  Verdict verdict = Judge(*web_, log, options_);
  EXPECT_EQ(verdict.forbidden, 1u);
  EXPECT_THAT(verdict.forbidden_urls[0],
              HasSubstr(std::string(web_->hosts().Name(closed))));
  EXPECT_EQ(verdict.never_linked, 1u);
  EXPECT_EQ(verdict.repeats, 1u);
  EXPECT_FALSE(verdict.ok());
  JudgeOptions strict = options_;
  strict.no_repeats = true;
  EXPECT_TRUE(
      Judge(*web_, {Entry(0, 1, 0, 1), Entry(0, 1, 50, 51)}, options_).ok());
  EXPECT_FALSE(
      Judge(*web_, {Entry(0, 1, 0, 1), Entry(0, 1, 50, 51)}, strict).ok());
}

TEST_F(JudgeTest, CrawlDelayCountsWhereItIsKnown) {
  const uint32_t host = HostWith(Nasty::kRobotsCrawlDelay);
  LogEntry robots = Entry(host, 0, 0, 5);
  robots.target = "/robots.txt";
  robots.kind = Nasty::kRobotsCrawlDelay;
  // After robots.txt 20 ms are enough, and from then on 200 ms.
  const std::vector<LogEntry> log = {robots, Entry(host, 0, 25, 30),
                                     Entry(host, 1, 180, 181)};
  const Verdict verdict = Judge(*web_, log, options_);
  EXPECT_EQ(verdict.too_early_on_host, 1u);
  EXPECT_EQ(verdict.smallest_host_gaps[0].wanted, absl::Milliseconds(200));
  JudgeOptions capped = options_;
  capped.crawl_delay_cap = absl::Milliseconds(100);
  EXPECT_TRUE(Judge(*web_, log, capped).ok());
}

class HttpsJudgeTest : public JudgeTest {
 protected:
  HttpsJudgeTest() {
    WebOptions options = web_->options();
    options.https_share = 1;
    web_ = Web::Create(options).value();
  }
  LogEntry Https(LogEntry entry) {
    entry.tls = true;
    return entry;
  }
  LogEntry HttpForm(LogEntry entry) {
    entry.status = 301;
    entry.kind = Nasty::kHttpToHttps;
    return entry;
  }
};

TEST_F(HttpsJudgeTest, BothPortsOfAHostAndAnAddressShareItsDelay) {
  const LogEntry first = HttpForm(Entry(0, 1, 0, 5));
  const LogEntry second = Https(Entry(0, 1, 10, 12));
  const Verdict verdict = Judge(*web_, {first, second}, options_);
  EXPECT_EQ(verdict.hosts, 1u);
  EXPECT_EQ(verdict.addresses, 1u);
  EXPECT_EQ(verdict.too_early_on_host, 1u);
  EXPECT_EQ(verdict.too_early_on_address, 1u);
  EXPECT_EQ(verdict.smallest_host_gaps[0].url,
            "https://" + second.host + second.target);
  EXPECT_EQ(verdict.repeats, 0u);
}

TEST_F(HttpsJudgeTest, AnHttpFormIsForbiddenAsItsHttpsUrlIs) {
  const uint32_t closed = HostWith(Nasty::kRobotsClosed);
  LogEntry robots = HttpForm(Entry(closed, 0, 50, 51));
  robots.target = "/robots.txt";
  const Verdict verdict = Judge(*web_,
                                {HttpForm(Entry(closed, 0, 0, 1)), robots,
                                 Https(Entry(closed, 0, 100, 101))},
                                options_);
  EXPECT_EQ(verdict.forbidden, 2u);
  EXPECT_THAT(verdict.forbidden_urls[0], StartsWith("http://"));
  EXPECT_THAT(verdict.forbidden_urls[1], StartsWith("https://"));
}

TEST_F(HttpsJudgeTest, AnHttpFormIsNeverLinkedOnlyIfItLeadsNowhere) {
  LogEntry absent = HttpForm(Entry(0, 1, 50, 51));
  absent.target = "/never/was.html";
  const Verdict verdict =
      Judge(*web_, {HttpForm(Entry(0, 1, 0, 1)), absent}, options_);
  EXPECT_EQ(verdict.never_linked, 1u);
  EXPECT_THAT(verdict.never_linked_urls[0], HasSubstr("/never/was.html"));
}

TEST_F(JudgeTest, TheServersOwnLogFileIsJudged) {
  const std::string path = testing::TempDir() + "fake_web_asked.tsv";
  const WebClock clock;
  {
    const auto server =
        Server::Start(web_.get(), &clock, {.log_path = path}).value();
    const std::string host(web_->hosts().Name(0));
    RawClient client(server->port(), "127.9.8.7", "127.0.0.5");
    for (int i = 0; i < 4; ++i) ASSERT_EQ(client.Get(host, "/").status, 200);
    ASSERT_TRUE(server->Stop().ok());
  }
  std::ifstream in(path);
  std::string magic, columns, first;
  std::getline(in, magic);
  std::getline(in, columns);
  std::getline(in, first);
  EXPECT_THAT(magic, StartsWith("#gannet-fakeweb-log 1 seed=1 hosts=60 "));
  EXPECT_EQ(columns,
            "arrival_ns\tend_ns\thost\taddress\tasker\ttarget\tstatus\tbytes\t"
            "kind\tend\tscheme");
  const LogFile log = LogFile::Read(path).value();
  std::filesystem::remove(path);
  ASSERT_EQ(log.entries.size(), 4u);
  std::string again;
  AppendLogLine(log.entries[0], &again);
  EXPECT_EQ(again, first + "\n");
  EXPECT_EQ(FormatAddress(log.entries[0].address), "127.9.8.7");
  EXPECT_EQ(FormatAddress(log.entries[0].asker), "127.0.0.5");
  EXPECT_EQ(log.options.hosts, 60u);
  const auto web = Web::Create(log.options).value();
  // Requests came one after the other without a pause: no gap is negative, and
  // none is as long as an hour.
  EXPECT_TRUE(Judge(*web, log.entries, {.delay = absl::ZeroDuration()}).ok());
  const Verdict verdict = Judge(*web, log.entries, {.delay = absl::Hours(1)});
  EXPECT_EQ(verdict.too_early_on_host, 3u);
  EXPECT_EQ(verdict.too_early_on_address, 3u);
  EXPECT_EQ(verdict.repeats, 1u);
}

TEST(RequestLogTest, ALineWithoutASchemeIsReadAsHttp) {
  LogEntry entry;
  entry.tls = true;
  std::string line;
  AppendLogLine(entry, &line);
  line.pop_back();
  EXPECT_EQ(ParseLogLine(line).value(), entry);
  entry.tls = false;
  EXPECT_EQ(ParseLogLine(line.substr(0, line.rfind('\t'))).value(), entry);
  EXPECT_FALSE(ParseLogLine(line + "x").ok());
}

TEST(RequestLogTest, OddBytesInATargetDoNotBreakTheLine) {
  LogEntry entry;
  entry.host = "a b";
  entry.target = "/x\ty\nz";
  std::string line;
  AppendLogLine(entry, &line);
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  EXPECT_THAT(line, HasSubstr("\t/x%09y%0Az\t"));
  EXPECT_TRUE(
      ParseLogLine(std::string_view(line).substr(0, line.size() - 1)).ok());
  EXPECT_FALSE(ParseLogLine("1\t2\t3").ok());
}

}  // namespace
}  // namespace gannet::fake_web
