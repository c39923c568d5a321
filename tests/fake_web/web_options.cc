#include "tests/fake_web/web_options.h"

#include <fmt/format.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace gannet::fake_web {
namespace {

absl::string_view Absl(std::string_view s) { return {s.data(), s.size()}; }

bool ParseField(std::string_view key, std::string_view value, WebOptions* o) {
  const absl::string_view v = Absl(value);
  if (key == "seed") return absl::SimpleAtoi(v, &o->seed);
  if (key == "hosts") return absl::SimpleAtoi(v, &o->hosts);
  if (key == "pages") return absl::SimpleAtoi(v, &o->pages);
  if (key == "largest_host") return absl::SimpleAtoi(v, &o->largest_host);
  if (key == "trap_size") return absl::SimpleAtoi(v, &o->trap_size);
  if (key == "retry_after") {
    return absl::SimpleAtoi(v, &o->retry_after_seconds);
  }
  if (key == "slow") return absl::ParseDuration(v, &o->slow);
  if (key == "latency") return absl::ParseDuration(v, &o->latency);
  if (key == "change_interval") {
    return absl::ParseDuration(v, &o->change_interval);
  }
  if (key == "https") return absl::SimpleAtod(v, &o->https_share);
  if (key == "gzip") return absl::SimpleAtob(v, &o->gzip);
  if (key == "suffixes") {
    o->suffixes = absl::StrSplit(v, ',');
    return true;
  }
  if (key == "nasty") {
    auto set = ParseNasty(value);
    if (set.ok()) o->nasty = *set;
    return set.ok();
  }
  if (key == "graph") {
    o->graph = std::string(value);
    return true;
  }
  return false;
}

}  // namespace

absl::Status Validate(const WebOptions& o) {
  auto wrong = [](std::string text) {
    return absl::InvalidArgumentError(std::move(text));
  };
  if (o.hosts == 0) return wrong("--hosts must be at least 1");
  if (o.hosts > 10'000'000) return wrong("--hosts may be at most 10,000,000");
  if (o.graph.empty()) {
    if (o.pages < o.hosts) {
      return wrong(fmt::format(
          "--pages {} is less than --hosts {}: each host needs its home page",
          o.pages, o.hosts));
    }
    if (o.largest_host > 0 && o.pages / o.largest_host >= o.hosts &&
        o.pages > uint64_t{o.hosts} * o.largest_host) {
      return wrong(fmt::format(
          "{} hosts of at most {} pages cannot hold {} pages: raise "
          "--hosts or --largest-host",
          o.hosts, o.largest_host, o.pages));
    }
  } else if (o.nasty.any()) {
    return wrong("--graph serves the graph's own links: it needs --nasty none");
  }
  if (o.pages > 4'000'000'000) {
    return wrong("--pages may be at most 4,000,000,000");
  }
  if (!(o.https_share >= 0 && o.https_share <= 1)) {
    return wrong("--https must be a share from 0 to 1");
  }
  if (o.suffixes.empty()) return wrong("--suffixes needs at least one name");
  for (const std::string& suffix : o.suffixes) {
    const bool fine =
        !suffix.empty() && suffix.front() != '.' && suffix.back() != '.' &&
        suffix.find_first_not_of("abcdefghijklmnopqrstuvwxyz.-") == suffix.npos;
    if (!fine) {
      return wrong(fmt::format(
          "'{}' is not a suffix: lower-case letters, like co.example", suffix));
    }
  }
  if (o.trap_size > 60'000) return wrong("--trap-size may be at most 60000");
  if (o.change_interval < absl::Milliseconds(1)) {
    return wrong("--change-interval must be at least 1ms");
  }
  return absl::OkStatus();
}

std::string FormatOptions(const WebOptions& o) {
  return fmt::format(
      "seed={} hosts={} pages={} largest_host={} nasty={} suffixes={} "
      "trap_size={} retry_after={} slow={} latency={} change_interval={} "
      "gzip={} https={} graph={}",
      o.seed, o.hosts, o.pages, o.largest_host, FormatNasty(o.nasty),
      absl::StrJoin(o.suffixes, ","), o.trap_size, o.retry_after_seconds,
      absl::FormatDuration(o.slow), absl::FormatDuration(o.latency),
      absl::FormatDuration(o.change_interval), o.gzip, o.https_share, o.graph);
}

absl::StatusOr<WebOptions> ParseOptions(std::string_view line) {
  WebOptions options;
  // The graph's path comes last and may have spaces.
  std::string_view rest = line;
  while (!rest.empty()) {
    const size_t equals = rest.find('=');
    if (equals == rest.npos) break;
    const std::string_view key = rest.substr(0, equals);
    const size_t space = key == "graph" ? rest.npos : rest.find(' ', equals);
    const std::string_view value = rest.substr(
        equals + 1, space == rest.npos ? space : space - equals - 1);
    rest = space == rest.npos ? std::string_view() : rest.substr(space + 1);
    if (!ParseField(key, value, &options)) {
      return absl::InvalidArgumentError(
          fmt::format("cannot read '{}={}' of a web's options", key, value));
    }
  }
  return options;
}

}  // namespace gannet::fake_web
