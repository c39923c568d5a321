// HostState is what the fetcher knows of a host during one round: its pages
// still to ask for, the rules of its origins, where it is, and how it behaves.
// It begins with the host's record in the crawl DB and ends as a new one. Plain
// data with two conversions; not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "jobs/fetch/address.h"
#include "jobs/fetch/page_task.h"
#include "jobs/fetch/robots.h"
#include "jobs/fetch/turns.h"
#include "proto/crawl_db.pb.h"
#include "storage/crawl_db/keys.h"

namespace gannet::jobs {

// Scheme, host and port have a robots.txt of their own.
struct OriginRules {
  enum class Stage { kUnknown, kAsking, kKnown };
  Stage stage = Stage::kUnknown;
  RobotsRules rules = RobotsRules::AllowAll();
  absl::Time expires;
  proto::RobotsRules stored;
  int local_failures = 0;  // In a row: this machine could not ask for it.
};

// A search for the robots.txt of an origin, at this host or, by redirects, at
// another.
struct RobotsQuest {
  uint32_t asker = 0;  // Index of the host that waits for it.
  std::string origin;  // Whose rules they will be.
  std::string url;     // Where it is looked for now.
  int redirects = 0;
};

struct HostState {
  enum class Stage {
    kIdle,       // Nothing to ask, or it waits for rules from elsewhere.
    kResolving,  // Its address is being looked up.
    kWaiting,    // For its turn.
    kBusy,       // Being asked.
  };

  std::string name;
  storage::HostKey key;
  HostId id{};
  Stage stage = Stage::kIdle;
  bool is_loaded = false;  // From the crawl DB.
  bool has_address = false;
  Address address;
  std::vector<std::string> stored_addresses;  // Of the record: see ToRecord().

  std::deque<PageTask> pages;
  storage::Url front_url;  // Of the first page, when its turn is wanted.
  std::deque<std::unique_ptr<RobotsQuest>> quests;
  std::map<std::string, OriginRules> origins;  // By "https://host:port".

  uint32_t failures = 0;     // In a row; CountFailure() adds one.
  std::string last_failure;  // Its kind.
  absl::Time rest_until = absl::InfinitePast();
  absl::Duration crawl_delay;  // What robots.txt asks for, capped.
  std::vector<uint32_t> rtt_us;
  bool is_dirty = false;   // The record in the DB is older.
  bool is_active = false;  // Taken up in this round.
  bool is_parked = false;  // Taken up, and put back for a while.
  uint64_t saved_in = 0;   // The committer's group with its record.
  // When it could not be reached last, as the number of answers before.
  std::optional<uint64_t> unreachable_at;
  size_t rules_bytes = 0;  // What its origins hold in memory, about.

  void FromRecord(const proto::HostRecord& record, std::string_view agent,
                  absl::Time now);
  proto::HostRecord ToRecord(absl::Time now) const;

  void AddRtt(absl::Duration rtt);
  void CountFailure(std::string_view kind);
  void ForgetFailures();
};

// What a stored robots.txt says.
RobotsRules RulesFromStored(const proto::RobotsRules& stored,
                            std::string_view agent);

}  // namespace gannet::jobs
