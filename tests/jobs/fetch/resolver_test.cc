#include "jobs/fetch/resolver.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <optional>

#include "absl/time/clock.h"
#include "tests/jobs/fetch/fake_dns.h"
#include "tests/simulated_clock.h"

namespace gannet::jobs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr uint16_t kA = 1, kCname = 5, kAaaa = 28;

Address At(std::string_view text) { return Address::Parse(text).value(); }

class ResolverTest : public testing::Test {
 protected:
  ResolverTest() { settings_.servers = {dns_.server()}; }

  void Start() { resolver_ = Resolver::Create(settings_, loop_.get()).value(); }

  // Runs the loop until `done`, or until it should have been long ago.
  template <typename Condition>
  bool RunUntil(Condition done) {
    const absl::Time start = absl::Now();
    while (!done()) {
      if (absl::Now() - start > absl::Seconds(20)) return false;
      const absl::Duration wait = resolver_->NextTimeout() - clock_.SteadyNow();
      loop_->Run(std::min(wait, absl::Milliseconds(20)));
      resolver_->OnTime();
    }
    return true;
  }

  Resolver::Result Resolve(std::string_view host) {
    std::optional<Resolver::Result> result;
    resolver_->Resolve(host, [&](const Resolver::Result& r) { result = r; });
    if (!RunUntil([&] { return result.has_value(); })) {
      return absl::InternalError("never answered");
    }
    return *result;
  }

  SimulatedClock clock_;
  std::unique_ptr<EventLoop> loop_ = EventLoop::Create(clock_).value();
  FakeDns dns_{loop_.get()};
  ResolverSettings settings_;
  std::unique_ptr<Resolver> resolver_;
};

TEST_F(ResolverTest, ANameResolvesToAllItsIpv4Addresses) {
  dns_.Say("www.example", {{"www.example", kA, 300, "192.0.2.1"},
                           {"www.example", kA, 300, "192.0.2.2"},
                           {"www.example", kAaaa, 300, "2001:db8::1"}});
  Start();
  EXPECT_THAT(Resolve("www.example").value(),
              UnorderedElementsAre(At("192.0.2.1"), At("192.0.2.2")));
  EXPECT_EQ(dns_.asked("www.example", kAaaa), 0) << "half the queries";
}

TEST_F(ResolverTest, ANameWithoutIpv4ResolvesToIpv6) {
  dns_.Say("six.example", {{"six.example", kAaaa, 300, "2001:db8::6"}});
  Start();
  EXPECT_THAT(Resolve("six.example").value(), ElementsAre(At("2001:db8::6")));
}

TEST_F(ResolverTest, WithoutIpv6NoQuestionIsAskedForIt) {
  settings_.ipv6 = false;
  dns_.Say("six.example", {{"six.example", kAaaa, 300, "2001:db8::6"}});
  Start();
  EXPECT_TRUE(absl::IsNotFound(Resolve("six.example").status()));
  EXPECT_EQ(dns_.asked("six.example", kAaaa), 0);
}

TEST_F(ResolverTest, AnAddressIsItsOwnAnswerAtOnce) {
  Start();
  for (const char* text : {"192.0.2.7", "2001:db8::7", "[2001:db8::7]"}) {
    int calls = 0;
    resolver_->Resolve(text, [&](const Resolver::Result& result) {
      EXPECT_THAT(result.value(), ElementsAre(At(text)));
      ++calls;
    });
    EXPECT_EQ(calls, 1);
  }
  EXPECT_EQ(dns_.asked(), 0);
}

TEST_F(ResolverTest, LocalhostIsAnsweredWithoutAServer) {
  Start();
  EXPECT_THAT(Resolve("localhost").value(), ElementsAre(At("127.0.0.1")));
  EXPECT_EQ(dns_.asked(), 0);
}

