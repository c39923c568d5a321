#include "tests/sites/dashboard/demo_site.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace gannet::sites {
namespace {

constexpr int64_t kPlanned = 20000;
constexpr int64_t kBytesAPage = 14200;

void SetTime(absl::Time time, google::protobuf::Timestamp* out) {
  out->set_seconds(absl::ToUnixSeconds(time));
}

// Pages per second that look like a real crawl's: a slow wave with ripples, and
// zero while rounds update.
double Speed(absl::Time now) {
  const double t = absl::ToDoubleSeconds(now - absl::UnixEpoch());
  if (std::fmod(t, 900) < 70) return 0;
  return 214 + 46 * std::sin(t / 410) + 17 * std::sin(t / 47) +
         9 * std::sin(t / 13);
}

std::string Report(int64_t number, absl::Time began, int64_t failed) {
  const int64_t fetched = 17200 + number * 37 % 900;
  return nlohmann::json({{"round", number},
                         {"started", absl::FormatTime(absl::RFC3339_sec, began,
                                                      absl::UTCTimeZone())},
                         {"seconds", 92.4 + static_cast<double>(number % 7)},
                         {"resumed", number % 9 == 0},
                         {"fetched", fetched},
                         {"unchanged", fetched / 5},
                         {"moved", 912},
                         {"gone", 341},
                         {"failed", failed},
                         {"blocked", 204},
                         {"released", 18},
                         {"bytes", fetched * kBytesAPage},
                         {"found", 412345},
                         {"added", 41210 - number * 31},
                         {"known", 3912345},
                         {"frontier", 1204871},
                         {"scheduled", 2401233},
                         {"deferred", 8123},
                         {"waiting", 90412},
                         {"dropped_urls", 12},
                         {"dropped", {{"filter", 1234}}},
                         {"phase_seconds",
                          {{"generate", 2.1},
                           {"fetch", 78.3},
                           {"update", 11.9},
                           {"exchange", 0}}}})
      .dump();
}

void AddHost(admin::Hosts& hosts, const std::string& name, int64_t pages,
             uint32_t failures, double rtt, absl::Time rest) {
  admin::Host& host = *hosts.add_hosts();
  host.set_host(name);
  host.set_pages(pages);
  host.set_failures(failures);
  host.set_delay(1);
  host.set_rtt(rtt);
  if (failures > 0) SetTime(rest, host.mutable_rest_until());
}

void AddPages(ScriptedSite::Script& script, absl::Time now) {
  const auto add = [&](const std::string& url, const std::string& title) {
    admin::Page& page = script.pages[url];
    page.set_url(url);
    page.set_title(title);
    page.set_state("fetched");
    page.set_place("schedule");
    page.set_score(48318382080);
    page.set_cash(1288490188);
    page.set_history(912387123987);
    page.set_depth(2);
    page.set_http_status(200);
    page.set_visits(14);
    page.set_changes(3);
    page.set_digest("sha1:B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A");
    page.set_etag("\"5e2-61a\"");
    SetTime(now - absl::Hours(300), page.mutable_found());
    SetTime(now - absl::Minutes(37), page.mutable_visited());
    SetTime(now + absl::Hours(20), page.mutable_due());
    page.mutable_archive()->set_file(41);
    page.mutable_archive()->set_offset(81230912);
    page.mutable_archive()->set_length(5121);
    page.mutable_archive()->set_content_type("text/html");
    page.mutable_archive()->set_body_bytes(14212);
    return &page;
  };
  admin::Page* home =
      add("https://www.example.org/", "Example: seabirds of the north");
  for (const char* link :
       {"https://www.example.org/gannets", "https://www.example.org/nasty",
        "https://www.example.org/cliffs/bass-rock?season=spring&view=map",
        "http://unknown.example/"}) {
    home->add_outlinks(link);
  }
  add("https://www.example.org/gannets", "Northern gannet (Morus bassanus)");
  admin::Page* many = add("http://many.example/", "A page of many links");
  for (int i = 0; i < 1000; ++i) {
    many->add_outlinks(fmt::format("http://many.example/{}", i));
  }
  admin::Page* nasty =
      add("https://www.example.org/nasty",
          "<script>window.hacked = 1</script><img src=x onerror='hacked = 2'>");
  nasty->add_outlinks("https://e.example/\"><img src=x onerror=hacked=3>");
  nasty->add_outlinks("javascript:window.hacked=4");
  nasty->set_canonical("javascript:window.hacked=5");
  nasty->set_etag("<svg onload=hacked=6>");
}

}  // namespace

