// SingleFetch with a fake network: what `gannet check` is told.
#include "jobs/fetch/single_fetch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/jobs/fetch/fake_network.h"

namespace gannet::jobs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

storage::Url UrlOf(const std::string& text) {
  return storage::Url::Parse(text).value();
}
Address At(std::string_view text) { return Address::Parse(text).value(); }

class SingleFetchTest : public testing::Test {
 protected:
  SingleFetch& Fetch() {
    auto network = std::make_unique<FakeNetwork>(script_, clock_);
    network_ = network.get();
    fetch_ =
        std::make_unique<SingleFetch>(settings_, clock_, std::move(network));
    return *fetch_;
  }

  SimulatedClock clock_;
  FetchSettings settings_;
  FakeNetwork::Script script_;
  FakeNetwork* network_ = nullptr;
  std::unique_ptr<SingleFetch> fetch_;
};

TEST_F(SingleFetchTest, OneRequestIsMadeAtTheFirstAddressThatIsAllowed) {
  script_.resolve = [](std::string_view) -> Addresses {
    return std::vector<Address>{At("10.1.2.3"), At("5.6.7.9")};
  };
  const Response response = Fetch().Get(UrlOf("http://a.example:8080/x?y"));
  EXPECT_EQ(response.status, 200);
  ASSERT_THAT(network_->asked(), SizeIs(1));
  EXPECT_EQ(network_->asked()[0].request.address, At("5.6.7.9"));
  EXPECT_EQ(network_->asked()[0].request.port, 8080);
  EXPECT_EQ(network_->asked()[0].request.target, "/x?y");
}

TEST_F(SingleFetchTest, AnAddressThatIsNotAllowedIsNamedAndNotAsked) {
  script_.resolve = [](std::string_view) -> Addresses {
    return std::vector<Address>{At("10.1.2.3")};
  };
  const Response response = Fetch().Get(UrlOf("http://a.example/"));
  EXPECT_EQ(response.failure, Failure::kAddressRefused);
  EXPECT_THAT(response.detail, HasSubstr("10.1.2.3 is "));
  EXPECT_THAT(network_->asked(), IsEmpty());
}

TEST_F(SingleFetchTest, ANameWithoutAddressSaysSo) {
  script_.resolve = [](std::string_view) -> Addresses {
    return absl::NotFoundError("no such name");
  };
  const Response response = Fetch().Get(UrlOf("http://a.example/"));
  EXPECT_EQ(response.failure, Failure::kNameNotFound);
  EXPECT_EQ(response.detail, "no such name");
  EXPECT_EQ(response.started, clock_.Now() - script_.name_takes);
}

TEST_F(SingleFetchTest, ThroughAProxyNoNameIsResolvedHere) {
  settings_.download.proxy = "http://5.6.7.200:3128";
  EXPECT_EQ(Fetch().Get(UrlOf("http://a.example/")).status, 200);
  EXPECT_THAT(network_->names(), IsEmpty());
}

TEST_F(SingleFetchTest, RobotsAreReadThroughRedirectsAndEachStepIsNamed) {
  script_.answer = [](const Request& request) {
    if (request.url == "http://a.example/robots.txt") {
      return Http(302, "", "Location: https://b.example/r\r\n");
    }
    return Http(200, "User-agent: *\nDisallow: /\n");
  };
  const SingleFetch::Robots robots =
      Fetch().GetRobots(UrlOf("http://a.example/some/page"));
  EXPECT_THAT(robots.urls, ElementsAre("http://a.example/robots.txt",
                                       "https://b.example/r"));
  EXPECT_EQ(robots.stored.origin(), "http://a.example");
  EXPECT_EQ(robots.stored.http_status(), 200u);
  EXPECT_THAT(robots.stored.text(), HasSubstr("Disallow: /"));
}

TEST_F(SingleFetchTest, EndlessRedirectsOfRobotsEndAfterFive) {
  script_.answer = [](const Request& request) {
    return Http(302, "", "Location: " + request.url + "x\r\n");
  };
  const SingleFetch::Robots robots =
      Fetch().GetRobots(UrlOf("http://a.example/"));
  EXPECT_THAT(robots.urls, SizeIs(6)) << "RFC 9309: at least five";
  EXPECT_EQ(robots.failure, Failure::kNone);
}

TEST_F(SingleFetchTest, RobotsThatCannotBeHadSayWhy) {
  script_.answer = [](const Request&) {
    return Failed(Failure::kConnectRefused);
  };
  const SingleFetch::Robots robots =
      Fetch().GetRobots(UrlOf("http://a.example/"));
  EXPECT_EQ(robots.failure, Failure::kConnectRefused);
  EXPECT_EQ(robots.detail, "by the script");
}

}  // namespace
}  // namespace gannet::jobs