TEST_F(ResolverTest, AnAnswerIsKeptForItsTtlAndNoLonger) {
  dns_.Say("a.example", {{"a.example", kA, 300, "192.0.2.1"}});
  Start();
  ASSERT_TRUE(Resolve("a.example").ok());
  clock_.Advance(absl::Seconds(299));
  ASSERT_TRUE(Resolve("A.Example").ok());
  EXPECT_EQ(dns_.asked("a.example"), 1);
  dns_.Say("a.example", {{"a.example", kA, 300, "192.0.2.9"}});
  clock_.Advance(absl::Seconds(1));
  EXPECT_THAT(Resolve("a.example").value(), ElementsAre(At("192.0.2.9")));
  EXPECT_EQ(dns_.asked("a.example"), 2);
  EXPECT_EQ(resolver_->counts().cached, 1);
}

TEST_F(ResolverTest, TheSmallestTtlCountsThatOfACnameToo) {
  dns_.Say("b.example", {{"b.example", kCname, 100, "c.example"},
                         {"c.example", kA, 5000, "192.0.2.1"},
                         {"c.example", kA, 4000, "192.0.2.2"}});
  dns_.Say("d.example", {{"d.example", kA, 5000, "192.0.2.1"},
                         {"d.example", kA, 100, "192.0.2.2"}});
  Start();
  for (const char* name : {"b.example", "d.example"}) {
    ASSERT_EQ(Resolve(name).value().size(), 2u);
    clock_.Advance(absl::Seconds(99));
    ASSERT_TRUE(Resolve(name).ok());
    EXPECT_EQ(dns_.asked(name), 1) << name;
    clock_.Advance(absl::Seconds(1));
    ASSERT_TRUE(Resolve(name).ok());
    EXPECT_EQ(dns_.asked(name), 2) << name;
  }
}

TEST_F(ResolverTest, TtlsAreKeptWithinTheirBounds) {
  settings_.min_ttl = absl::Seconds(30);
  settings_.max_ttl = absl::Hours(1);
  dns_.Say("zero.example", {{"zero.example", kA, 0, "192.0.2.1"}});
  dns_.Say("ever.example", {{"ever.example", kA, 0x7fffffff, "192.0.2.1"}});
  dns_.Say("minus.example", {{"minus.example", kA, 0xffffffff, "192.0.2.1"}});
  Start();
  const auto asked_after = [&](const char* name, absl::Duration wait) {
    EXPECT_TRUE(Resolve(name).ok());
    const int before = dns_.asked(name);
    clock_.Advance(wait);
    EXPECT_TRUE(Resolve(name).ok());
    return dns_.asked(name) - before;
  };
  EXPECT_EQ(asked_after("zero.example", absl::Seconds(29)), 0);
  EXPECT_EQ(asked_after("zero.example", absl::Seconds(30)), 1);
  EXPECT_EQ(asked_after("ever.example", absl::Minutes(59)), 0);
  EXPECT_EQ(asked_after("ever.example", absl::Hours(1)), 1);
  EXPECT_EQ(asked_after("minus.example", absl::Seconds(29)), 0);
  EXPECT_EQ(asked_after("minus.example", absl::Hours(1)), 1);
}

TEST_F(ResolverTest, ANameThatDoesNotExistIsRememberedForAWhile) {
  settings_.negative_ttl = absl::Seconds(60);
  dns_.Say("no.example", {}, FakeDns::kNxDomain);
  Start();
  EXPECT_TRUE(absl::IsNotFound(Resolve("no.example").status()));
  EXPECT_EQ(dns_.asked("no.example", kAaaa), 0) << "it has no IPv6 either";
  clock_.Advance(absl::Seconds(59));
  const absl::Status again = Resolve("no.example").status();
  EXPECT_TRUE(absl::IsNotFound(again));
  EXPECT_THAT(std::string(again.message()), HasSubstr("no.example"));
  EXPECT_EQ(dns_.asked("no.example"), 1);
  clock_.Advance(absl::Seconds(1));
  EXPECT_TRUE(absl::IsNotFound(Resolve("no.example").status()));
  EXPECT_EQ(dns_.asked("no.example"), 2);
}

