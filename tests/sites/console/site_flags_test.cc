#include "sites/console/site_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

namespace gannet::sites {
namespace {

using testing::HasSubstr;

class SiteFlagsTest : public testing::Test {
 protected:
  SiteFlagsTest() {
    flags_.AddDataFlags(command_);
    flags_.AddQuietFlag(command_);
    flags_.AddFetchFlags(command_);
    flags_.AddRoundFlags(command_, "10m");
    std::ofstream(folder_.path() + "/site.yaml")
        << "crawl: {width: 7, per_host: 5}\nfetch: {delay: 3s}\n";
  }

  ExitCode ParseOnly(const std::vector<std::string>& arguments) {
    std::vector<const char*> argv = {"gannet"};
    for (const std::string& argument : arguments) {
      argv.push_back(argument.c_str());
    }
    return command_.Parse(static_cast<int>(argv.size()), argv.data());
  }

  // Parses the flags, with --data before them.
  absl::StatusOr<ChosenSite> Parse(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--data", folder_.path()});
    EXPECT_EQ(ParseOnly(arguments), kDone);
    return flags_.Site();
  }

  TemporaryFolder folder_;
  Command command_{"test"};
  SiteFlags flags_;
};

TEST_F(SiteFlagsTest, TheFileCountsWhereNoFlagIsGiven) {
  const ChosenSite site = *Parse({});
  EXPECT_TRUE(site.has_file);
  EXPECT_EQ(site.config.crawl.width, 7);
  EXPECT_EQ(site.config.fetch.delay, absl::Seconds(3));
  EXPECT_EQ(site.config.site.data, folder_.path());
  EXPECT_EQ(flags_.rounds(), std::nullopt);
  EXPECT_EQ(flags_.wait(), absl::Minutes(10));
  EXPECT_FALSE(flags_.quiet());
}

TEST_F(SiteFlagsTest, AFlagCountsMoreThanTheFile) {
  const ChosenSite site =
      *Parse({"--width", "9", "--per-host", "2", "--delay", "0.25", "--contact",
              "me@example.org", "--connect-to", "127.0.0.1:8080", "--rounds",
              "4", "--wait", "30", "--quiet", "--json"});
  EXPECT_EQ(site.config.crawl.width, 9);
  EXPECT_EQ(site.config.crawl.per_host, 2);
  EXPECT_EQ(site.config.fetch.delay, absl::Milliseconds(250));
  EXPECT_EQ(site.config.user_agent.contact, "me@example.org");
  EXPECT_EQ(site.config.fetch.connect_to, "127.0.0.1:8080");
  EXPECT_EQ(flags_.rounds(), 4);
  EXPECT_EQ(flags_.wait(), absl::Seconds(30));
  EXPECT_TRUE(flags_.quiet());
  EXPECT_TRUE(flags_.json());
}

TEST_F(SiteFlagsTest, ADelayOfZeroIsADelay) {
  EXPECT_EQ(Parse({"--delay", "0"})->config.fetch.delay, absl::ZeroDuration());
}

TEST_F(SiteFlagsTest, DurationsMayHaveUnits) {
  EXPECT_EQ(Parse({"--delay", "500ms", "--wait", "1h"})->config.fetch.delay,
            absl::Milliseconds(500));
  EXPECT_EQ(flags_.wait(), absl::Hours(1));
}

TEST_F(SiteFlagsTest, ABadFlagIsNamedWithWhatIsAllowed) {
  for (const auto& [flag, value] :
       std::vector<std::pair<std::string, std::string>>{
           {"--delay", "soon"},
           {"--delay", "1.2.3"},
           {"--wait", "x"},
           {"--contact", "nobody"},
           {"--connect-to", "localhost"}}) {
    const absl::Status status = Parse({flag, value}).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << flag;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(flag + ": found '" + value + "', allowed is"));
    flags_ = SiteFlags();
  }
}

TEST_F(SiteFlagsTest, NumbersArePositive) {
  for (const char* flag : {"--width", "--per-host", "--rounds"}) {
    for (const char* value : {"0", "-1", "many"}) {
      EXPECT_EQ(ParseOnly({flag, value}), kWrongUsage) << flag << " " << value;
    }
  }
}

TEST_F(SiteFlagsTest, AFolderWithoutAFileHasTheDefaults) {
  const std::string empty = folder_.path() + "/empty";
  ASSERT_EQ(ParseOnly({"--data", empty}), kDone);
  const ChosenSite site = *flags_.Site();
  EXPECT_FALSE(site.has_file);
  EXPECT_EQ(site.config.crawl.width, CrawlSection{}.width);
  EXPECT_EQ(site.config.site.data, empty);
}

}  // namespace
}  // namespace gannet::sites