DemoSite::DemoSite(absl::Time now)
    : started_(now - absl::Hours(26)), last_(now) {
  admin_.Change([&](ScriptedSite::Script& script) {
    admin::Status& status = script.status;
    status.set_site("tokyo");
    status.set_epoch(1);
    status.set_round(412);
    status.set_phase("fetch");
    auto& pages = *status.mutable_pages();
    pages = {};
    pages["new"] = 1294012;
    pages["fetched"] = 2312876;
    pages["moved"] = 181204;
    pages["gone"] = 71231;
    pages["failed"] = 38912;
    pages["blocked"] = 14110;
    status.set_known(3912345);
    status.set_frontier(1204871);
    status.set_scheduled(2401233);
    status.set_in_round(kPlanned);
    status.set_finished(286241);
    status.set_deferred(90412);
    status.set_dropped(1204);
    SetTime(now + absl::Seconds(40), status.mutable_next_due());
    status.mutable_archive()->set_files(42);
    status.mutable_archive()->set_bytes(44812345678);
    status.set_blocked_domains(3);
    status.set_free_bytes(182345678901);
    admin::AgentStatus& agent = *status.mutable_agent();
    agent.set_pid(2213);
    agent.set_version("0.1.0");
    SetTime(started_, agent.mutable_started());
    agent.mutable_rounds()->set_state("running");
    agent.mutable_rounds()->set_schedule("continuous");
    auto& all = *agent.mutable_lifetime();
    all.set_rounds(411);
    all.set_bytes(101234567890);
    all.mutable_outcomes()->set_fetched(7123456);
    all.mutable_outcomes()->set_unchanged(1402311);
    all.mutable_outcomes()->set_moved(371245);
    all.mutable_outcomes()->set_gone(140123);
    all.mutable_outcomes()->set_failed(88213);
    all.mutable_outcomes()->set_blocked(60412);
    (*all.mutable_phase_seconds())["fetch"] = 71234.5;
    (*agent.mutable_rounds_by_result())["ok"] = 411;
    SetTime(now - absl::Seconds(74), agent.mutable_last_success());
    SetTime(now - absl::Seconds(70), agent.mutable_last_round_started());
    (*agent.mutable_last_phase_seconds())["fetch"] = 78.3;
    agent.set_min_free_bytes(5ull << 30);
    agent.mutable_reload()->set_successful(true);
    SetTime(started_, agent.mutable_reload()->mutable_last_success());
    SetTime(now + absl::Hours(24 * 90), agent.mutable_certificate_expires());
    (*agent.mutable_admin_requests())["GetStatus"] = 12;
    (*agent.mutable_admin_requests())["Inject"] = 2;
    (*agent.mutable_admin_request_failures())["Inject"] = 1;
    auto& progress = *agent.mutable_progress();
    progress.set_round(412);
    progress.set_phase("fetch");
    SetTime(now - absl::Seconds(70), progress.mutable_round_started());
    SetTime(now - absl::Seconds(67), progress.mutable_phase_started());
    SetTime(now + absl::Minutes(29), progress.mutable_deadline());
    progress.set_planned(kPlanned);
    progress.set_bytes(11741 * kBytesAPage);
    progress.set_hosts_active(1204);
    progress.set_connections(312);
    progress.mutable_outcomes()->set_fetched(10890);
    progress.mutable_outcomes()->set_unchanged(2140);
    progress.mutable_outcomes()->set_moved(521);
    progress.mutable_outcomes()->set_gone(188);
    progress.mutable_outcomes()->set_failed(131);
    progress.mutable_outcomes()->set_blocked(11);

    for (int64_t i = 1; i <= 411; ++i) {
      script.reports.push_back(
          Report(i, now - absl::Seconds(110) * (412 - i), 140 + i * 53 % 90));
    }
    admin::Hosts& failing = script.hosts["failures"];
    AddHost(failing, "www.gone-fishing.example", 1204, 14, 0.2,
            now + absl::Hours(3));
    AddHost(failing, "<img src=x onerror=hacked=7>.example", 17, 11, 0.2,
            now + absl::Hours(2));
    AddHost(failing,
            "a-very-long-host-name.of-a-very-large-provider.hosting.example",
            98123, 9, 0.3, now + absl::Minutes(50));
    for (uint32_t i = 0; i < 5; ++i) {
      AddHost(failing, fmt::format("shop{}.larch.example", i), 310 + i, 6 - i,
              0.1, now + absl::Minutes(12));
    }
    admin::Hosts& slow = script.hosts["slow"];
    for (int i = 0; i < 8; ++i) {
      AddHost(slow, fmt::format("far{}.antipodes.example", i), 4120 - 311 * i,
              0, 2.31 - 0.17 * i, now);
    }
    script.frontier.set_pages(1204871);
    script.frontier.set_sampled(10000);
    const int64_t by_depth[] = {12,    4123,  81234, 291230, 412332, 290121,
                                92312, 33507, 0,     0,      0};
    for (int i = 0; i < 11; ++i) {
      auto& bucket = *script.frontier.add_by_depth();
      bucket.set_from(i);
      bucket.set_pages(by_depth[i]);
    }
    const int64_t by_score[] = {240123, 391231, 310231, 171230,
                                70123,  18923,  2712,   298};
    int64_t score = 1000;
    for (int i = 0; i < 8; ++i) {
      auto& bucket = *script.frontier.add_by_score();
      bucket.set_from(score);
      score *= 10;
      bucket.set_pages(by_score[i]);
    }
    AddPages(script, now);
  });
}