TEST_F(ResolverTest, ANameWithoutAddressesIsNotFound) {
  dns_.Say("mail.example", {});
  Start();
  EXPECT_TRUE(absl::IsNotFound(Resolve("mail.example").status()));
  EXPECT_EQ(dns_.asked("mail.example", kA), 1);
  EXPECT_EQ(dns_.asked("mail.example", kAaaa), 1);
}

TEST_F(ResolverTest, ANameThatCannotBeAskedForIsNotFound) {
  Start();
  const std::string long_label = std::string(64, 'a') + ".example";
  EXPECT_TRUE(absl::IsNotFound(Resolve(long_label).status()));
  EXPECT_TRUE(absl::IsNotFound(Resolve("a..example").status()));
  EXPECT_EQ(dns_.asked(), 0);
}

TEST_F(ResolverTest, AServerThatFailsIsUnavailableAndAskedAgain) {
  settings_.tries = 1;
  Start();
  for (const auto code : {FakeDns::kServFail, FakeDns::kRefused}) {
    dns_.Say("x.example", {}, code);
    EXPECT_TRUE(absl::IsUnavailable(Resolve("x.example").status())) << code;
  }
  dns_.Say("x.example", {{"x.example", kA, 300, "192.0.2.1"}});
  EXPECT_TRUE(Resolve("x.example").ok()) << "a failure is not remembered";
}

TEST_F(ResolverTest, ASilentServerIsUnavailableAfterItsTries) {
  settings_.timeout = absl::Milliseconds(20);
  settings_.tries = 2;
  dns_.Ignore("slow.example");
  Start();
  const absl::Time start = absl::Now();
  EXPECT_TRUE(absl::IsUnavailable(Resolve("slow.example").status()));
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(40));
  EXPECT_EQ(dns_.asked("slow.example"), 2);
  EXPECT_EQ(resolver_->NextTimeout(), absl::InfiniteFuture());
}

// The process has no file handle left: says nothing of the name.
TEST_F(ResolverTest, WithoutASocketThereIsAShortageHereAndNoFailureOfTheName) {
  dns_.Say("a.example", {{"a.example", kA, 300, "192.0.2.1"}});
  Start();
  // The sanitizer of virtual calls opens a pipe for each kind of object that it
  // has not seen yet.
  (void)Resolve("other.example");
  Start();  // It has no socket any more.
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const absl::Status status = Resolve("a.example").status();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(NameFailure(status), Failure::kNoSocket);
  EXPECT_THAT(std::string(status.message()), HasSubstr("a.example"));
  EXPECT_THAT(Resolve("a.example").value(), ElementsAre(At("192.0.2.1")));
  // A server that does not answer is none.
  settings_.tries = 1;
  dns_.Say("b.example", {}, FakeDns::kServFail);
  Start();
  EXPECT_TRUE(absl::IsUnavailable(Resolve("b.example").status()));
}

