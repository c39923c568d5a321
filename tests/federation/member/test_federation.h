// Whole members of a federation in one process, over real sockets, for the
// tests of this folder.
#pragma once

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "federation/member/membership.h"
#include "federation/ownership/ownership.h"
#include "storage/url/canonical.h"
#include "storage/url/filter.h"
#include "tests/simulated_clock.h"
#include "tests/temporary_folder.h"

namespace gannet::federation {

inline int FreePort() {
  const int probe = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  bind(probe, reinterpret_cast<sockaddr*>(&address), size);
  getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size);
  close(probe);
  return ntohs(address.sin_port);
}

// Waits until it is so; a minute is a failure.
inline bool Becomes(const std::function<bool()>& so) {
  const absl::Time until = absl::Now() + absl::Minutes(1);
  while (!so()) {
    if (absl::Now() > until) return false;
    absl::SleepFor(absl::Milliseconds(20));
  }
  return true;
}

inline storage::PageKey KeyOf(const std::string& url) {
  static const storage::Canonicaliser canonicaliser;
  storage::Url canonical;
  EXPECT_EQ(canonicaliser.Canonicalise(url, nullptr, canonical),
            storage::UrlOutcome::kOk);
  return storage::PageKeyOf(canonical);
}

// A site: its folder outlives its process, which is a Membership here.
class TestSite {
 public:
  TestSite(std::string name, std::string join)
      : name_(std::move(name)),
        join_(std::move(join)),
        listens_(fmt::format("127.0.0.1:{}", FreePort())),
        address_(listens_) {
    static uint64_t lives = 100;
    proto::SiteIdentity identity;
    identity.set_name(name_);
    identity.set_incarnation(++lives);
    Open(identity);
  }
  // A copy of the folder of `of`, with the map it had: it listens elsewhere,
  // and says the same address, as behind a balancer, or its own.
  struct Copied {
    TestSite& of;
    bool has_own_address = false;
  };
  explicit TestSite(const Copied& copied)
      : name_(copied.of.name_),
        join_(copied.of.join_),
        listens_(fmt::format("127.0.0.1:{}", FreePort())),
        address_(copied.has_own_address ? listens_ : copied.of.address_) {
    Open(copied.of.db().records().identity().value());
    EXPECT_TRUE(
        db_->records()
            .PutNote("map", copied.of.db().records().GetNote("map").value())
            .ok());
  }

  void Start() {
    MembershipSettings settings;
    settings.self.name = name_;
    settings.self.address = address_;
    settings.self.rules = rules;
    settings.join = join_;
    settings.server.address = listens_;
    if (connect) settings.connect = connect;
    settings.note = [this](std::string_view event, const auto&) {
      storage::MutexLock lock(&mu_);
      ++notes_[std::string(event)];
    };
    settings.neighbours.beat_every = absl::Milliseconds(100);
    settings.neighbours.away_after = absl::Seconds(1);
    settings.answers.verify = [this](bool full) {
      return db_->checks().Verify(full);
    };
    auto member = Membership::Start(std::move(settings), *db_, canonicaliser_,
                                    *filter_, *clock);
    ASSERT_TRUE(member.ok()) << member.status();
    member_ = *std::move(member);
  }
  void Stop() { member_.reset(); }

  Membership& operator*() { return *member_; }
  Membership* operator->() { return member_.get(); }
  storage::CrawlDb& db() { return *db_; }
  const std::string& address() const { return address_; }
  const std::string& name() const { return name_; }

  uint64_t epoch() {
    const auto view = member_->maps().view();
    return view == nullptr ? 0 : view->map().epoch();
  }
  bool IsMember() {
    const auto view = member_->maps().view();
    return view != nullptr && view->self() != nullptr;
  }
  absl::Status Change(const MapChange& change) {
    return member_->follower().Change(change).status();
  }
  absl::Status Invite(const std::string& other) {
    return Change(
        [&](const Map& map) { return federation::Invite(map, other); });
  }

  // How often such a line was written to the log.
  int Noted(const std::string& event) {
    storage::MutexLock lock(&mu_);
    return notes_[event];
  }

  proto::MapRules rules;
  Connect connect;
  storage::Clock* clock = &storage::SystemClock();

 private:
  void Open(const proto::SiteIdentity& identity) {
    storage::CrawlDbSettings settings;
    settings.folder = folder_.path();
    db_ = storage::CrawlDb::Open(settings).value();
    EXPECT_TRUE(db_->records().SetIdentity(identity).ok());
  }

  const std::string name_, join_, listens_, address_;
  storage::Mutex mu_;
  std::map<std::string, int> notes_ ABSL_GUARDED_BY(mu_);
  TemporaryFolder folder_;
  const storage::Canonicaliser canonicaliser_;
  const std::unique_ptr<storage::UrlFilter> filter_ =
      storage::UrlFilter::Create({}).value();
  std::unique_ptr<storage::CrawlDb> db_;
  std::unique_ptr<Membership> member_;
};

class FederationTest : public testing::Test {
 protected:
  // tokyo founds, the others join.
  void StartSites(int sites) {
    const char* names[] = {"tokyo", "paris", "lima"};
    for (int i = 0; i < sites; ++i) {
      Add(names[i]);
      ASSERT_TRUE(Becomes([&] { return AllAgree(); })) << names[i];
    }
  }
  TestSite& Add(const std::string& name,
                storage::Clock& clock = storage::SystemClock()) {
    const std::string join = sites_.empty() ? "" : sites_[0]->address();
    if (!sites_.empty()) {
      EXPECT_TRUE(sites_[0]->Invite(name).ok());
    }
    sites_.push_back(std::make_unique<TestSite>(name, join));
    sites_.back()->clock = &clock;
    sites_.back()->Start();
    return *sites_.back();
  }
  // One map, everybody in it, nothing moves.
  bool AllAgree() {
    for (const auto& site : sites_) {
      if (!site->IsMember() || site->epoch() != sites_[0]->epoch() ||
          IsHandingOff((*site)->maps().view()->map())) {
        return false;
      }
    }
    return (*sites_[0])->maps().view()->peers().size() + 1 == sites_.size();
  }
  TestSite& tokyo() { return *sites_[0]; }
  TestSite& paris() { return *sites_[1]; }
  TestSite& lima() { return *sites_[2]; }

  // A URL that the site owns.
  std::string UrlOf(TestSite& site, int number = 0) {
    for (int i = 0, found = 0;; ++i) {
      const std::string url = fmt::format("http://host{}.example/", i);
      if (Ownership(*site->maps().view()).IsMine(KeyOf(url).bytes) &&
          found++ == number) {
        return url;
      }
    }
  }
  bool Knows(TestSite& site, const std::string& url) {
    return site.db().records().GetPage(KeyOf(url)).ok();
  }

  SimulatedClock simulated_clock_;  // For sites that are added with it.
  std::vector<std::unique_ptr<TestSite>> sites_;
};

}  // namespace gannet::federation