std::vector<RateSample> DemoSite::History() const {
  std::vector<RateSample> back;
  double pages = 7123456 + 371245 + 140123 + 88213 + 60412;
  double bytes = 101234567890.0;
  for (int i = 1; i < 360; ++i) {
    const absl::Time at = last_ - absl::Seconds(10) * i;
    pages -= 10 * Speed(at);
    bytes -= 10 * Speed(at) * (kBytesAPage + 2500 * std::sin(i / 23.0));
    back.push_back(
        {at, static_cast<int64_t>(pages), static_cast<int64_t>(bytes)});
  }
  return {back.rbegin(), back.rend()};
}

void DemoSite::Advance(absl::Time now) {
  admin_.Change([&](ScriptedSite::Script& script) {
    const double seconds = absl::ToDoubleSeconds(now - last_);
    last_ = now;
    admin::AgentStatus& agent = *script.status.mutable_agent();
    if (agent.rounds().state() != "running" || !agent.has_progress()) return;
    admin::Progress& progress = *agent.mutable_progress();
    if (progress.phase() == "update") {
      progress.set_settled(
          std::min(progress.targets(),
                   progress.settled() + static_cast<int64_t>(9000 * seconds)));
      return;
    }
    owed_pages_ += 205 * seconds;
    const int64_t pages = static_cast<int64_t>(owed_pages_);
    owed_pages_ -= static_cast<double>(pages);
    for (admin::Outcomes* of : {progress.mutable_outcomes(),
                                agent.mutable_lifetime()->mutable_outcomes()}) {
      of->set_fetched(of->fetched() + pages - pages / 20);
      of->set_unchanged(of->unchanged() + pages / 5);
      of->set_moved(of->moved() + pages / 20);
    }
    agent.mutable_lifetime()->set_bytes(agent.lifetime().bytes() +
                                        pages * kBytesAPage);
    const int64_t done = progress.outcomes().fetched() + 900;
    if (done >= progress.planned()) EndRound(script, now);
  });
}