// c-ares has sockets of ours: not blocking, and nobody's whom we start.
TEST_F(ResolverTest, ItsSocketsNeitherBlockNorAreInherited) {
  dns_.Say("a.example", {{"a.example", kA, 300, "192.0.2.1"}});
  const int next = dup(0);
  close(next);
  Start();
  ASSERT_TRUE(Resolve("a.example").ok());
  EXPECT_NE(fcntl(next, F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(fcntl(next, F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(ResolverTest, GarbageIsUnavailableAndHarmsNobody) {
  settings_.timeout = absl::Milliseconds(20);
  settings_.tries = 1;
  settings_.ipv6 = false;
  Start();
  const std::string header("\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00", 10);
  const std::string question(
      "\x01g\x07"
      "example\x00\x00\x01\x00\x01",
      15);
  const std::string garbage[] = {
      "x",
      std::string(500, '\xff'),
      header,                          // The question is missing.
      header + question,               // One answer, says it.
      header + question + "\xc0\x0c",  // Half an answer.
      header + question +              // More data than there is.
          std::string("\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x09\xff\xff", 12),
      header + question +  // A name that is itself.
          std::string("\xc0\x1b\x00\x01\x00\x01\x00\x00\x00\x09\x00\x04"
                      "abcd",
                      16)};
  for (const std::string& bytes : garbage) {
    dns_.SayBytes("g.example", bytes);
    EXPECT_TRUE(absl::IsUnavailable(Resolve("g.example").status()))
        << testing::PrintToString(bytes);
  }
  dns_.Say("g.example", {{"g.example", kA, 300, "192.0.2.1"}});
  EXPECT_TRUE(Resolve("g.example").ok());
}

TEST_F(ResolverTest, AnAnswerWithAnotherIdIsNotBelieved) {
  dns_.SayForged("bank.example", {{"bank.example", kA, 300, "203.0.113.66"}},
                 {{"bank.example", kA, 300, "192.0.2.1"}});
  Start();
  EXPECT_THAT(Resolve("bank.example").value(), ElementsAre(At("192.0.2.1")));
}

TEST_F(ResolverTest, ANameAskedForManyTimesAtOnceIsOneQuery) {
  dns_.Say("a.example", {{"a.example", kA, 300, "192.0.2.1"}});
  Start();
  int answers = 0;
  for (int i = 0; i < 50; ++i) {
    resolver_->Resolve("a.example", [&](const Resolver::Result& result) {
      EXPECT_TRUE(result.ok());
      ++answers;
    });
  }
  EXPECT_EQ(resolver_->pending(), 1u);
  EXPECT_TRUE(RunUntil([&] { return answers == 50; }));
  EXPECT_EQ(dns_.asked(), 1);
  EXPECT_EQ(resolver_->pending(), 0u);
}

TEST_F(ResolverTest, QueriesKeepToTheirRate) {
  settings_.queries_per_second = 10;
  Start();
  int answers = 0;
  for (int i = 0; i < 5; ++i) {
    const std::string name = fmt::format("h{}.example", i);
    dns_.Say(name, {{name, kA, 300, "192.0.2.1"}});
    resolver_->Resolve(name, [&](const Resolver::Result&) { ++answers; });
  }
  for (int i = 1; i <= 5; ++i) {
    // The clock stands still: what may go goes, and nothing more.
    ASSERT_TRUE(RunUntil([&] { return answers == i; }));
    for (int j = 0; j < 3; ++j) {
      loop_->Run(absl::ZeroDuration());
      resolver_->OnTime();
    }
    EXPECT_EQ(dns_.asked(), i);
    if (i < 5) {
      EXPECT_NEAR(
          absl::ToDoubleSeconds(resolver_->NextTimeout() - clock_.SteadyNow()),
          0.1, 0.001);
      clock_.Advance(absl::Milliseconds(99));
      resolver_->OnTime();
      EXPECT_EQ(resolver_->counts().queries, i);
      clock_.Advance(resolver_->NextTimeout() - clock_.SteadyNow());
      resolver_->OnTime();
    }
  }
  EXPECT_EQ(resolver_->NextTimeout(), absl::InfiniteFuture());
}

TEST_F(ResolverTest, OnlySoManyQueriesAreInFlight) {
  settings_.max_in_flight = 3;
  Start();
  int answers = 0;
  for (int i = 0; i < 10; ++i) {
    const std::string name = fmt::format("h{}.example", i);
    dns_.Say(name, {{name, kA, 300, "192.0.2.1"}});
    resolver_->Resolve(name, [&](const Resolver::Result&) { ++answers; });
  }
  EXPECT_EQ(resolver_->counts().queries, 3);
  EXPECT_EQ(resolver_->pending(), 10u);
  EXPECT_TRUE(RunUntil([&] { return answers == 10; }));
}

TEST_F(ResolverTest, WhoGetsAnAnswerMayAskAgain) {
  for (int i = 0; i < 20; ++i) {
    const std::string name = fmt::format("h{}.example", i);
    dns_.Say(name, {{name, kA, 300, "192.0.2.1"}});
  }
  settings_.max_in_flight = 1;
  settings_.max_cached_names = 1;
  Start();
  int answers = 0;
  std::function<void(const Resolver::Result&)> next =
      [&](const Resolver::Result& result) {
        EXPECT_EQ(result.value().size(), 1u);
        if (++answers == 20) return;
        resolver_->Resolve("localhost", [&](const Resolver::Result&) {
          resolver_->Resolve(fmt::format("h{}.example", answers), next);
        });
        EXPECT_EQ(result.value().size(), 1u) << "still there";
      };
  resolver_->Resolve("h0.example", next);
  EXPECT_TRUE(RunUntil([&] { return answers == 20; }));
}

TEST_F(ResolverTest, AKnownAnswerOutlivesItsPlaceInTheCache) {
  dns_.Say("a.example", {{"a.example", kA, 300, "192.0.2.1"}});
  settings_.max_cached_names = 1;
  Start();
  ASSERT_TRUE(Resolve("a.example").ok());
  int calls = 0;
  resolver_->Resolve("a.example", [&](const Resolver::Result& result) {
    // Answered at once, and so "a.example" is pushed out while it is told.
    resolver_->Resolve("localhost", [&](const Resolver::Result&) { ++calls; });
    EXPECT_EQ(calls, 1);
    EXPECT_THAT(result.value(), ElementsAre(At("192.0.2.1")));
  });
  EXPECT_EQ(calls, 1);
}

TEST_F(ResolverTest, NobodyIsCalledAfterItsEnd) {
  dns_.Ignore("a.example");
  Start();
  resolver_->Resolve("a.example",
                     [](const Resolver::Result&) { ADD_FAILURE(); });
  loop_->Run(absl::Milliseconds(1));
  resolver_.reset();
  loop_->Run(absl::Milliseconds(1));
}

TEST_F(ResolverTest, WrongSettingsAreRefusedByName) {
  const auto error = [&](auto change) {
    ResolverSettings settings;
    change(settings);
    const auto made = Resolver::Create(settings, loop_.get());
    EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(made.status().message());
  };
  for (const char* server : {"dns.example", "192.0.2.1:", "192.0.2.1:x", "",
                             "2001:db8::1:53:x", "192.0.2.1,192.0.2.2"}) {
    EXPECT_THAT(error([&](auto& s) { s.servers = {std::string(server)}; }),
                HasSubstr("ADDRESS:PORT"))
        << server;
  }
  EXPECT_THAT(error([&](auto& s) { s.timeout = absl::ZeroDuration(); }),
              HasSubstr("timeout"));
  EXPECT_THAT(error([&](auto& s) { s.tries = 0; }), HasSubstr("try"));
  EXPECT_THAT(error([&](auto& s) { s.max_in_flight = 0; }),
              HasSubstr("in flight"));
  EXPECT_THAT(error([&](auto& s) { s.queries_per_second = -1; }),
              HasSubstr("per second"));
  EXPECT_THAT(error([&](auto& s) { s.min_ttl = absl::Hours(25); }),
              HasSubstr("TTL"));
  for (const char* server :
       {"192.0.2.1", "192.0.2.1:53", "2001:db8::1", "[2001:db8::1]:53"}) {
    settings_.servers = {server};
    EXPECT_TRUE(
        Resolver::Create({.servers = {std::string(server)}}, loop_.get()).ok())
        << server;
  }
}

}  // namespace
}  // namespace gannet::jobs
