// Serving a link graph that another crawler recorded.
#include "tests/fake_web/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

#include "tests/fake_web/naive_crawler.h"
#include "tests/fake_web/server.h"
#include "tests/test_data.h"

namespace gannet::fake_web {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string WriteFile(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

TEST(GraphTest, ReadsLinesAndSkipsComments) {
  const auto path =
      WriteFile("graph.txt", "# source target\n0 2\n0 1\r\n\n2 0\n2\t5");
  const Graph graph = Graph::Read(path).value();
  std::filesystem::remove(path);
  EXPECT_EQ(graph.pages(), 6u);
  EXPECT_THAT(graph.Links(0), ElementsAre(2, 1));
  EXPECT_THAT(graph.Links(1), IsEmpty());
  EXPECT_THAT(graph.Links(2), ElementsAre(0, 5));
}

TEST(GraphTest, ABadLineIsNamedAndAMissingFileToo) {
  const auto path = WriteFile("bad_graph.txt", "0 1\nzero one\n");
  EXPECT_THAT(std::string(Graph::Read(path).status().message()),
              HasSubstr("line 2"));
  std::filesystem::remove(path);
  EXPECT_TRUE(absl::IsNotFound(Graph::Read(path).status()));
}

TEST(GraphTest, CrawlingASmallGraphFindsItsPagesAndOnlyThem) {
  // Page 7 is an island; page 6 is linked from it only.
  WebOptions options;
  options.hosts = 3;
  const auto web =
      Web::Create(
          options,
          Graph({{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}, {4, 5}, {7, 6}}))
          .value();
  EXPECT_EQ(web->Seeds().size(), 2u);
  const WebClock clock;
  const auto server = Server::Start(web.get(), &clock, {}).value();
  NaiveCrawler crawler(server->port(), {});
  const std::string first = web->Url(web->Seeds()[0]);
  EXPECT_EQ(crawler.Crawl({first}).size(), 6u);
  EXPECT_EQ(NaiveCrawler(server->port(), {})
                .Crawl({first, web->Url(web->Seeds()[1])})
                .size(),
            8u);
}

TEST(GraphTest, ServesTheRecordedGraphOfCnr) {
  const std::string path = TestDataPath("graph/cnr-2000-edges.txt.zst");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  WebOptions options;
  options.hosts = 700;
  options.graph = path;
  const auto web = Web::Create(options).value();
  EXPECT_EQ(web->graph()->pages(), 325'557u);
  EXPECT_EQ(web->graph()->links(), 3'216'152u);
  EXPECT_EQ(web->hosts().pages(), 325'557u);
  const WebClock clock;
  const auto server = Server::Start(web.get(), &clock, {}).value();
  // What is served links to exactly what the graph says.
  for (uint32_t page = 0; page < web->graph()->pages(); page += 3251) {
    const uint32_t host = web->hosts().HostOfPage(page);
    const Ref ref{
        .host = host,
        .id = static_cast<uint32_t>(page - web->hosts().FirstPage(host))};
    std::string target;
    web->AppendTarget(ref, &target);
    const WireResponse response =
        Fetch(server->port(), web->hosts().Name(host), target);
    ASSERT_EQ(response.status, 200) << target;
    std::set<std::string> wanted, found;
    for (uint32_t to : web->graph()->Links(page)) {
      const uint32_t h = web->hosts().HostOfPage(to);
      wanted.insert(web->Url(
          {.host = h,
           .id = static_cast<uint32_t>(to - web->hosts().FirstPage(h))}));
    }
    for (const auto& url : ExtractLinks(response.body, web->Url(ref))) {
      found.insert(url);
    }
    EXPECT_EQ(found, wanted) << page;
  }
}

}  // namespace
}  // namespace gannet::fake_web