void DemoSite::EndRound(ScriptedSite::Script& script, absl::Time now) {
  admin::AgentStatus& agent = *script.status.mutable_agent();
  admin::Progress& progress = *agent.mutable_progress();
  const int64_t number = static_cast<int64_t>(script.status.round());
  script.reports.push_back(Report(number, now - absl::Seconds(90), 171));
  SetTime(now, agent.mutable_last_success());
  agent.mutable_lifetime()->set_rounds(agent.lifetime().rounds() + 1);
  ++(*agent.mutable_rounds_by_result())["ok"];
  script.status.set_round(static_cast<uint64_t>(number + 1));
  progress.set_round(static_cast<uint64_t>(number + 1));
  progress.set_phase("fetch");
  progress.clear_outcomes();
  SetTime(now, progress.mutable_round_started());
}

bool DemoSite::Do(const std::string& command, absl::Time now) {
  const size_t space = command.find(' ');
  const std::string verb = command.substr(0, space);
  const std::string rest =
      space == std::string::npos ? "" : command.substr(space + 1);
  bool known = true;
  admin_.Change([&](ScriptedSite::Script& script) {
    admin::AgentStatus& agent = *script.status.mutable_agent();
    admin::RoundsState& rounds = *agent.mutable_rounds();
    if (verb == "pause") {
      rounds.set_state("paused");
      rounds.set_paused(true);
      script.status.set_phase("none");
      agent.clear_progress();
    } else if (verb == "wait") {
      rounds.set_state("waiting");
      SetTime(now + absl::Minutes(4), rounds.mutable_next_round());
      script.status.set_phase("none");
      agent.clear_progress();
    } else if (verb == "run") {
      rounds.set_state("running");
      rounds.set_paused(false);
      rounds.clear_last_error();
      script.status.set_phase("fetch");
      agent.mutable_progress()->set_round(script.status.round());
      agent.mutable_progress()->set_phase("fetch");
      agent.mutable_progress()->set_planned(kPlanned);
    } else if (verb == "busy") {
      admin::Progress& progress = *agent.mutable_progress();
      progress.set_held_back_seconds(progress.held_back_seconds() + 5);
    } else if (verb == "failing") {
      auto& failures = *agent.mutable_lifetime()->mutable_failures();
      failures["http_5xx"] = 31204;
      failures["connect_timeout"] = 41233;
      failures["tls_expired"] = 8412;
      failures["name_not_found"] = 5120;
      failures["reset"] = 1207;
      failures["garbage"] = 37;
    } else if (verb == "fail") {
      rounds.set_last_error(rest);
    } else if (verb == "unreachable") {
      script.all_verbs = absl::UnavailableError("the crawl DB does not answer");
    } else if (verb == "answer") {
      script.all_verbs = absl::OkStatus();
    } else if (verb == "update") {
      agent.mutable_progress()->set_phase("update");
      agent.mutable_progress()->set_targets(412345);
      agent.mutable_progress()->set_settled(120000);
    } else if (verb == "end") {
      EndRound(script, now);
    } else if (verb == "known") {
      script.status.set_known(std::stoll(rest));
    } else if (verb == "empty") {
      const std::string site = script.status.site();
      script.status.Clear();
      script.status.set_site(site);
      script.status.mutable_agent()->set_version("0.1.0");
      SetTime(now, script.status.mutable_agent()->mutable_started());
      script.status.mutable_agent()->mutable_rounds()->set_state("waiting");
      script.reports.clear();
      script.hosts.clear();
      script.frontier.Clear();
    } else {
      known = false;
    }
  });
  return known;
}

}  // namespace gannet::sites
