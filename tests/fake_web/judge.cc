#include "tests/fake_web/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/container/flat_hash_map.h"
#include "tests/fake_web/robots_file.h"

namespace gannet::fake_web {
namespace {

struct Last {
  int64_t end_ns = 0;
  bool robots = false;
};

bool IsRobotsEntry(const LogEntry& entry) {
  return IsRobotsTarget(entry.target);
}

// Keeps the smallest gaps of one kind and counts those that are too small.
class Gaps {
 public:
  explicit Gaps(size_t most) : most_(most) {}

  void Add(Gap gap) {
    if (gap.gap < gap.wanted) ++too_small_;
    all_.push_back(std::move(gap));
    if (all_.size() > 1000 + 2 * most_) Cut();
  }
  uint64_t too_small() const { return too_small_; }
  std::vector<Gap> Smallest() {
    Cut();
    return std::move(all_);
  }

 private:
  void Cut() {
    // Sorted by how much is missing to the delay, so that violations of a
    // Crawl-delay come first too.
    std::sort(all_.begin(), all_.end(), [](const Gap& a, const Gap& b) {
      return a.gap - a.wanted < b.gap - b.wanted;
    });
    if (all_.size() > most_) all_.resize(most_);
  }

  const size_t most_;
  uint64_t too_small_ = 0;
  std::vector<Gap> all_;
};

std::string UrlOf(const LogEntry& entry) {
  return fmt::format("{}://{}{}", entry.tls ? "https" : "http", entry.host,
                     entry.target);
}

nlohmann::json GapsJson(const std::vector<Gap>& gaps) {
  auto list = nlohmann::json::array();
  for (const Gap& gap : gaps) {
    list.push_back({{"gap_seconds", absl::ToDoubleSeconds(gap.gap)},
                    {"delay_seconds", absl::ToDoubleSeconds(gap.wanted)},
                    {"where", gap.where},
                    {"url", gap.url}});
  }
  return list;
}

void AppendGaps(std::string_view title, const std::vector<Gap>& gaps,
                std::string* out) {
  fmt::format_to(std::back_inserter(*out), "smallest gaps per {}:\n", title);
  for (const Gap& gap : gaps) {
    fmt::format_to(std::back_inserter(*out), "  {:>12}{} {}  {}\n",
                   absl::FormatDuration(gap.gap),
                   gap.gap < gap.wanted
                       ? fmt::format(" < {}", absl::FormatDuration(gap.wanted))
                       : "",
                   gap.where, gap.url);
  }
}

void AppendUrls(std::string_view title, const std::vector<std::string>& urls,
                std::string* out) {
  if (urls.empty()) return;
  fmt::format_to(std::back_inserter(*out), "{}:\n", title);
  for (const std::string& url : urls) {
    fmt::format_to(std::back_inserter(*out), "  {}\n", url);
  }
}

}  // namespace

Verdict Judge(const Web& web, std::vector<LogEntry> entries,
              const JudgeOptions& options) {
  std::sort(entries.begin(), entries.end(),
            [](const LogEntry& a, const LogEntry& b) {
              return a.arrival_ns < b.arrival_ns;
            });
  Verdict verdict;
  verdict.repeats_count = options.no_repeats;
  Gaps host_gaps(options.most_listed), address_gaps(options.most_listed);
  absl::flat_hash_map<std::string, Last> last_of_host;
  absl::flat_hash_map<uint32_t, Last> last_of_address;
  absl::flat_hash_map<uint32_t, RobotsRules> robots;
  absl::flat_hash_map<std::string, uint32_t> wholes;
  auto list = [&](std::vector<std::string>* urls, const LogEntry& entry) {
    if (urls->size() < options.most_listed) urls->push_back(UrlOf(entry));
  };
  for (const LogEntry& entry : entries) {
    if (entry.kind == Nasty::kHelp || entry.kind == Nasty::kBadRequest) {
      continue;
    }
    const uint32_t host = web.hosts().Find(entry.host);
    if (host == Hosts::kNoHost) continue;
    ++verdict.requests;
    const bool is_robots = IsRobotsEntry(entry);
    auto found = robots.find(host);
    if (found == robots.end()) {
      found =
          robots.emplace(host, RobotsRulesOf(web, host, options.agent)).first;
    }
    const RobotsRules& rules = found->second;
    if (!is_robots && !rules.Allows(entry.target)) {
      ++verdict.forbidden;
      list(&verdict.forbidden_urls, entry);
    }
    const bool redirects_to_nothing = entry.kind == Nasty::kHttpToHttps &&
                                      !is_robots &&
                                      !web.Find(host, entry.target);
    if (entry.kind == Nasty::kAbsent || redirects_to_nothing) {
      ++verdict.never_linked;
      list(&verdict.never_linked_urls, entry);
    }
    if (!is_robots && entry.status == 200 && entry.end == LogEnd::kWhole &&
        ++wholes[UrlOf(entry)] == 2) {
      ++verdict.repeats;
      list(&verdict.repeated_urls, entry);
    }

    const Last now = {.end_ns = entry.end == LogEnd::kAborted ? entry.arrival_ns
                                                              : entry.end_ns,
                      .robots = is_robots};
    const auto [of_host, first_of_host] =
        last_of_host.try_emplace(entry.host, now);
    const auto [of_address, first_of_address] =
        last_of_address.try_emplace(entry.address, now);
    auto judge = [&](Last* last, absl::Duration wanted, std::string where,
                     Gaps* gaps) {
      const bool exempt = options.robots_free && (is_robots || last->robots);
      if (!exempt) {
        gaps->Add({.gap = absl::Nanoseconds(entry.arrival_ns - last->end_ns),
                   .wanted = wanted,
                   .where = std::move(where),
                   .url = UrlOf(entry)});
      }
      if (now.end_ns >= last->end_ns) *last = now;
    };
    if (!first_of_host && options.per_host) {
      const absl::Duration crawl_delay =
          std::min(rules.crawl_delay(), options.crawl_delay_cap);
      judge(&of_host->second,
            of_host->second.robots ? options.delay
                                   : std::max(options.delay, crawl_delay),
            entry.host, &host_gaps);
    }
    if (!first_of_address && options.per_address) {
      judge(&of_address->second, options.delay, FormatAddress(entry.address),
            &address_gaps);
    }
  }
  verdict.hosts = last_of_host.size();
  verdict.addresses = last_of_address.size();
  verdict.too_early_on_host = host_gaps.too_small();
  verdict.too_early_on_address = address_gaps.too_small();
  verdict.smallest_host_gaps = host_gaps.Smallest();
  verdict.smallest_address_gaps = address_gaps.Smallest();
  return verdict;
}

std::string FormatVerdict(const Verdict& v) {
  std::string out = fmt::format(
      "{} requests on {} hosts and {} addresses\n"
      "too early on a host:     {}\n"
      "too early on an address: {}\n"
      "forbidden by robots.txt: {}\n"
      "never linked:            {}\n"
      "asked again after 200:   {}\n",
      v.requests, v.hosts, v.addresses, v.too_early_on_host,
      v.too_early_on_address, v.forbidden, v.never_linked, v.repeats);
  AppendGaps("host", v.smallest_host_gaps, &out);
  AppendGaps("address", v.smallest_address_gaps, &out);
  AppendUrls("forbidden", v.forbidden_urls, &out);
  AppendUrls("never linked", v.never_linked_urls, &out);
  AppendUrls("asked again", v.repeated_urls, &out);
  out += v.ok() ? "polite\n" : "NOT POLITE\n";
  return out;
}

std::string FormatVerdictJson(const Verdict& v) {
  const nlohmann::json json = {
      {"ok", v.ok()},
      {"requests", v.requests},
      {"hosts", v.hosts},
      {"addresses", v.addresses},
      {"too_early_on_host", v.too_early_on_host},
      {"too_early_on_address", v.too_early_on_address},
      {"forbidden", v.forbidden},
      {"never_linked", v.never_linked},
      {"repeats", v.repeats},
      {"smallest_host_gaps", GapsJson(v.smallest_host_gaps)},
      {"smallest_address_gaps", GapsJson(v.smallest_address_gaps)},
      {"forbidden_urls", v.forbidden_urls},
      {"never_linked_urls", v.never_linked_urls},
      {"repeated_urls", v.repeated_urls}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace gannet::fake_web
